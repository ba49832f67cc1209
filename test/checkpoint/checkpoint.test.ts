// The watch checkpoint in its ConfigMap on the embedded API server: what a start reads from it, and its reset after a
// restore. When it is written is checkpoint-writing.test.ts, its text document.test.ts; how a watcher resumes from it
// is test/watcher/restart.test.ts.
import { describe, expect, it } from 'vitest';
import { readCheckpoint } from '../../src/checkpoint/config-map.ts';
import { checkpointName } from '../../src/core/names.ts';
import type { KubeClient } from '../../src/kube/client/client.ts';
import { ApiError } from '../../src/kube/client/errors.ts';
import { statusOf } from '../kube/wire-server.ts';
import { checkpointFixture } from './checkpoint-harness.ts';

const fixture = checkpointFixture();

describe('a start with a watch checkpoint', () => {
  it('a start resumes at the versions that another watcher wrote', async () => {
    const first = fixture.createCheckpoint();
    first.accepted('tanks', '17');
    first.accepted('dinners', '19');
    first.accepted('tanks', '18');
    await first.flush();
    const second = fixture.createCheckpoint();
    expect([await second.start('tanks'), await second.start('dinners'), await second.start('foos')]).toEqual([
      '18',
      '19',
      undefined,
    ]);
    expect(second.warnings()).toEqual([]);
  });

  it('a start from the installed ConfigMap has no version, without a warning', async () => {
    const checkpoint = fixture.createCheckpoint();
    expect(await checkpoint.start('tanks')).toBeUndefined();
    expect(checkpoint.warnings()).toEqual([]);
  });

  it.each<[string, () => Promise<string>, RegExp]>([
    ['not JSON', async () => 'garbage', /not JSON/],
    [
      'invalid because a version is a number',
      async () => (await fixture.textOf({ tanks: '17' })).replace('"17"', '17'),
      /collections\.tanks\.resourceVersion/,
    ],
    [
      'from another cluster',
      async () => await fixture.textOf({ tanks: '17' }, { cluster: 'elsewhere' }),
      /another cluster/,
    ],
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
        reason: expect.stringMatching(/infra\/kubernetes\/generated/),
      },
      { message: 'watch checkpoint not written, retrying' },
    ]);
    await fixture.installConfigMap();
    await checkpoint.flush();
    expect(await fixture.versions()).toEqual({ tanks: '17' });
  });

  it('a start without the permission to read has no version, and one without a response rejects', async () => {
    const failingWith = (status: number): KubeClient => ({
      ...fixture.client,
      request: async ({ method, path }) => {
        throw new ApiError(`${method} ${path}`, status, statusOf(status, ''));
      },
    });
    const forbidden = fixture.createCheckpoint({ through: failingWith(403) });
    expect(await forbidden.start('tanks')).toBeUndefined();
    expect(forbidden.warnings()).toHaveLength(1);
    await expect(fixture.createCheckpoint({ through: failingWith(503) }).start('tanks')).rejects.toThrow('503');
  });

  it('a start reads the ConfigMap once for all collections', async () => {
    const checkpoint = fixture.createCheckpoint();
    await Promise.all(['a', 'b', 'c'].map(async (name) => await checkpoint.start(name)));
    const reads = fixture
      .requests()
      .filter(({ path }) => path.endsWith(`/${checkpointName}`) && path.includes('configmaps'));
    expect(reads.filter(({ method }) => method === 'GET')).toHaveLength(1);
  });
});

describe('the watch checkpoint of a restored cluster', () => {
  it('a dropped entry is removed, however new it was, and replaced by a later version', async () => {
    await fixture.writeText(await fixture.textOf({ tanks: '900', dinners: '900', foos: '7' }));
    const checkpoint = fixture.createCheckpoint();
    await checkpoint.start('tanks');
    checkpoint.drop('tanks');
    checkpoint.drop('dinners');
    checkpoint.accepted('tanks', '9');
    await checkpoint.flush();
    expect(await fixture.versions()).toEqual({ tanks: '9', foos: '7' });
  });

  it('a ConfigMap that is older than before resets the checkpoint, and only later versions are written', async () => {
    for (let count = 0; count < 50; count += 1) await fixture.writeText(await fixture.textOf({ foos: `${count + 1}` }));
    const checkpoint = fixture.createCheckpoint();
    checkpoint.accepted('tanks', '900');
    await checkpoint.flush();
    await fixture.replaceServer();
    await checkpoint.flush();
    expect((await readCheckpoint(fixture.client))?.text).toBeUndefined();
    expect(checkpoint.warnings()).toMatchObject([{ message: expect.stringMatching(/restored from a backup/) }]);
    checkpoint.accepted('dinners', '120');
    await checkpoint.flush();
    expect(await fixture.versions()).toEqual({ dinners: '120' });
  });
});
