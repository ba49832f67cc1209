// The watch checkpoint in its ConfigMap on the embedded API server: what a start reads from it, and its reset after a
// restore. When it is written is checkpoint-writing.test.ts, its text document.test.ts; how a watch loop resumes
// from it is test/forwarding/watch-loop-checkpoint.test.ts.
import { describe, expect, it } from 'vitest';
import { readCheckpoint } from '../../src/checkpoint/config-map.ts';
import { checkpointName } from '../../src/core/names.ts';
import type { KubeClient, KubeRequest } from '../../src/kube/client/client.ts';
import { readClusterUid } from '../../src/kube/client/cluster-uid.ts';
import { ApiError } from '../../src/kube/client/errors.ts';
import { parseObject } from '../../src/kube/client/object.ts';
import { statusOf } from '../kube/wire-server.ts';
import { interceptRequests } from '../support/intercept-requests.ts';
import { checkpointFixture } from './checkpoint-harness.ts';

const fixture = checkpointFixture();

it('a checkpoint has the id by which SQS names its watcher as the sender', async () => {
  const checkpoint = fixture.createCheckpoint({ senderId: 'AROAWATCHER00000' });
  checkpoint.accepted('tanks', '17');
  await checkpoint.flush();
  expect((await fixture.stored()).senderId).toBe('AROAWATCHER00000');
});

describe('a start with a watch checkpoint', () => {
  it('a start resumes at the versions that another watcher wrote', async () => {
    const first = fixture.createCheckpoint();
    first.accepted('tanks', '17');
    first.accepted('dinners', '19');
    first.accepted('tanks', '18');
    await first.flush();
    const second = fixture.createCheckpoint();
    const started = await Promise.all(['tanks', 'dinners', 'foos'].map(async (name) => await second.start(name)));
    expect(started).toEqual(['18', '19', undefined]);
    expect(second.warnings()).toEqual([]);
  });

  it('a start continues the entry under its former name, which the first version under the new name replaces', async () => {
    await fixture.writeText(await fixture.textOf({ tanks: '17', dinners: '19' }));
    const checkpoint = fixture.createCheckpoint();
    expect(await checkpoint.start('a-tanks', 'tanks')).toBe('17');
    expect(await checkpoint.start('a-dinners', 'dinners')).toBe('19');
    checkpoint.accepted('a-tanks', '18');
    await checkpoint.flush();
    expect(await fixture.versions()).toEqual({ 'a-tanks': '18', dinners: '19' });
    expect(await fixture.createCheckpoint().start('a-tanks', 'tanks')).toBe('18');
  });

  it('a restore drops the entry under its former name too', async () => {
    await fixture.writeText(await fixture.textOf({ tanks: '17' }));
    const checkpoint = fixture.createCheckpoint();
    await checkpoint.start('a-tanks', 'tanks');
    checkpoint.drop('a-tanks');
    await checkpoint.flush();
    expect(await fixture.createCheckpoint().start('a-tanks', 'tanks')).toBeUndefined();
  });

  it('a start from the installed ConfigMap reads it once for all collections, and has no version and no warning', async () => {
    const checkpoint = fixture.createCheckpoint();
    const started = await Promise.all(['a', 'b', 'c'].map(async (name) => await checkpoint.start(name)));
    expect([started, checkpoint.warnings()]).toEqual([[undefined, undefined, undefined], []]);
    const reads = fixture
      .requests()
      .filter(({ path }) => path.endsWith(`/${checkpointName}`) && path.includes('configmaps'));
    expect(reads.filter(({ method }) => method === 'GET')).toHaveLength(1);
  });

  const withNumber = async () => (await fixture.textOf({ tanks: '17' })).replace('"17"', '17');
  it.each<[string, () => Promise<string>, RegExp]>([
    ['not JSON', async () => 'garbage', /not JSON/],
    ['invalid: a version is a number', withNumber, /collections\.tanks\.resourceVersion/],
    ['from another cluster', () => fixture.textOf({ tanks: '17' }, { cluster: 'elsewhere' }), /another cluster/],
  ])('a start ignores a checkpoint that is %s, with a warning, and overwrites it', async (_, text, reason) => {
    await fixture.writeText(await text());
    const checkpoint = fixture.createCheckpoint();
    expect(await checkpoint.start('tanks')).toBeUndefined();
    expect(checkpoint.warnings()).toMatchObject([
      { message: 'watch checkpoint ignored: all keys are sent', reason: expect.stringMatching(reason) },
    ]);
    checkpoint.accepted('dinners', '5');
    await checkpoint.flush();
    expect(await fixture.versions()).toEqual({ dinners: '5' });
  });

  it('a start without the ConfigMap logs a warning, and writes the checkpoint once the ConfigMap exists', async () => {
    await fixture.deleteConfigMap();
    const checkpoint = fixture.createCheckpoint();
    expect(await checkpoint.start('tanks')).toBeUndefined();
    checkpoint.accepted('tanks', '17');
    await checkpoint.flush();
    await checkpoint.flush();
    expect(checkpoint.warnings()).toMatchObject([
      {
        message: 'watch checkpoint ignored: all keys are sent',
        reason: expect.stringMatching(/apply dist\/kubernetes/),
      },
      { message: 'watch checkpoint not written, retrying' },
    ]);
    await fixture.installConfigMap();
    await checkpoint.flush();
    expect(await fixture.versions()).toEqual({ tanks: '17' });
  });

  it('a start without the permission to read has no version, and one without a response rejects', async () => {
    const failingWith = (status: number) =>
      interceptRequests(fixture.client, ({ method, path }) => {
        throw new ApiError(`${method} ${path}`, status, statusOf(status, ''));
      });
    const forbidden = fixture.createCheckpoint({ through: failingWith(403) });
    expect(await forbidden.start('tanks')).toBeUndefined();
    expect(forbidden.warnings()).toHaveLength(1);
    await expect(fixture.createCheckpoint({ through: failingWith(503) }).start('tanks')).rejects.toThrow('503');
  });
});

describe('the watch checkpoint of a restored cluster', () => {
  it('a dropped entry is removed, however new it was, and replaced by a later version', async () => {
    await fixture.writeText(await fixture.textOf({ tanks: '900', dinners: '900', foos: '7' }));
    const checkpoint = fixture.createCheckpoint();
    await checkpoint.start('tanks');
    checkpoint.accepted('dinners', '901');
    checkpoint.drop('tanks');
    checkpoint.drop('dinners');
    checkpoint.accepted('tanks', '9');
    await checkpoint.flush();
    expect(await fixture.versions()).toEqual({ tanks: '9', foos: '7' });
  });

  it.each([
    { what: 'a ConfigMap that is older than before', sameCluster: true, warning: /restored from a backup/ },
    { what: 'another cluster at the same address', sameCluster: false, warning: /another cluster responds/ },
  ])('$what resets the checkpoint, it is reported to the watches, and later versions are written', async ({
    sameCluster,
    warning,
  }) => {
    for (let count = 0; count < 20; count += 1) await fixture.writeText(await fixture.textOf({ foos: `${count + 1}` }));
    const uid = await readClusterUid(fixture.client);
    const through = withMetadata(fixture.client, ({ path }) =>
      sameCluster && path === '/api/v1/namespaces/kube-system' ? { uid } : undefined,
    );
    const checkpoint = fixture.createCheckpoint({ through });
    checkpoint.run();
    checkpoint.accepted('tanks', '900');
    await checkpoint.flush();
    expect(await checkpoint.verify(AbortSignal.timeout(1000))).toBe('same');
    await fixture.replaceServer();
    await checkpoint.flush();
    expect(checkpoint.restores()).toBe(1);
    expect((await readCheckpoint(fixture.client))?.text).toBeUndefined();
    expect(checkpoint.warnings()).toMatchObject([{ message: expect.stringMatching(warning) }]);
    checkpoint.accepted('dinners', '120');
    await checkpoint.flush();
    expect(await fixture.versions()).toEqual({ dinners: '120' });
    expect(checkpoint.restores()).toBe(1);
  });

  it('a reconnect verifies the cluster, unless it may not be read', async () => {
    const checkpoint = fixture.createCheckpoint();
    await checkpoint.start('tanks');
    await fixture.replaceServer();
    expect(await checkpoint.verify(AbortSignal.timeout(1000))).toBe('other cluster');
    expect(await checkpoint.verify(AbortSignal.timeout(1000))).toBe('same');
    await fixture.deleteConfigMap();
    expect(await checkpoint.verify(AbortSignal.timeout(1000))).toBe('same');
  });

  it.each(['this watcher', 'another replica'])('a read that a write of %s overtakes detects no restore', async (by) => {
    const [isRead, isHeld] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let reads = 0;
    const slowly: KubeClient = {
      ...fixture.client,
      request: async (request) => {
        const response = await fixture.client.request(request);
        reads += request.path.endsWith(checkpointName) ? 1 : 0;
        if (reads === 2) {
          isRead.resolve();
          reads += 1;
          await isHeld.promise;
        }
        return response;
      },
    };
    let restoredTo: string | undefined;
    const through = withMetadata(slowly, ({ path }) =>
      restoredTo !== undefined && path.endsWith(checkpointName) ? { resourceVersion: restoredTo } : undefined,
    );
    const checkpoint = fixture.createCheckpoint({ through });
    checkpoint.run();
    checkpoint.accepted('tanks', '18');
    const verify = () => checkpoint.verify(AbortSignal.timeout(1000));
    await verify();
    const slow = verify();
    await isRead.promise;
    const write = async (version: string) => await fixture.writeText(await fixture.textOf({ tanks: version }));
    const between = await write('17');
    if (by === 'this watcher') await checkpoint.flush();
    else await write('18');
    expect(await fixture.versions()).toEqual({ tanks: '18' });
    expect(await verify()).toBe('same');
    isHeld.resolve();
    expect(await slow).toBe('same');
    expect(checkpoint.warnings()).toEqual([]);
    // It has not made the known version older.
    restoredTo = between;
    expect(await verify()).toBe('restored');
  });

  it('a restore of the state just before the last write of this watcher is detected', async () => {
    let restoredTo: string | undefined;
    const through = withMetadata(fixture.client, () =>
      restoredTo === undefined ? undefined : { resourceVersion: restoredTo },
    );
    const checkpoint = fixture.createCheckpoint({ through });
    checkpoint.run();
    checkpoint.accepted('tanks', '18');
    const before = await fixture.writeText(await fixture.textOf({ tanks: '17' }));
    await checkpoint.flush();
    restoredTo = before;
    expect(await checkpoint.verify(AbortSignal.timeout(1000))).toBe('restored');
  });

  it('a restore that a watch detected is not reported again', async () => {
    for (let count = 0; count < 20; count += 1) await fixture.writeText(await fixture.textOf({ foos: `${count + 1}` }));
    const checkpoint = fixture.createCheckpoint();
    checkpoint.run();
    await checkpoint.start('tanks');
    await fixture.replaceServer();
    checkpoint.drop('tanks');
    await checkpoint.flush();
    expect(checkpoint.restores()).toBe(0);
  });

  it('a restore that a watch reports during a write is not reported again by that write', async () => {
    let resourceVersion = '950';
    const through = withMetadata(fixture.client, ({ method }) => {
      if (method !== 'PATCH') return undefined;
      if (resourceVersion === '910') checkpoint.drop('tanks');
      return { resourceVersion };
    });
    const checkpoint = fixture.createCheckpoint({ through });
    checkpoint.run();
    for (resourceVersion of ['950', '910']) {
      checkpoint.accepted('tanks', '949');
      await checkpoint.flush();
      // This server counts its own versions.
      checkpoint.drop('nothing');
    }
    expect(checkpoint.restores()).toBe(0);
  });

  it('versions of a cache that survived the restore are detected by a write, and again when etcd has passed them', async () => {
    let etcdVersion = '950';
    const through = withMetadata(fixture.client, ({ method }) =>
      method === 'PATCH' ? { resourceVersion: etcdVersion } : undefined,
    );
    const checkpoint = fixture.createCheckpoint({ through });
    checkpoint.run();
    const writeAt = async (version: string, watched: string) => {
      etcdVersion = version;
      checkpoint.accepted('tanks', watched);
      // Events have an etcd of their own.
      checkpoint.accepted('events', '7000');
      await checkpoint.flush();
      // The ConfigMap is always read from etcd. This server counts its own versions.
      checkpoint.drop('nothing');
      return checkpoint.restores();
    };
    expect(await writeAt('950', '949')).toBe(0);
    expect(await writeAt('910', '949')).toBe(1);
    expect(await writeAt('920', '949')).toBe(1);
    expect(await writeAt('955', '949')).toBe(2);
    expect(await writeAt('960', '958')).toBe(2);
    // This time the API server was restarted, and lists the restored state.
    expect(await writeAt('930', '958')).toBe(3);
    expect(await writeAt('935', '931')).toBe(3);
    // A start from a lost version would miss what has changed since the restore.
    expect(await fixture.versions()).toMatchObject({ tanks: '931' });
    expect(await writeAt('965', '963')).toBe(3);
  });
});

/** A client that reads other metadata of the objects in some responses. */
function withMetadata(client: KubeClient, metadataOf: (request: KubeRequest) => object | undefined): KubeClient {
  return {
    ...client,
    request: async (request) => {
      const response = await client.request(request);
      const metadata = metadataOf(request);
      if (metadata === undefined) return response;
      const object = parseObject(response.body);
      return { ...response, body: { ...object, metadata: { ...object.metadata, ...metadata } } };
    },
  };
}
