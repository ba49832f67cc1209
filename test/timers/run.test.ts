// A batch of the timers queue: from records to what is on the controllers' queues, the timers queue and the dead letters.
// Against an SQS server; only sends that fail are made up.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDepth } from '../../src/sqs/depth.ts';
import type { Message } from '../../src/queue/message.ts';
import { formatMessage } from '../../src/queue/message.ts';
import { createSend } from '../../src/queue/send.ts';
import type { Send } from '../../src/sqs/sender.ts';
import type { QueueRecord } from '../../src/runtime/intake.ts';
import { createTimers } from '../../src/runtime/timers.ts';
import { startTestQueues, type TestQueues } from '../sqs/fauxqs.ts';
import { aMessage } from '../queue/messages.ts';
import { createWitness } from '../support/recorder.ts';

const dueAt = 1_700_000_100;
const nowMs = dueAt * 1000;
const { signal } = new AbortController();

let queues: TestQueues;
let send: Send;
beforeAll(async () => {
  queues = await startTestQueues();
  await queues.create('gadget.fifo', 'widget.fifo', 'timers', 'timers-dlq');
  send = createSend(queues.sqs, queues.urlPrefix);
});
afterAll(async () => await queues.stop());

const record = (messageId: string, body: string): QueueRecord => {
  return { messageId, body, receiptHandle: messageId, groupId: undefined, receiveCount: 1, firstReceivedAt: nowMs };
};
const timed = (messageId: string, changes: Partial<Message>) =>
  record(messageId, formatMessage(aMessage({ dueAt, slot: `30/${messageId}`, ...changes })));
const run = async (records: readonly QueueRecord[], through: Send = send) => {
  const witness = createWitness();
  const timers = createTimers({ send: through, sqsNow: ({ firstReceivedAt }) => firstReceivedAt, ...witness });
  return { failed: await timers(records, { signal }), witness };
};
const bodies = async (queue: string) =>
  (await queues.drain(queue)).map(({ Body = '' }) => JSON.parse(Body).name ?? Body).sort();

describe('the timers', () => {
  it('bring what is due to the queue of its controller, and keep nothing', async () => {
    const { failed } = await run([
      timed('t1', { name: 'a' }),
      timed('t2', { name: 'b' }),
      timed('t3', { name: 'c', controller: 'widget' }),
    ]);
    expect(failed).toEqual([]);
    expect(await bodies('gadget.fifo')).toEqual(['a', 'b']);
    expect(await bodies('widget.fifo')).toEqual(['c']);
  });

  it('let chains that meet in a slot go on as one, in one batch or in two', async () => {
    const same = { name: 'met', slot: '30/1' };
    expect((await run([timed('m1', same), timed('m2', same)])).failed).toEqual([]);
    expect((await run([timed('m3', same)])).failed).toEqual([]);
    expect(await bodies('gadget.fifo')).toEqual(['met']);
  });

  it('let what is not due yet wait on, equal ones as one', async () => {
    const early = { dueAt: dueAt + 5_000, slot: '30/9' };
    const { failed } = await run([
      timed('h1', { name: 'far', ...early }),
      timed('h2', { name: 'far', ...early }),
      timed('h3', { name: 'other', ...early }),
    ]);
    expect(failed).toEqual([]);
    const { sqs } = queues;
    expect(await createDepth(sqs, queues.urlPrefix)('timers', { signal })).toEqual({
      visible: 0,
      inFlight: 0,
      delayed: 2,
    });
    expect(await bodies('gadget.fifo')).toEqual([]);
  });

  it.each([
    ['no message at all', 'x1', 'not json', 'the body is not JSON'],
    ['a change that never waits', 'x2', formatMessage(aMessage({ lane: 'watch' })), 'lane: watch'],
    [
      'for a controller that is not there',
      'x3',
      formatMessage(aMessage({ controller: 'gone', slot: '3/1' })),
      'gone.fifo',
    ],
  ])('lay aside, with the reason, what is %s', async (_, id, body, reason) => {
    const { failed, witness } = await run([record(id, body), timed(`good ${id}`, { name: 'good' })]);
    expect(failed).toEqual([]);
    expect(await bodies('gadget.fifo')).toEqual(['good']);
    const [dead, ...more] = await queues.drain('timers-dlq');
    expect(more).toEqual([]);
    expect(dead?.Body).toBe(body);
    expect(dead?.MessageAttributes?.reason?.StringValue).toContain(reason);
    expect(dead?.MessageAttributes?.messageId?.StringValue).toBe(id);
    expect(witness.counts.get('DeadLetters')).toBe(1);
  });

  it('keep exactly the messages whose way was not accepted', async () => {
    const flaky: Send = async (queue, entries, options) =>
      queue === 'widget.fifo'
        ? entries.map(() => ({ accepted: false, reason: 'throttled' }))
        : send(queue, entries, options);
    const { failed } = await run(
      [
        timed('k1', { name: 'a' }),
        timed('k2', { controller: 'widget' }),
        timed('k3', { controller: 'widget', name: 'w' }),
      ],
      flaky,
    );
    expect(failed).toEqual(['k2', 'k3']);
    expect(await bodies('gadget.fifo')).toEqual(['a']);
  });

  it('keep a poisoned message too when the dead-letter queue does not take it', async () => {
    const nothingTaken: Send = async (_, entries) => entries.map(() => ({ accepted: false, reason: 'down' }));
    const { failed } = await run([record('p1', 'not json'), timed('p2', {})], nothingTaken);
    expect(failed).toEqual(['p1', 'p2']);
  });

  it('keep everything when no queue is there, the dead letters’ included', async () => {
    const wrongPrefix = createSend(queues.sqs, `${queues.urlPrefix}elsewhere-`);
    const { failed } = await run([record('w1', 'not json'), timed('w2', {})], wrongPrefix);
    expect(failed).toEqual(['w1', 'w2']);
  });
});
