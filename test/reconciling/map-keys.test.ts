// From a message about a watched object to the keys of its primaries on the controller's own queue. Against an SQS
// server. Excluded: the reads of the mapping function, which use the same context as a reconcile.
import { expect, it } from 'vitest';
import * as z from 'zod';
import type { ContextTypes, MapContext } from '../../src/api/context.ts';
import { defineKind } from '../../src/api/custom-kind.ts';
import type { ControllerDefinition } from '../../src/api/definition.ts';
import { RetryLater, TerminalError } from '../../src/core/errors.ts';
import type { Key } from '../../src/core/key.ts';
import { silentLog } from '../../src/core/log.ts';
import { createClient } from '../../src/kube/client/client.ts';
import { ConfigMap, Namespace } from '../../src/kubernetes.ts';
import { createMapKeys, isMapped } from '../../src/reconciling/map-keys.ts';
import { createFunctionIds } from '../../src/sqs/deduplication.ts';
import { type Message, parseMessage } from '../../src/sqs/message.ts';
import type { QueueRecord } from '../../src/sqs/record.ts';
import { createSend } from '../../src/sqs/send.ts';
import type { Send } from '../../src/sqs/sender.ts';
import { startApiServer } from '../../src/testing/api-server.ts';
import { aMessage, asChange, asRetry } from '../sqs/messages.ts';
import { useTestQueues } from '../sqs/use-queues.ts';
import { record, setUp } from './batch-harness.ts';

const nothing = { spec: z.object({}), status: z.object({}), conditions: [] };
const gadget = defineKind({ group: 'example.com', version: 'v1', kind: 'Gadget', ...nothing });
const site = defineKind({ group: 'example.com', version: 'v1', kind: 'Site', scope: 'Cluster', ...nothing });

const queues = await useTestQueues('gadget.fifo', 'site.fifo');
const send = createSend(queues.sqs, queues.urlPrefix);

const unreachable = createClient({ server: new URL('http://127.0.0.1:9') });
const changed = (more: Partial<Message> = {}) =>
  aMessage({ group: '', resource: 'configmaps', name: 'prices', ...more });

type Options = {
  readonly messageId?: string;
  readonly through?: Send;
  readonly watched?: typeof ConfigMap;
  /** Of the watch, and of the controller. */
  readonly changes?: { readonly changes?: 'metadata' };
  readonly ownChanges?: { readonly changes?: 'metadata' };
};

const reconcile = async () => ({ status: {}, conditions: {} });

/** Creates the mapping of a controller. */
const mappingOf = ({ name, declaration, start }: ControllerDefinition, through = send) =>
  createMapKeys({ name, declaration, instance: start({}), now: () => new Date(0) }, through, async () =>
    createFunctionIds(),
  );

/** Runs a mapping function on a message, and returns the outcome and the messages on the queue. */
async function mapped(
  mapToKeys: (changed: Key, context: MapContext<ContextTypes>) => Promise<readonly Key[]>,
  message: Message = changed(),
  { messageId = 'm1', through = send, watched = ConfigMap, changes = {}, ownChanges = {} }: Options = {},
) {
  const watches = [{ kind: watched, mapToKeys, ...changes }];
  const controller =
    message.controller === 'site'
      ? site.controller('site', { watches, reconcile })
      : gadget.controller('gadget', { reads: [ConfigMap], watches, reconcile, ...ownChanges });
  const input = { client: unreachable, message, messageId, log: silentLog, signal: AbortSignal.timeout(10_000) };
  const { outcome } = await mappingOf(controller, through)(input);
  const received = await queues.drain(`${controller.name}.fifo`);
  return { outcome, messages: received.map(({ Body = '' }) => parseMessage(Body)) };
}

it('a read that a mapping function does not await postpones the message if it cannot connect, and ends no process', async () => {
  const { outcome } = await mapped(async (_, context) => {
    void context.get(ConfigMap, { name: 'prices' });
    return [];
  });
  expect(outcome).toMatchObject({
    type: 'postponed',
    error: { message: expect.stringContaining('configmaps/prices') },
  });
});

it('a mapping function that asks to come back later costs no attempt', async () => {
  const { outcome, messages } = await mapped(() => Promise.reject(new RetryLater(60, 'too many calls')));
  expect(outcome).toMatchObject({ type: 'postponed', reason: 'later', error: { seconds: 60 } });
  expect(messages).toEqual([]);
});

it('an object whose spec its kind refuses keeps no other object from its key', async () => {
  const names = { group: 'example.com', version: 'v1', kind: 'Gadget', status: z.object({}), conditions: [] } as const;
  const former = defineKind({ ...names, spec: z.object({ secret: z.string() }) });
  const present = defineKind({ ...names, spec: z.object({ secret: z.string().max(3) }) });
  await using server = await startApiServer({ crds: [former] });
  for (const [name, secret] of [
    ['stale', 'too long'],
    ['valid', 'abc'],
  ]) {
    const metadata = { namespace: 'default', name };
    await server.apply({ apiVersion: former.apiVersion, kind: 'Gadget', metadata, spec: { secret } });
  }
  const controller = present.controller('gadget', {
    reads: [present],
    watches: [{ kind: ConfigMap, mapToKeys: async (_, { list }) => (await list(present)).map((one) => one.metadata) }],
    reconcile,
  });
  const message = changed({ namespace: 'default' });
  const signal = AbortSignal.timeout(10_000);
  await mappingOf(controller)({ client: server.client, message, messageId: 'stale', log: silentLog, signal });
  const received = await queues.drain('gadget.fifo');
  expect(received.map(({ Body = '' }) => parseMessage(Body).name)).toEqual(['valid']);
});

it('isMapped is true for messages about another kind than the controller’s', () => {
  const { declaration } = gadget.controller('gadget', { reconcile });
  expect(isMapped(declaration, aMessage())).toBe(false);
  expect(isMapped(declaration, changed())).toBe(true);
  expect(isMapped(declaration, aMessage({ group: 'other.example.com' }))).toBe(true);
});

const changedGadget = aMessage({ group: 'mapped.example.com', resource: 'gadgets', name: 'prices' });
const ofGadgets = { watched: gadget as unknown as typeof ConfigMap };

it('a key of the reconciled kind in the group of mapped keys is mapped to the others, and not to itself', async () => {
  const { outcome, messages } = await mapped(async ({ name }) => [{ name }, { name: 'b' }], changedGadget, ofGadgets);
  expect(outcome).toEqual({ type: 'done' });
  const object = ['example.com', 'gadgets', 'shop', 'prices'];
  expect(messages).toMatchObject([{ group: 'example.com', resource: 'gadgets', name: 'b', cause: { object } }]);
});

it('a key of the reconciled kind is mapped to itself if changes are mapped that do not reconcile it, as of a label', async () => {
  const labels = { ...ofGadgets, changes: { changes: 'metadata' } } as const;
  const { messages } = await mapped(async ({ name }) => [{ name }], changedGadget, labels);
  expect(messages).toMatchObject([{ group: 'example.com', resource: 'gadgets', name: 'prices' }]);
  const sameChanges = { ...labels, ownChanges: labels.changes, messageId: 'm2' } as const;
  const both = await mapped(async ({ name }) => [{ name }], changedGadget, sameChanges);
  expect(both.messages).toEqual([]);
});

it('a mapping function receives only the key, and its keys are sent as first attempts', async () => {
  let received: Key | undefined;
  const { outcome, messages } = await mapped(
    async (key) => {
      received = key;
      return [{ namespace: 'shop', name: 'one' }];
    },
    changed(asRetry({ attempt: 3, postponements: 2 })),
    { messageId: 'first' },
  );
  expect(received).toEqual({ namespace: 'shop', name: 'prices' });
  expect(outcome).toEqual({ type: 'done' });
  expect(messages).toEqual([aMessage(asChange({ object: ['', 'configmaps', 'shop', 'prices'] }))]);
});

it('a mapping function can return whole metadata, and its default namespace is that of the object', async () => {
  const metadata = { name: 'two', uid: 'u', generation: 4, labels: { a: 'b' } };
  const { outcome, messages } = await mapped(async () => [metadata], changed(), { messageId: 'whole' });
  expect(outcome).toEqual({ type: 'done' });
  expect(messages).toMatchObject([{ name: 'two', cause: { type: 'change' } }]);
});

it('a mapping function of a cluster-scoped kind returns keys without a namespace', async () => {
  const keys = async () => [{ namespace: 'shop', name: 'one' }];
  const { messages } = await mapped(keys, changed({ controller: 'site' }), { messageId: 'site' });
  expect(messages).toHaveLength(1);
  expect(messages[0]).not.toHaveProperty('namespace');
});

it('a mapping function without types that records an Event loses it, because there is no object, and no key', async () => {
  const { outcome, messages } = await mapped(async (_, context) => {
    // @ts-expect-error: the context of a mapping function has no recordEvent.
    context.recordEvent('Normal', 'Mapped', 'to nothing');
    return [{ name: 'seven' }];
  });
  expect([outcome, messages.map(({ name }) => name)]).toEqual([{ type: 'done' }, ['seven']]);
});

it('a mapping function that runs twice for one message sends each key once', async () => {
  const keys = async () => [{ name: 'three' }];
  const first = await mapped(keys, changed(), { messageId: 'again' });
  const second = await mapped(keys, changed(), { messageId: 'again' });
  expect([first.messages.length, second.messages.length]).toEqual([1, 0]);
  expect((await mapped(keys, changed(), { messageId: 'another' })).messages).toHaveLength(1);
});

it('a change is mapped although an earlier message of the object, whose keys were sent, is received again with it', async () => {
  const watches = [{ kind: ConfigMap, mapToKeys: async () => [{ name: 'four' }] }];
  const { run } = setUp(mappingOf(gadget.controller('gadget', { watches, reconcile })));
  const first = record('prices', { group: '', resource: 'configmaps' });
  const sent = async (...records: readonly QueueRecord[]) => {
    await run(records);
    return (await queues.drain('gadget.fifo')).length;
  };
  expect(await sent(first)).toBe(1);
  expect(await sent({ ...first, receiveCount: 2 }, { ...first, messageId: 'm-second' })).toBe(1);
});

const { namespace: _, ...clusterScoped } = changed({ resource: 'namespaces' });
const rejecting: Send = async (queue, entries) =>
  entries.map(() => ({ accepted: false, reason: `${queue} is unavailable` }));
const notKeys =
  'mapToKeys of configmaps: {"name":"a/b","namespace":"shop"} is not a key: name: must be one path segment; ' +
  '{"name":"four","namespace":"My Shop"} is not a key: namespace: must be a DNS label';
const noNamespace = 'mapToKeys of namespaces: {"name":"six"} is not a key: name its namespace, as namespaces have none';
const [bad, worse, five] = [{ name: 'a/b' }, { namespace: 'My Shop', name: 'four' }, { name: 'five' }];
it.each<[string, Error | readonly Key[], Message, Options, 'failed' | 'refused', string, readonly object[]]>([
  ['throws', new Error('no idea'), changed(), {}, 'failed', 'no idea', []],
  ['gives up', new TerminalError('never'), changed(), {}, 'refused', 'never', []],
  ['returns keys of no object', [bad, worse, five], changed(), { messageId: 'm3' }, 'refused', notKeys, [five]],
  ['names no namespace', [{ name: 'six' }], clusterScoped, { watched: Namespace as never }, 'refused', noNamespace, []],
  ['is rejected by its queue', [five], changed(), { through: rejecting }, 'failed', 'gadget.fifo is unavailable', []],
  ['is of another kind', [], changed({ resource: 'secrets' }), {}, 'refused', 'gadget watches no secrets.', []],
])('a mapping function that %s is a failure or a dead letter with the reason, and sends the other keys once', async (_, given, message, options, type, text, keys) => {
  const mapping = async () => (given instanceof Error ? await Promise.reject(given) : given);
  const { outcome, messages } = await mapped(mapping, message, options);
  expect(outcome).toMatchObject({ type, error: { message: text } });
  expect(messages).toMatchObject(keys);
});
