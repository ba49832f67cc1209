// X20 for any bytes of a message: a malformed message becomes a dead letter with a reason, nothing is thrown, and no
// byte of it chooses a request to an API server. The functions' own code against an HTTP server without objects. The
// fields that are rejected are in group-records.test.ts.
import fc from 'fast-check';
import { beforeEach, expect, it } from 'vitest';
import type { ControllerDefinition } from '../../src/api/definition.ts';
import { memcachedProxy } from '../../src/controllers/memcached-proxy.ts';
import { waterTank } from '../../src/controllers/water-tank.ts';
import { isClusterName } from '../../src/core/cluster-name.ts';
import { checkpointName, systemNamespace } from '../../src/core/names.ts';
import type { KubeClient } from '../../src/kube/client/client.ts';
import { createMapKeys, isMapped } from '../../src/reconciling/map-keys.ts';
import { createReconcile } from '../../src/reconciling/reconcile.ts';
import { createFunctionIds } from '../../src/sqs/deduplication.ts';
import { formatMessage, type Message, parseMessage } from '../../src/sqs/message.ts';
import type { QueueRecord } from '../../src/sqs/record.ts';
import type { QueueEntry, Send } from '../../src/sqs/sender.ts';
import { notFoundAt, sendJson, startWireServer, type WireServer } from '../kube/wire-server.ts';
import { asRequeue, groupOf } from '../sqs/messages.ts';
import { messageFor, resyncWith, setUp, timersWith } from './batch-harness.ts';

const nowMs = Date.parse('2026-11-21T12:00:00Z');
const run = '2026-11-21T12:00:00Z';
const [tanks, proxies] = ['plant.example.com/v1/watertanks', 'cache.example.com/v1/memcachedproxies'];
const checkpoint = `/api/v1/namespaces/${systemNamespace}/configmaps/${checkpointName}`;
/** They take a few seconds. */
const numRuns = 300;
const isList = /^\/apis\/[^/]+\/[^/]+\/(namespaces\/[^/]+\/)?[^/]+$/;
let server: WireServer;
let client: KubeClient;
beforeEach(async () => {
  server = await startWireServer(({ path }, response) =>
    isList.test(path)
      ? sendJson(response, 200, { metadata: { resourceVersion: '1' }, items: [] })
      : sendJson(response, 404, notFoundAt(path)),
  );
  client = server.client();
});

/** Creates queues that accept everything. */
function acceptingQueues() {
  const sent: (QueueEntry & { readonly queue: string })[] = [];
  const send: Send = async (queue, entries) => {
    sent.push(...entries.map((entry) => ({ ...entry, queue })));
    return entries.map(() => ({ accepted: true, messageId: 'm' }));
  };
  return { sent, send };
}
const recordsOf = (bodies: readonly string[]): readonly QueueRecord[] =>
  bodies.map((body, index) => ({
    messageId: `m${index}`,
    receiptHandle: `r${index}`,
    body,
    groupId: groupOf(body),
    receiveCount: 1,
    firstReceivedAt: nowMs,
  }));
const findCluster = async (name: string) =>
  name === 'a' ? ({ type: 'client', client } as const) : ({ type: 'unknown' } as const);

/** What no object has as its name. */
const noNames = ['', '.', '..', '../x', 'a/b', 'a%2fb', '\ud800'];
/** Names that could change the path of a request or the shape of a message. */
const hostileNames = [...noNames, 'a?watch=true', 'a#b', '@evil.example', '\\\\evil', 'a\r\nx: y', '__proto__'];
/** Hostile names, and any text. */
const hostile = fc.oneof(fc.constantFrom(...hostileNames), fc.string({ unit: 'binary' }));
const numbers = fc.oneof(fc.integer(), fc.double(), fc.maxSafeInteger());
const anything = fc.oneof(hostile, numbers, fc.constant(undefined), fc.jsonValue());
/** Returns the body of a message on a queue, as an object. */
function bodyOf(message: Message): object {
  return JSON.parse(formatMessage(message));
}
/** Bodies of a valid message with up to three fields of any value, some of them unknown. */
function almostValid(valid: object): fc.Arbitrary<string> {
  const others = ['dueAt', 'slot', 'run', 'uid', 'continue', 'scheduledUntil', 'spec'];
  const field = fc.constantFrom(...Object.keys(valid), ...others);
  return fc.dictionary(field, anything, { maxKeys: 3 }).map((changes) => JSON.stringify({ ...valid, ...changes }));
}
const bodies = (valid: object) =>
  fc.array(fc.oneof({ weight: 3, arbitrary: almostValid(valid) }, hostile, fc.json()), { minLength: 1, maxLength: 8 });

/** The examples of every run: each of the hostile names in an otherwise valid message. */
const hostileExamples = (valid: object): [string[]][] =>
  hostileNames.map((name) => [[JSON.stringify(withName(valid, name))]]);

/** Sets the name of the message's object. A body without an object gets the name as a field. */
const withName = (valid: object, name: string): object =>
  'object' in valid && Array.isArray(valid.object)
    ? { ...valid, object: [...valid.object.slice(0, 3), name] }
    : { ...valid, name };

/** Returns the collections of all requests. */
const requestedCollections = () =>
  new Set(
    server.arrived.map(({ path }) => {
      const parts = /^\/apis\/([^/]+\/[^/]+)\/(?:namespaces\/[^/]+\/)?([^/]+)(?:\/[^/]+)?$/.exec(path);
      return parts === null ? path : `${parts[1]}/${parts[2]}`;
    }),
  );

/** Expects only dead letters: given bodies, unchanged and with a reason. If all are, no request was sent since `before`. */
function expectDeadLetters(
  sent: ReturnType<typeof acceptingQueues>['sent'],
  given: readonly string[],
  { queue, before }: { readonly queue: string; readonly before: number },
): void {
  for (const { attributes, body, ...letter } of sent) {
    // A cluster that the table may still get.
    if (letter.queue === 'timers') {
      expect(isClusterName(parseMessage(body).cluster)).toBe(true);
      continue;
    }
    expect(letter.queue).toBe(queue);
    expect(attributes?.reason).toMatch(/\S/);
    expect(given).toContain(body);
  }
  if (sent.length === given.length) expect(server.arrived.length).toBe(before);
}

it.each<[ControllerDefinition, object, string]>([
  [waterTank, bodyOf(messageFor('north')), tanks],
  [
    memcachedProxy,
    bodyOf(messageFor('shard', { controller: 'memcached-proxy', group: '', resource: 'services' })),
    proxies,
  ],
  // Control T38.
])('X20: $name: a batch of any bodies requests only objects of the controller’s kind', async (controller, valid, collection) => {
  const { name, declaration } = controller;
  const instance = controller.start({ PLANT_URL: 'http://127.0.0.1:1' });
  await fc.assert(
    fc.asyncProperty(bodies(valid), async (given) => {
      const { send, sent } = acceptingQueues();
      const deps = { name, declaration, instance, now: () => new Date(nowMs) };
      const [reconcile, mapKeys] = [createReconcile(deps), createMapKeys(deps, send, async () => createFunctionIds())];
      const batch = setUp(
        async (input) => await (isMapped(declaration, input.message) ? mapKeys(input) : reconcile(input)),
        { controller: name, findCluster, send },
      );
      const before = server.arrived.length;
      expect(await batch.run(recordsOf(given))).toEqual([]);
      // The objects of the valid messages do not exist, so nothing else is sent.
      expectDeadLetters(sent, given, { queue: `${name}-dlq.fifo`, before });
      const refused = given.filter((body) => noNames.some((one) => body === JSON.stringify(withName(valid, one))));
      expect(sent.map(({ body }) => body)).toEqual(expect.arrayContaining(refused));
    }),
    { numRuns, examples: hostileExamples(valid) },
  );
  expect(requestedCollections()).toEqual(new Set([collection]));
});

// Control T39.
it('X20: the timers forward or delay any body that is a message, and send a dead letter for all others', async () => {
  const valid = bodyOf(messageFor('north', asRequeue({ dueAt: nowMs / 1000, slot: '30/1' })));
  await fc.assert(
    fc.asyncProperty(bodies(valid), async (given) => {
      const { send, sent } = acceptingQueues();
      const timers = timersWith({ controllers: new Set([waterTank.name]), send, sqsNow: () => nowMs });
      expect(await timers.run(recordsOf(given))).toEqual([]);
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
    { numRuns, examples: hostileExamples(valid) },
  );
});

// Control T40.
it('X20: the resync lists only its controllers’ kinds for any body, or sends a dead letter with a reason', async () => {
  const valid = { v: 1, type: 'resync', run, cluster: 'a', controller: 'water-tank' };
  await fc.assert(
    fc.asyncProperty(bodies(valid), async (given) => {
      const { send, sent } = acceptingQueues();
      const resync = resyncWith({ registry: [waterTank, memcachedProxy], findCluster, send, sqsNow: () => nowMs });
      const before = server.arrived.length;
      expect(await resync.run(recordsOf(given))).toEqual([]);
      expectDeadLetters(sent, given, { queue: 'resync-dlq', before });
    }),
    { numRuns },
  );
  expect(requestedCollections()).toEqual(new Set([checkpoint, tanks]));
});
