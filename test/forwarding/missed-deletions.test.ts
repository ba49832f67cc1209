// Deletions that happened while no watcher ran: which owners are sent when a kind of children is listed again, with the
// watch loops of both kinds. The API server is scripted, the queue is an array.
import { setImmediate } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { noCheckpoint, type WatchCheckpoint } from '../../src/checkpoint/checkpoint.ts';
import type { WatchedResource } from '../../src/core/watch-list.ts';
import { createHealth } from '../../src/forwarding/health.ts';
import { createWatchLoops } from '../../src/forwarding/watch-loops.ts';
import { createRestoreDetection } from '../../src/kube/watch/restore-detection.ts';
import { type Message, parseMessage } from '../../src/sqs/message.ts';
import { startWatcher } from '../../src/watcher/start.ts';
import { listOf, openWatch } from '../kube/watch/watch-script.ts';
import { type Responder, sendJson, startWireServer, statusOf } from '../kube/wire-server.ts';
import { createRecorder } from '../support/recorder.ts';

const group = 'kitchen.example.com';
const dish = { group, version: 'v1', plural: 'dishes', kind: 'Dish', namespaced: true };
const part = { group, version: 'v1', plural: 'parts', kind: 'Part', namespaced: true };
const dishes: WatchedResource = {
  ...dish,
  subscribers: [{ controller: 'dish', as: 'primary', primary: dish, predicate: 'generation' }],
};
const parts: WatchedResource = {
  ...part,
  subscribers: [{ controller: 'dish', as: 'owned', primary: dish, predicate: 'any' }],
};

const object = (name: string, resourceVersion: string) => ({
  metadata: { name, namespace: 'shop', uid: `uid-${name}`, resourceVersion, generation: 1 },
});

/** A cluster with dishes and without parts, at version 100. Its history begins at `oldest`. */
const cluster =
  ({ oldest = 1, names = ['soup', 'stew'] } = {}): Responder =>
  ({ path, query }, response) => {
    if (query.watch === 'true') return openWatch(response);
    if (query.resourceVersionMatch === 'Exact' && Number(query.resourceVersion) < oldest)
      return sendJson(response, 410, statusOf(410, 'Expired'));
    const items = path.endsWith('/dishes') ? names.map((name) => object(name, '40')) : [];
    sendJson(response, 200, listOf('100', ...items));
  };

/** Starts a watcher of both kinds. Resolves when the checkpoint has a version of both. */
async function watch(answer: Responder, versions: Readonly<Record<string, string>>) {
  const server = await startWireServer(answer);
  const sent: { readonly queue: string; readonly message: Message }[] = [];
  const accepted = new Map<string, string>();
  const both = Promise.withResolvers<void>();
  const checkpoint: WatchCheckpoint = {
    ...noCheckpoint,
    start: async (name) => Object.entries(versions).find(([plural]) => name.includes(`_${plural}_`))?.[1],
    accepted: (name, version) => {
      accepted.set(name.split('_')[2] ?? name, version);
      if (accepted.size === 2) both.resolve();
    },
  };
  const watcher = await startWatcher(
    {
      watchList: { version: 1, resources: [dishes, parts] },
      client: server.client(),
      send: async (queue, entries) => {
        sent.push(...entries.map(({ body }) => ({ queue, message: parseMessage(body) })));
        return entries.map(() => ({ accepted: true, messageId: '' }));
      },
      checkpoint,
      log: createRecorder().log,
    },
    { cluster: 'c', lowPriorityPerSecond: 100, host: '127.0.0.1', port: 0 },
  );
  onTestFinished(async () => void (await watcher.stop({ drainSeconds: 1 })));
  await both.promise;
  const sentSoFar = () => sent.map(({ queue, message: { cause, name } }) => `${queue} ${cause.type} ${name}`).sort();
  return { accepted, sent: sentSoFar(), sentSoFar };
}

it.each([
  ['whose checkpoint is too old', cluster({ oldest: 60 }), { dishes: '70', parts: '50' }],
  ['without a checkpoint whose owners have one', cluster(), { dishes: '70' }],
  ['in a start without any checkpoint', cluster(), {}],
])('a kind %s sends every owner once, before its version is accepted', async (_, handler, versions) => {
  const { sent, accepted } = await watch(handler, versions);
  expect(sent).toEqual(['timers resync soup', 'timers resync stew']);
  expect(accepted.get('parts')).toBe('100');
});

it('a watch that lost its history sends every owner, because a child may have been made and deleted meanwhile', async () => {
  let isLost = true;
  const { sent, sentSoFar } = await watch(
    (request, response) => {
      if (!isLost || request.query.watch !== 'true' || !request.path.endsWith('/parts'))
        return cluster()(request, response);
      isLost = false;
      return sendJson(response, 410, statusOf(410, 'Expired'));
    },
    { dishes: '70', parts: '50' },
  );
  expect(sent).toEqual([]);
  await expect.poll(sentSoFar).toEqual(['timers resync soup', 'timers resync stew']);
});

it('owners that are sent before their children are listed are sent again, because a child may be gone by then', async () => {
  let nowMs = 0;
  const soup = Promise.withResolvers<void>();
  const stew = Promise.withResolvers<void>();
  const server = await startWireServer(async ({ path, query }, response) => {
    if (query.watch === 'true') return openWatch(response);
    if (path.endsWith('/parts')) {
      // Between the first page of the dishes and the list of the parts, soup is reconciled and then loses a part.
      await soup.promise;
      nowMs = 10_000;
      return sendJson(response, 200, listOf('100'));
    }
    if (query.continue === undefined) {
      const first = listOf('100', object('soup', '40'));
      return sendJson(response, 200, { ...first, metadata: { resourceVersion: '100', continue: 'page-2' } });
    }
    await partsListed.promise;
    sendJson(response, 200, listOf('100', object('stew', '40')));
  });
  const partsListed = Promise.withResolvers<void>();
  const sent: string[] = [];
  const stopped = new AbortController();
  onTestFinished(() => stopped.abort());
  const { log } = createRecorder();
  const loops = createWatchLoops(
    {
      client: server.client(),
      forwarder: {
        add: ({ target: { name } }) => void sent.push(name),
        addLowPriority: ({ target: { name } }) => {
          sent.push(name);
          if (name === 'soup') soup.resolve();
          if (name === 'stew') stew.resolve();
        },
      },
      checkpoint: noCheckpoint,
      health: createHealth(() => nowMs),
      restoreDetection: createRestoreDetection(),
      log: { ...log, info: (message) => message === 'collection listed' && partsListed.resolve() },
      now: () => nowMs,
      wait: () => new Promise(() => undefined),
      random: () => 0,
      nonce: () => 'run',
    },
    { version: 1, resources: [dishes, parts] },
    { cluster: 'c' },
  );
  for (const { loop } of loops) void loop.run(stopped.signal);
  await stew.promise;
  // The request for the owners is answered when the dishes are listed, right after the last page.
  while (loops[0]?.loop.lowWatermark() === undefined) await setImmediate();
  expect(sent.filter((name) => name === 'soup')).toEqual(['soup', 'soup']);
});
