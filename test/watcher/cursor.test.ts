// The cursor in its ConfigMap on the embedded API server: what a start reads of it, when it is written, and what two writers
// leave there. What the versions mean is restart.test.ts; the text alone is test/runtime/cursor-document.test.ts.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { existingKind } from '../../src/core/kind.ts';
import { cursorName, systemNamespace } from '../../src/core/words.ts';
import { applyObject } from '../../src/kube/apply.ts';
import { createClient, type KubeClient } from '../../src/kube/client.ts';
import { ApiError } from '../../src/kube/errors.ts';
import { objectPath } from '../../src/kube/path.ts';
import { type ApiServer, startApiServer } from '../../src/local/api-server/server.ts';
import { formatCursor, parseCursor } from '../../src/runtime/cursor-document.ts';
import { readClusterUid, readCursorObject, writeCursorObject } from '../../src/runtime/cursor-object.ts';
import { createCursor } from '../../src/watcher/cursor.ts';
import { statusOf } from '../kube/wire-server.ts';
import { createWitness } from '../runtime/witness.ts';

const configMap = existingKind<object>({ group: '', version: 'v1', kind: 'ConfigMap' });
const namespaces = existingKind<object>({ group: '', version: 'v1', kind: 'Namespace', scope: 'Cluster' });
const place = { namespace: systemNamespace, name: cursorName };
const nowMs = Date.parse('2026-11-21T12:00:00Z');

let server: ApiServer;
let client: KubeClient;
let over: AbortController;
beforeEach(async () => {
  server = await startApiServer();
  client = createClient({ server: new URL(server.url) });
  over = new AbortController();
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: systemNamespace } };
  await applyObject(client, namespaces, namespace, { fieldManager: 'user' });
  await applyObject(client, configMap, shipped, { fieldManager: 'user' });
});
afterEach(async () => {
  over.abort();
  client.close();
  await server.close();
});
const shipped = { apiVersion: 'v1', kind: 'ConfigMap', metadata: place };

/** A cursor whose time a test moves. */
function aCursor({ through = client }: { readonly through?: KubeClient } = {}) {
  const { log, lines } = createWitness();
  const rests: { readonly seconds: number; readonly end: () => void }[] = [];
  let resting = Promise.withResolvers<void>();
  const cursor = createCursor({
    client: through,
    log,
    now: () => nowMs,
    wait: (seconds, signal) =>
      new Promise((resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason), { once: true });
        rests.push({ seconds, end: resolve });
        resting.resolve();
        resting = Promise.withResolvers();
      }),
  });
  return {
    ...cursor,
    rests,
    start: (name: string) => cursor.start(name, over),
    run: (framesAt: () => number | undefined = () => nowMs) => void cursor.run({ framesAt, signal: over.signal }),
    /** Lets the time to the next look pass, and what follows happen. */
    rest: async () => {
      const next = rests.length === 0 ? resting.promise : Promise.resolve();
      await next;
      const after = resting.promise;
      rests.splice(0).at(-1)?.end();
      await after;
    },
    warnings: () =>
      lines.filter(({ level }) => level === 'warn').map(({ message, fields }) => ({ message, ...fields })),
  };
}

const stored = async () => {
  const reading = parseCursor((await readCursorObject(client))?.text);
  if (reading.type !== 'read') throw new Error(`the cursor is ${reading.type}`);
  return reading.document;
};
const versions = async () =>
  Object.fromEntries([...(await stored()).entries].map(([name, { version }]) => [name, version]));
const plant = async (text: string) => {
  const object = await readCursorObject(client);
  await writeCursorObject(client, { text, resourceVersion: object?.resourceVersion ?? '' });
};
const document = async (entries: Readonly<Record<string, string>>, { cluster = '' } = {}) => ({
  cluster: cluster === '' ? ((await readClusterUid(client)) ?? '') : cluster,
  entries: new Map(Object.entries(entries).map(([name, version]) => [name, { version, atMs: nowMs }])),
});
const writes = () => server.requests().filter(({ query }) => query.fieldManager === 'outrigger-watcher');

describe('a start', () => {
  it('goes on where another watcher stopped', async () => {
    const first = aCursor();
    first.accepted('tanks', '17');
    first.accepted('dinners', '19');
    first.accepted('tanks', '18');
    await first.flush();
    const second = aCursor();
    expect([await second.start('tanks'), await second.start('dinners'), await second.start('foos')]).toEqual([
      '18',
      '19',
      undefined,
    ]);
    expect(second.warnings()).toEqual([]);
  });

  it('knows nothing of a cursor as it is shipped, and finds that in order', async () => {
    const cursor = aCursor();
    expect(await cursor.start('tanks')).toBeUndefined();
    expect(cursor.warnings()).toEqual([]);
  });

  it.each<[string, () => Promise<string>, RegExp]>([
    ['not JSON', async () => 'garbage', /not JSON/],
    [
      'a number for a version',
      async () => formatCursor(await document({ tanks: '17' })).replace('"17"', '17'),
      /entries\.tanks\.version/,
    ],
    [
      'of another cluster',
      async () => formatCursor(await document({ tanks: '17' }, { cluster: 'elsewhere' })),
      /another cluster/,
    ],
  ])('ignores a cursor that is %s, with a warning, and writes it anew', async (_, text, reason) => {
    await plant(await text());
    const cursor = aCursor();
    expect(await cursor.start('tanks')).toBeUndefined();
    expect(cursor.warnings()).toMatchObject([
      { message: 'the cursor is ignored, everything is forwarded', reason: expect.stringMatching(reason) },
    ]);
    cursor.accepted('dinners', '5');
    await cursor.flush();
    expect(await versions()).toEqual({ dinners: '5' });
  });

  it('goes without a ConfigMap, says so, and writes it when it is there', async () => {
    await client.request({ method: 'DELETE', path: objectPath(configMap, place) });
    const cursor = aCursor();
    expect(await cursor.start('tanks')).toBeUndefined();
    cursor.accepted('tanks', '17');
    await cursor.flush();
    await cursor.flush();
    expect(cursor.warnings()).toMatchObject([
      {
        message: 'the cursor is ignored, everything is forwarded',
        reason: expect.stringMatching(/infra\/kubernetes\/generated/),
      },
      { message: 'cursor not written, trying again' },
    ]);
    await applyObject(client, configMap, shipped, { fieldManager: 'user' });
    await cursor.flush();
    expect(await versions()).toEqual({ tanks: '17' });
  });

  it('goes without the right to read it, and waits for a server that does not answer', async () => {
    const answering = (status: number): KubeClient => ({
      ...client,
      request: async ({ method, path }) => {
        throw new ApiError(`${method} ${path}`, status, statusOf(status, ''));
      },
    });
    const forbidden = aCursor({ through: answering(403) });
    expect(await forbidden.start('tanks')).toBeUndefined();
    expect(forbidden.warnings()).toHaveLength(1);
    await expect(aCursor({ through: answering(503) }).start('tanks')).rejects.toThrow('503');
  });

  it('reads once for all collections, and again only after nobody answered', async () => {
    const cursor = aCursor();
    await Promise.all(['a', 'b', 'c'].map(async (name) => await cursor.start(name)));
    const reads = server
      .requests()
      .filter(({ path }) => path.endsWith(`/${cursorName}`) && path.includes('configmaps'));
    expect(reads.filter(({ method }) => method === 'GET')).toHaveLength(1);
  });
});

describe('writing', () => {
  it('happens after accepted messages at every look, and without them at every other one', async () => {
    const cursor = aCursor();
    cursor.run();
    await cursor.rest();
    expect(writes()).toHaveLength(1);
    await cursor.rest();
    expect(writes()).toHaveLength(1);
    await cursor.rest();
    expect(writes()).toHaveLength(2);
    cursor.sent();
    cursor.accepted('tanks', '17');
    await cursor.rest();
    expect(writes()).toHaveLength(3);
    cursor.accepted('tanks', '18');
    await cursor.rest();
    expect(writes()).toHaveLength(3);
    expect(await versions()).toEqual({ tanks: '17' });
    await cursor.rest();
    expect(await versions()).toEqual({ tanks: '18' });
    expect(cursor.rests.map(({ seconds }) => seconds)).toEqual([30]);
  });

  it('happens first as soon as every kind was heard, and does not wait for that for ever', async () => {
    const cursor = aCursor();
    let heard: number | undefined;
    cursor.run(() => heard);
    for (let looks = 0; looks < 10; looks += 1) await cursor.rest();
    expect(cursor.rests.map(({ seconds }) => seconds)).toEqual([1]);
    expect(writes()).toHaveLength(0);
    heard = nowMs;
    await cursor.rest();
    expect(writes()).toHaveLength(1);
    const deaf = aCursor();
    deaf.run(() => undefined);
    for (let looks = 0; looks < 60; looks += 1) await deaf.rest();
    expect(writes()).toHaveLength(2);
  });

  it('says up to when frames came', async () => {
    const cursor = aCursor();
    let heard = nowMs - 9_000;
    cursor.run(() => heard);
    await cursor.rest();
    expect((await stored()).framesAtMs).toBe(heard);
    heard += 5_000;
    for (let looks = 0; looks < 2; looks += 1) await cursor.rest();
    expect((await stored()).framesAtMs).toBe(heard);
  });

  it('of two replicas leaves the newest of each, whoever is the last', async () => {
    const [one, other] = [aCursor(), aCursor()];
    await Promise.all([one.start('tanks'), other.start('tanks')]);
    one.accepted('tanks', '20');
    one.accepted('dinners', '5');
    other.accepted('tanks', '18');
    other.accepted('foos', '7');
    await Promise.all([one.flush(), other.flush()]);
    expect(await versions()).toEqual({ tanks: '20', dinners: '5', foos: '7' });
  });

  it('meets a conflict by reading again', async () => {
    let interfere = true;
    const between: KubeClient = {
      ...client,
      request: async (request) => {
        if (request.method === 'PATCH' && interfere) {
          interfere = false;
          await plant(formatCursor(await document({ tanks: '30', foos: '7' })));
        }
        return await client.request(request);
      },
    };
    const cursor = aCursor({ through: between });
    cursor.accepted('tanks', '20');
    cursor.accepted('dinners', '5');
    await cursor.flush();
    expect(await versions()).toEqual({ tanks: '30', dinners: '5', foos: '7' });
    expect(cursor.warnings()).toEqual([]);
  });

  it('is said once to have failed, and repeated with all that is known', async () => {
    let away = true;
    const flaky: KubeClient = {
      ...client,
      request: async (request) => {
        if (away) throw new ApiError('PATCH', 503, statusOf(503, ''));
        return await client.request(request);
      },
    };
    const cursor = aCursor({ through: flaky });
    cursor.run();
    cursor.sent();
    cursor.accepted('tanks', '17');
    for (let looks = 0; looks < 3; looks += 1) await cursor.rest();
    expect(cursor.warnings()).toMatchObject([{ message: 'cursor not written, trying again' }]);
    away = false;
    await cursor.rest();
    expect(await versions()).toEqual({ tanks: '17' });
  });

  it('knows nothing of versions that cannot be compared', async () => {
    const cursor = aCursor();
    cursor.accepted('metrics', 'opaque');
    await cursor.flush();
    expect(await versions()).toEqual({});
  });
});

describe('a restored cluster', () => {
  it('loses the entry that was dropped, however new it was, and has what came since', async () => {
    await plant(formatCursor(await document({ tanks: '900', dinners: '900', foos: '7' })));
    const cursor = aCursor();
    await cursor.start('tanks');
    cursor.drop('tanks');
    cursor.drop('dinners');
    cursor.accepted('tanks', '9');
    await cursor.flush();
    expect(await versions()).toEqual({ tanks: '9', foos: '7' });
  });

  it('is noticed by a cursor that has become older than it was, which then says nothing of before', async () => {
    for (let count = 0; count < 50; count += 1) await plant(formatCursor(await document({ foos: `${count + 1}` })));
    const cursor = aCursor();
    cursor.accepted('tanks', '900');
    await cursor.flush();
    const port = Number(new URL(server.url).port);
    await server.close();
    server = await startApiServer({ port });
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: systemNamespace } };
    await applyObject(client, namespaces, namespace, { fieldManager: 'user' });
    await applyObject(client, configMap, shipped, { fieldManager: 'user' });
    await cursor.flush();
    expect((await readCursorObject(client))?.text).toBeUndefined();
    expect(cursor.warnings()).toMatchObject([{ message: expect.stringMatching(/restored from a backup/) }]);
    cursor.accepted('dinners', '120');
    await cursor.flush();
    expect(await versions()).toEqual({ dinners: '120' });
  });
});
