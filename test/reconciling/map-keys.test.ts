// From a message about a watched object to the keys of its primaries on the controller's own queue. Against an SQS
// server. Excluded: the reads of the mapping function, which use the same context as a reconcile.
import { expect, it } from 'vitest';
import * as z from 'zod';
import type { ContextTypes, MapContext } from '../../src/api/context.ts';
import { defineKind } from '../../src/api/custom-kind.ts';
import type { Key } from '../../src/core/key.ts';
import { createClient } from '../../src/kube/client/client.ts';
import { ConfigMap, Namespace } from '../../src/kubernetes.ts';
import { createMapKeys, isMapped } from '../../src/reconciling/map-keys.ts';
import { createFunctionIds } from '../../src/sqs/deduplication.ts';
import type { Message } from '../../src/sqs/message.ts';
import { parseMessage } from '../../src/sqs/message.ts';
import type { QueueRecord } from '../../src/sqs/record.ts';
import { createSend } from '../../src/sqs/send.ts';
import type { Send } from '../../src/sqs/sender.ts';
import { aMessage, asChange, asRetry } from '../sqs/messages.ts';
import { useTestQueues } from '../sqs/use-queues.ts';
import { createRecorder } from '../support/recorder.ts';
import { record, setUp } from './batch-harness.ts';

const nothing = { spec: z.object({}), status: z.object({}), conditions: [] };
const gadget = defineKind({ group: 'example.com', version: 'v1', kind: 'Gadget', ...nothing });
const site = defineKind({ group: 'example.com', version: 'v1', kind: 'Site', scope: 'Cluster', ...nothing });

const queues = await useTestQueues('gadget.fifo', 'site.fifo');
const send = createSend(queues.sqs, queues.urlPrefix);

const unreachable = createClient({ server: new URL('http://127.0.0.1:9') });
const changed = (more: Partial<Message> = {}) =>
  aMessage({ group: '', resource: 'configmaps', name: 'prices', ...more });

/** Runs a mapping function on a message, and returns the outcome and the messages on the queue. */
async function mapped(
  keys: (changed: Key, context: MapContext<ContextTypes>) => Promise<readonly Key[]>,
  message: Message = changed(),
  {
    messageId = 'm1',
    through = send,
    scope = 'Namespaced',
    watched = ConfigMap,
    changes,
    ownChanges,
  }: {
    messageId?: string;
    through?: Send;
    scope?: 'Namespaced' | 'Cluster';
    watched?: typeof ConfigMap | typeof Namespace;
    changes?: 'metadata';
    ownChanges?: 'metadata';
  } = {},
) {
  const watches = [{ kind: watched, mapToKeys: keys, ...(changes === undefined ? {} : { changes }) }];
  const reconcile = async () => ({ status: {}, conditions: {} });
  const controller =
    scope === 'Cluster'
      ? site.controller('site', { watches, reconcile })
      : gadget.controller('gadget', {
          ...{ reads: [ConfigMap], watches, reconcile },
          ...(ownChanges === undefined ? {} : { changes: ownChanges }),
        });
  const { name } = controller;
  const deps = { name, declaration: controller.declaration, instance: controller.start({}), now: () => new Date(0) };
  const { log } = createRecorder();
  const { signal } = new AbortController();
  const report = await createMapKeys(deps, through, async () => createFunctionIds())({
    client: unreachable,
    message,
    messageId,
    log,
    signal,
  });
  const received = await queues.drain(`${name}.fifo`);
  return { outcome: report.outcome, messages: received.map(({ Body = '' }) => parseMessage(Body)) };
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

it('isMapped is true for messages about another kind than the controller’s', () => {
  const { declaration } = gadget.controller('gadget', { reconcile: async () => ({ status: {}, conditions: {} }) });
  expect(isMapped(declaration, aMessage())).toBe(false);
  expect(isMapped(declaration, changed())).toBe(true);
  expect(isMapped(declaration, aMessage({ group: 'other.example.com' }))).toBe(true);
});

it('a key of the reconciled kind in the group of mapped keys is mapped to the others, and not to itself', async () => {
  const changedGadget = aMessage({ group: 'mapped.example.com', resource: 'gadgets', name: 'prices' });
  const ofGadgets = { watched: gadget as unknown as typeof ConfigMap };
  const { outcome, messages } = await mapped(async ({ name }) => [{ name }, { name: 'b' }], changedGadget, ofGadgets);
  expect(outcome).toEqual({ type: 'done' });
  const object = ['example.com', 'gadgets', 'shop', 'prices'];
  expect(messages).toMatchObject([{ group: 'example.com', resource: 'gadgets', name: 'b', cause: { object } }]);
});

it('a key of the reconciled kind is mapped to itself if changes are mapped that do not reconcile it, as of a label', async () => {
  const changedGadget = aMessage({ group: 'mapped.example.com', resource: 'gadgets', name: 'prices' });
  const ofGadgets = { watched: gadget as unknown as typeof ConfigMap, changes: 'metadata' } as const;
  const { messages } = await mapped(async ({ name }) => [{ name }], changedGadget, ofGadgets);
  expect(messages).toMatchObject([{ group: 'example.com', resource: 'gadgets', name: 'prices' }]);
  const sameChanges = { ...ofGadgets, ownChanges: 'metadata', messageId: 'm2' } as const;
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
  const { messages } = await mapped(keys, changed({ controller: 'site' }), { messageId: 'site', scope: 'Cluster' });
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
  const { declaration, start } = gadget.controller('gadget', {
    watches: [{ kind: ConfigMap, mapToKeys: async () => [{ name: 'four' }] }],
    reconcile: async () => ({ status: {}, conditions: {} }),
  });
  const deps = { name: 'gadget', declaration, instance: start({}), now: () => new Date(0) };
  const { run } = setUp(createMapKeys(deps, send, async () => createFunctionIds()));
  const first = record('prices', { group: '', resource: 'configmaps' });
  const sent = async (...records: readonly QueueRecord[]) => {
    await run(records);
    return (await queues.drain('gadget.fifo')).length;
  };
  expect(await sent(first)).toBe(1);
  expect(await sent({ ...first, receiveCount: 2 }, { ...first, messageId: 'm-second' })).toBe(1);
});

it('a mapping function that throws fails, and sends nothing', async () => {
  const { outcome, messages } = await mapped(async () => {
    throw new Error('no idea');
  });
  expect(outcome).toMatchObject({ type: 'failed', error: { message: 'no idea' } });
  expect(messages).toEqual([]);
});

it('keys that no object can have are named with their rule by the dead letter, and the other keys are sent once', async () => {
  const keys = async () => [{ name: 'a/b' }, { namespace: 'My Shop', name: 'four' }, { name: 'five' }];
  const { outcome, messages } = await mapped(keys, changed(), { messageId: 'partly' });
  expect(messages).toMatchObject([{ namespace: 'shop', name: 'five' }]);
  const message =
    'mapToKeys of configmaps: {"name":"a/b","namespace":"shop"} is not a key: name: must be one path segment; ' +
    '{"name":"four","namespace":"My Shop"} is not a key: namespace: must be a DNS label';
  expect(outcome).toMatchObject({ type: 'refused', error: { message } });
});

it('a key without a namespace is named by the dead letter if the changed object has none either', async () => {
  const { namespace: _, ...message } = changed({ resource: 'namespaces' });
  const { outcome, messages } = await mapped(async () => [{ name: 'six' }], message, { watched: Namespace });
  expect(messages).toEqual([]);
  const text = 'mapToKeys of namespaces: {"name":"six"} is not a key: name its namespace, as namespaces have none';
  expect(outcome).toMatchObject({ type: 'refused', error: { message: text } });
});

it('a mapping function whose keys are rejected fails', async () => {
  const through: Send = async (queue, entries) =>
    entries.map(() => ({ accepted: false, reason: `${queue} is unavailable` }));
  const { outcome } = await mapped(async () => [{ name: 'one' }], changed(), { through });
  expect(outcome).toMatchObject({ type: 'failed', error: { message: 'gadget.fifo is unavailable' } });
});

it('a message about a kind without a mapping function is refused', async () => {
  const { outcome } = await mapped(async () => [], changed({ resource: 'secrets' }));
  expect(outcome).toMatchObject({ type: 'refused', error: { message: expect.stringContaining('secrets') } });
});
