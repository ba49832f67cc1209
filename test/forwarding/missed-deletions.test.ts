// Only deletions that happened while nobody watched: whose keys are sent when a kind of children is listed anew, by watch loops
// of both kinds together. A server that answers by script; the queue is an array.
import { expect, it, onTestFinished } from 'vitest';
import type { WatchedResource } from '../../src/core/watch-list.ts';
import { type Message, parseMessage } from '../../src/queue/message.ts';
import { type Cursor, noCursor } from '../../src/watcher/cursor.ts';
import { startWatcher } from '../../src/watcher/start.ts';
import { listOf, openWatch } from '../kube/watch/watch-script.ts';
import { type Answer, sendJson, startWireServer, statusOf } from '../kube/wire-server.ts';
import { createWitness } from '../support/recorder.ts';

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

/** A cluster with dishes and no parts, all at version 100, whose history begins at `oldest`. */
const kitchen =
  ({ oldest = 1, names = ['soup', 'stew'] } = {}): Answer =>
  ({ path, query }, response) => {
    if (query.watch === 'true') return openWatch(response);
    if (query.resourceVersionMatch === 'Exact' && Number(query.resourceVersion) < oldest)
      return sendJson(response, 410, statusOf(410, 'Expired'));
    const items = path.endsWith('/dishes') ? names.map((name) => object(name, '40')) : [];
    sendJson(response, 200, listOf('100', ...items));
  };

/** Starts a watcher of both kinds; `until` resolves once the cursor was told of both. */
async function watch(answer: Answer, known: Readonly<Record<string, string>>) {
  const server = await startWireServer(answer);
  const sent: { readonly queue: string; readonly message: Message }[] = [];
  const told = new Map<string, string>();
  const both = Promise.withResolvers<void>();
  const cursor: Cursor = {
    ...noCursor,
    start: async (name) => Object.entries(known).find(([plural]) => name.includes(`_${plural}_`))?.[1],
    accepted: (name, version) => {
      told.set(name.split('_')[2] ?? name, version);
      if (told.size === 2) both.resolve();
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
      cursor,
      log: createWitness().log,
    },
    { cluster: 'c', bulkPerSecond: 100, host: '127.0.0.1', port: 0 },
  );
  onTestFinished(async () => void (await watcher.stop({ drainSeconds: 1 })));
  await both.promise;
  return { told, sent: sent.map(({ queue, message: { lane, name } }) => `${queue} ${lane} ${name}`).sort() };
}

const everyDish = ['timers resync soup', 'timers resync stew'];

it('a kind whose cursor is too old sends every owner once, before its version counts', async () => {
  const { sent, told } = await watch(kitchen({ oldest: 60 }), { dishes: '70', parts: '50' });
  expect(sent).toEqual(everyDish);
  expect(told.get('parts')).toBe('100');
});

it('a kind without a cursor sends every owner although the owners have one', async () => {
  const { sent } = await watch(kitchen(), { dishes: '70' });
  expect(sent).toEqual(everyDish);
});

it('a start without any cursor sends every owner once, not once for each kind it owns', async () => {
  const { sent } = await watch(kitchen(), {});
  expect(sent).toEqual(everyDish);
});

it('a start with both cursors sends nothing', async () => {
  const { sent, told } = await watch(kitchen(), { dishes: '70', parts: '50' });
  expect(sent).toEqual([]);
  expect(Object.fromEntries(told)).toEqual({ dishes: '100', parts: '100' });
});
