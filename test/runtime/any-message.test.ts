// X20 for whatever bytes a queue may bring: a message that is none becomes a dead letter with a reason, nothing is thrown, and no
// byte of it chooses what is asked of an API server. The functions' own code on the wire of a server that has nothing; which
// fields are refused, and how that reads, is intake.test.ts and, for every controller, test/cross/message-cases.ts.
import fc from 'fast-check';
import { beforeEach, expect, it } from 'vitest';
import { memcachedProxy } from '../../src/controllers/memcached-proxy/memcached-proxy.ts';
import { waterTank } from '../../src/controllers/water-tank.ts';
import type { Registered } from '../../src/core/controller.ts';
import { cursorName, systemNamespace } from '../../src/core/names.ts';
import type { KubeClient } from '../../src/kube/client/client.ts';
import type { Entry, Send } from '../../src/sqs/sender.ts';
import { createBatch } from '../../src/runtime/batch.ts';
import { createBreaker } from '../../src/runtime/breaker.ts';
import type { QueueRecord } from '../../src/runtime/intake.ts';
import { createMapKeys, isMapped } from '../../src/runtime/map-keys.ts';
import { createReconcile } from '../../src/runtime/reconcile.ts';
import { createResync } from '../../src/runtime/resync.ts';
import { createTimers } from '../../src/runtime/timers.ts';
import { sendJson, startWireServer, statusOf, type WireServer } from '../kube/wire-server.ts';
import { messageFor } from '../reconciling/batch-harness.ts';
import { createWitness } from '../support/recorder.ts';

const nowMs = Date.parse('2026-11-21T12:00:00Z');
const { signal } = new AbortController();
const run = '2026-11-21T12:00:00Z';
const [tanks, proxies] = ['plant.example.com/v1/watertanks', 'cache.example.com/v1/memcachedproxies'];
const cursor = `/api/v1/namespaces/${systemNamespace}/configmaps/${cursorName}`;
/** Some seconds of them. */
const numRuns = 300;
const isList = /^\/apis\/[^/]+\/[^/]+\/(namespaces\/[^/]+\/)?[^/]+$/;
let server: WireServer;
let client: KubeClient;
beforeEach(async () => {
  server = await startWireServer(({ path }, response) =>
    isList.test(path)
      ? sendJson(response, 200, { metadata: { resourceVersion: '1' }, items: [] })
      : sendJson(response, 404, statusOf(404, 'NotFound')),
  );
  client = server.client();
});

/** Queues that accept everything. */
function openQueues() {
  const sent: (Entry & { readonly queue: string })[] = [];
  const send: Send = async (queue, entries) => {
    sent.push(...entries.map((entry) => ({ ...entry, queue })));
    return entries.map(() => ({ accepted: true, messageId: 'm' }));
  };
  return { sent, send };
}
const recordsOf = (bodies: readonly string[]): readonly QueueRecord[] =>
  bodies.map((body, index) => ({
    ...{ messageId: `m${index}`, receiptHandle: `r${index}`, body, groupId: 'g' },
    ...{ receiveCount: 1, firstReceivedAt: nowMs },
  }));
const findCluster = async (name: string) =>
  name === 'a' ? ({ type: 'client', client } as const) : ({ type: 'unknown' } as const);

/** Names that would break something if anything could. */
const hostileNames = [
  '',
  '.',
  '..',
  '../x',
  'a/b',
  'a%2fb',
  'a?watch=true',
  'a#b',
  '@evil.example',
  '\\\\evil',
  '\ud800',
  'a\r\nx: y',
  '__proto__',
];
/** Text as nobody would send it, unless it were to break something. */
const hostile = fc.oneof(fc.constantFrom(...hostileNames), fc.string({ unit: 'binary' }));
const anything = fc.oneof(
  hostile,
  fc.integer(),
  fc.double(),
  fc.maxSafeInteger(),
  fc.constant(undefined),
  fc.jsonValue(),
);
/** A good message with up to three fields that are anything, and maybe one that no message has. */
function nearly(good: object): fc.Arbitrary<string> {
  const field = fc.constantFrom(...Object.keys(good), 'dueAt', 'slot', 'run', 'uid', 'continue', 'pacedTo', 'spec');
  return fc.dictionary(field, anything, { maxKeys: 3 }).map((changes) => JSON.stringify({ ...good, ...changes }));
}
const bodies = (good: object) =>
  fc.array(fc.oneof({ weight: 3, arbitrary: nearly(good) }, hostile, fc.json()), { minLength: 1, maxLength: 8 });

/** What no choice leaves out: each of the names, in a message that is good but for that. */
const always = (good: object): [string[]][] => hostileNames.map((name) => [[JSON.stringify({ ...good, name })]]);

/** Where the requests went: collections, with whatever names the messages had. */
const askedFor = () =>
  new Set(
    server.arrived.map(({ path }) => {
      const parts = /^\/apis\/([^/]+\/[^/]+)\/(?:namespaces\/[^/]+\/)?([^/]+)(?:\/[^/]+)?$/.exec(path);
      return parts === null ? path : `${parts[1]}/${parts[2]}`;
    }),
  );

it.each<[Registered, object, string]>([
  [waterTank, messageFor('north'), tanks],
  [memcachedProxy, messageFor('shard', { controller: 'memcached-proxy', group: '', resource: 'services' }), proxies],
])('X20: $name: whatever a batch holds is settled, and asks for objects of its own kind alone', async (controller, good, collection) => {
  const { name, declares } = controller;
  const running = controller.start({ PLANT_URL: 'http://127.0.0.1:1' });
  await fc.assert(
    fc.asyncProperty(bodies(good), async (given) => {
      const { send, sent } = openQueues();
      const { log, meter } = createWitness();
      const parts = { name, declares, running, now: () => new Date(nowMs) };
      const [reconcile, mapKeys] = [createReconcile(parts), createMapKeys(parts, send)];
      const batch = createBatch({
        ...{ controller: name, findCluster, send, meter, breaker: createBreaker(() => 0), log: () => log },
        reconcile: async (job) => await (isMapped(declares, job.message) ? mapKeys(job) : reconcile(job)),
        deleteMessages: async () => undefined,
        sqsNow: () => nowMs,
        monotonicMs: () => 0,
        wait: (_, until) => new Promise((resolve) => until.addEventListener('abort', () => resolve())),
        die: (reason) => expect.unreachable(reason),
      });
      const before = server.arrived.length;
      expect(await batch(recordsOf(given), { reconcileMs: 1, graceMs: 1 })).toEqual([]);
      const letters = sent.filter(({ queue }) => queue === `${name}-dlq.fifo`);
      for (const { attributes, body } of letters) {
        expect(attributes?.reason).toMatch(/\S/);
        expect(given).toContain(body);
      }
      // There is nothing of what the others name, so that nothing follows from them.
      expect(sent.length).toBe(letters.length);
      if (letters.length === given.length) expect(server.arrived.length).toBe(before);
    }),
    { numRuns, examples: always(good) },
  );
  expect(askedFor()).toEqual(new Set([collection]));
});

it('X20: whatever the timers are handed goes on as a message, waits, or is a dead letter with a reason', async () => {
  const good = messageFor('north', { lane: 'requeue', dueAt: nowMs / 1000, slot: '30/1' });
  await fc.assert(
    fc.asyncProperty(bodies(good), async (given) => {
      const { send, sent } = openQueues();
      const timers = createTimers({ send, sqsNow: () => nowMs, ...createWitness() });
      expect(await timers(recordsOf(given), { signal })).toEqual([]);
      for (const { queue, body, attributes, delaySeconds = 0 } of sent) {
        if (queue === 'timers-dlq') {
          expect(attributes?.reason).toMatch(/\S/);
          expect(given).toContain(body);
        } else {
          expect(queue).toMatch(/^(timers|[^/%]+\.fifo)$/);
          expect(delaySeconds).toBeLessThanOrEqual(900);
        }
      }
    }),
    { numRuns, examples: always(good) },
  );
});

it('X20: whatever the resync is handed polls its controllers’ kinds alone, or is a dead letter with a reason', async () => {
  const good = { v: 1, kind: 'resync', run, cluster: 'a', controller: 'water-tank' };
  await fc.assert(
    fc.asyncProperty(bodies(good), async (given) => {
      const { send, sent } = openQueues();
      const { log, meter } = createWitness();
      const resync = createResync({
        ...{ registry: [waterTank, memcachedProxy], findCluster, send, meter, log: () => log, now: () => nowMs },
        listClusters: async () => ['a'],
        depth: async () => ({ visible: 0, inFlight: 0, delayed: 0 }),
        pace: { tickSeconds: 600, graceSeconds: 240, perSecond: 100 },
      });
      const before = server.arrived.length;
      expect(await resync.run(recordsOf(given), { signal, leftMs: () => 60_000 })).toEqual([]);
      const letters = sent.filter(({ queue }) => queue === 'resync-dlq');
      for (const { attributes, body } of letters) {
        expect(attributes?.reason).toMatch(/\S/);
        expect(given).toContain(body);
      }
      expect(sent.length).toBe(letters.length);
      if (letters.length === given.length) expect(server.arrived.length).toBe(before);
    }),
    { numRuns },
  );
  expect(askedFor()).toEqual(new Set([cursor, tanks]));
});
