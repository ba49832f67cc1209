// From a message about a watched object to the keys of the primaries that it concerns, on the controller's own queue.
// Against an SQS server; what the mapping function may read of the cluster is access, tested with the reconcile.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { defineController } from '../../src/core/controller.ts';
import type { Key } from '../../src/core/key.ts';
import { existingKind } from '../../src/core/kind.ts';
import { defineResource } from '../../src/core/resource.ts';
import { createClient } from '../../src/kube/client/client.ts';
import type { Message } from '../../src/queue/message.ts';
import { parseMessage } from '../../src/queue/message.ts';
import { createSend } from '../../src/queue/send.ts';
import type { Send } from '../../src/sqs/sender.ts';
import { createMapKeys, isMapped } from '../../src/runtime/map-keys.ts';
import { startTestQueues, type TestQueues } from '../sqs/fauxqs.ts';
import { aMessage } from '../queue/messages.ts';
import { createWitness } from '../support/recorder.ts';

const gadget = defineResource({
  group: 'example.com',
  version: 'v1',
  kind: 'Gadget',
  spec: z.object({}),
  status: z.object({}),
  conditions: [],
});
const site = defineResource({
  group: 'example.com',
  version: 'v1',
  kind: 'Site',
  scope: 'Cluster',
  spec: z.object({}),
  status: z.object({}),
  conditions: [],
});
const configMap = existingKind<{ readonly metadata: { readonly name: string } }>({
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
});

let queues: TestQueues;
let send: Send;
beforeAll(async () => {
  queues = await startTestQueues();
  await queues.create('gadget.fifo', 'site.fifo');
  send = createSend(queues.sqs, queues.urlPrefix);
});
afterAll(async () => await queues.stop());

const nobody = createClient({ server: new URL('http://127.0.0.1:9') });
const changed = (more: Partial<Message> = {}) =>
  aMessage({ group: '', resource: 'configmaps', name: 'prices', lane: 'watch', ...more });

/** Runs a mapping function on a message, and tells the outcome and the keys that are on the queue. */
async function mapped(
  keys: (changed: Key) => Promise<readonly Key[]>,
  message: Message = changed(),
  {
    messageId = 'm1',
    through = send,
    kind = gadget,
  }: { messageId?: string; through?: Send; kind?: typeof gadget } = {},
) {
  const name = kind.namespaced ? 'gadget' : 'site';
  const controller = defineController(kind)({
    name,
    watches: [{ kind: configMap, keys }],
    reconcile: async () => ({ status: {}, conditions: {} }),
  });
  const parts = { name, declares: controller.declares, running: controller.start({}), now: () => new Date(0) };
  const { log } = createWitness();
  const { signal } = new AbortController();
  const report = await createMapKeys(parts, through)({ client: nobody, message, messageId, log, signal });
  const found = await queues.drain(`${name}.fifo`);
  return { outcome: report.outcome, messages: found.map(({ Body = '' }) => parseMessage(Body)) };
}

describe('a mapping function', () => {
  it('is for messages about another kind than the controller reconciles', () => {
    const { declares } = defineController(gadget)({
      name: 'gadget',
      reconcile: async () => ({ status: {}, conditions: {} }),
    });
    expect(isMapped(declares, aMessage())).toBe(false);
    expect(isMapped(declares, changed())).toBe(true);
    expect(isMapped(declares, aMessage({ group: 'other.example.com' }))).toBe(true);
  });

  it('sees only the key, and its keys are on the queue as first attempts', async () => {
    let seen: Key | undefined;
    const { outcome, messages } = await mapped(
      async (key) => {
        seen = key;
        return [{ namespace: 'shop', name: 'one' }];
      },
      changed({ attempt: 3, deferrals: 2, uid: 'u', resourceVersion: '7' }),
      { messageId: 'first' },
    );
    expect(seen).toEqual({ namespace: 'shop', name: 'prices' });
    expect(outcome).toEqual({ type: 'done' });
    expect(messages).toEqual([aMessage({ lane: 'watch' })]);
  });

  it('may hand back whole metadata, and leave the namespace to that of what changed', async () => {
    const metadata = { name: 'two', uid: 'u', generation: 4, labels: { a: 'b' } };
    const { outcome, messages } = await mapped(async () => [metadata], changed(), { messageId: 'whole' });
    expect(outcome).toEqual({ type: 'done' });
    expect(messages).toEqual([aMessage({ lane: 'watch', name: 'two' })]);
  });

  it('of a cluster-scoped kind makes keys without a namespace', async () => {
    const keys = async () => [{ namespace: 'shop', name: 'one' }];
    const { messages } = await mapped(keys, changed({ controller: 'site' }), { messageId: 'site', kind: site });
    expect(messages).toHaveLength(1);
    expect(messages[0]).not.toHaveProperty('namespace');
  });

  it('run twice for one message makes each key once', async () => {
    const keys = async () => [{ name: 'three' }];
    const first = await mapped(keys, changed(), { messageId: 'again' });
    const second = await mapped(keys, changed(), { messageId: 'again' });
    expect([first.messages.length, second.messages.length]).toEqual([1, 0]);
    expect((await mapped(keys, changed(), { messageId: 'another' })).messages).toHaveLength(1);
  });

  it('that throws has failed, and sends nothing', async () => {
    const { outcome, messages } = await mapped(async () => {
      throw new Error('no idea');
    });
    expect(outcome).toMatchObject({ type: 'failed', error: { message: 'no idea' } });
    expect(messages).toEqual([]);
  });

  it('whose keys are not accepted has failed', async () => {
    const through: Send = async (queue, entries) =>
      entries.map(() => ({ accepted: false, reason: `${queue} is away` }));
    const { outcome } = await mapped(async () => [{ name: 'one' }], changed(), { through });
    expect(outcome).toMatchObject({ type: 'failed', error: { message: 'gadget.fifo is away' } });
  });

  it('that nobody declared for the kind refuses the message', async () => {
    const { outcome } = await mapped(async () => [], changed({ resource: 'secrets' }));
    expect(outcome).toMatchObject({ type: 'refused', error: { message: expect.stringContaining('secrets') } });
  });
});
