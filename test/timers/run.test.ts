// A batch of the timers queue: from records to the messages on the controllers' queues, the timers queue and the
// dead-letter queue. Against an SQS server. Only failing sends are simulated.
import { expect, it } from 'vitest';
import { createFunctionIds } from '../../src/sqs/deduplication.ts';
import { createDepth } from '../../src/sqs/depth.ts';
import type { CauseOf, Message } from '../../src/sqs/message.ts';
import { formatMessage } from '../../src/sqs/message.ts';
import type { QueueRecord } from '../../src/sqs/record.ts';
import { createSend } from '../../src/sqs/send.ts';
import type { QueueEntry, Send } from '../../src/sqs/sender.ts';
import { createTimers, type TimersDeps } from '../../src/timers/run.ts';
import { aMessage, asRequeue, asResync, asRetry } from '../sqs/messages.ts';
import { roles, senders } from '../sqs/sender-roles.ts';
import { useTestQueues } from '../sqs/use-queues.ts';
import { createRecorder } from '../support/recorder.ts';

const dueAt = 1_700_000_100;
const nowMs = dueAt * 1000;
const { signal } = new AbortController();

const queues = await useTestQueues('gadget.fifo', 'widget.fifo', 'other.fifo', 'timers', 'timers-dlq');
const send = createSend(queues.sqs, queues.urlPrefix);

const record = (messageId: string, body: string): QueueRecord => {
  return { messageId, body, receiptHandle: messageId, groupId: undefined, receiveCount: 1, firstReceivedAt: nowMs };
};
type Changes = Partial<Message> & Partial<CauseOf<'requeue'>>;
const timed = (messageId: string, { slot = `30/${messageId}`, dueAt: at = dueAt, ...changes }: Changes) =>
  record(messageId, formatMessage(aMessage({ ...asRequeue({ dueAt: at, slot }), ...changes })));
const run = async (
  records: readonly QueueRecord[],
  through: Send = send,
  check?: TimersDeps['senders'],
  controllers = ['gadget', 'widget', 'gone'],
) => {
  const recorder = createRecorder();
  const returned: string[] = [];
  const timers = createTimers({
    controllers: new Set(controllers),
    ids: async () => createFunctionIds('secret'),
    send: through,
    returnMessages: async (kept) => void returned.push(...kept.map(({ receiptHandle }) => receiptHandle)),
    sqsNow: ({ firstReceivedAt }) => firstReceivedAt,
    ...(check === undefined ? {} : { senders: check }),
    ...recorder,
  });
  return { failed: await timers(records, { signal }), returned, recorder };
};
const bodies = async (queue: string) =>
  (await queues.drain(queue)).map(({ Body = '' }) => JSON.parse(Body).object[3]).sort();

const requeueOf = (controller: string) => formatMessage(aMessage({ controller, ...asRequeue({ slot: '3/1' }) }));
const changeOf = (controller: string) => formatMessage(aMessage({ controller }));

it('createTimers sends due messages to the queues of their controllers', async () => {
  const other = timed('t3', { name: 'c', controller: 'widget' });
  const { failed } = await run([timed('t1', { name: 'a' }), timed('t2', { name: 'b' }), other]);
  expect(failed).toEqual([]);
  expect(await bodies('gadget.fifo')).toEqual(['a', 'b']);
  expect(await bodies('widget.fifo')).toEqual(['c']);
});

it('createTimers merges chains with the same slot, in one batch or in two', async () => {
  const same = { name: 'merged', slot: '30/1' };
  expect((await run([timed('m1', same), timed('m2', same)])).failed).toEqual([]);
  expect((await run([timed('m3', same)])).failed).toEqual([]);
  expect(await bodies('gadget.fifo')).toEqual(['merged']);
});

it('createTimers forwards a genuine timer beside a forged one with the same slot and a later due time, and delays the earlier one', async () => {
  const delayed: number[] = [];
  const recording: Send = async (queue, entries, options) => {
    if (queue !== 'timers') return await send(queue, entries, options);
    delayed.push(...entries.map(({ body }) => JSON.parse(body).cause.dueAt));
    return entries.map(() => ({ accepted: true, messageId: 'm' }));
  };
  const slot = { name: 'genuine', slot: '30/77' };
  await run([timed('f1', { ...slot, dueAt: dueAt + 5_000 }), timed('g1', slot)], recording);
  expect(await bodies('gadget.fifo')).toEqual(['genuine']);
  delayed.length = 0;
  const hop = { ...slot, slot: '30/79' };
  const at = (id: string, seconds: number) => timed(id, { ...hop, dueAt: dueAt + seconds });
  await run([at('f3', 90_000), at('g3', 2_000)], recording);
  expect(delayed).toEqual([dueAt + 2_000]);
});

// Control T67.
it('createTimers sends a message that is due in the year 9999 to the dead-letter queue: it would hop for ever', async () => {
  expect((await run([timed('z', { name: 'never', dueAt: 253_402_300_799 })])).failed).toEqual([]);
  expect(await bodies('timers-dlq')).toEqual(['never']);
});

it('createTimers delays messages that are not due again, and merges equal ones', async () => {
  const early = { dueAt: dueAt + 5_000, slot: '30/9' };
  const names = ['far', 'far', 'other'];
  const { failed } = await run(names.map((name, number) => timed(`h${number}`, { name, ...early })));
  expect(failed).toEqual([]);
  const depth = await createDepth(queues.sqs, queues.urlPrefix)('timers', { signal });
  expect(depth).toEqual({ visible: 0, inFlight: 0, delayed: 2 });
  expect(await bodies('gadget.fifo')).toEqual([]);
});

it.each([
  ['is not a message', 'x1', 'not json', 'the body is not JSON'],
  ['is a change, which has no due time', 'x2', formatMessage(aMessage()), 'cause: change'],
  ['is for a controller without a queue', 'x3', requeueOf('gone'), 'gone.fifo'],
  ['is a change of an unknown controller', 'x4', changeOf('other'), 'controller: other is unknown'],
])('createTimers sends a dead letter with the reason for a record that %s', async (_, id, body, reason) => {
  const { failed, recorder } = await run([record(id, body), timed(`good ${id}`, { name: 'good' })]);
  expect(failed).toEqual([]);
  expect(await bodies('gadget.fifo')).toEqual(['good']);
  const [deadLetter, ...more] = await queues.drain('timers-dlq');
  expect(more).toEqual([]);
  expect(deadLetter?.Body).toBe(body);
  expect(deadLetter?.MessageAttributes?.reason?.StringValue).toContain(reason);
  expect(deadLetter?.MessageAttributes?.messageId?.StringValue).toBe(id);
  expect(recorder.counts.get('DeadLetters')).toBe(1);
});

/** A Send that keeps what is sent to the timers queue. */
const holding = (kept: QueueEntry[]): Send => {
  return async (queue, entries, options) => {
    if (queue !== 'timers') return await send(queue, entries, options);
    kept.push(...entries);
    return entries.map(() => ({ accepted: true, messageId: 'm' }));
  };
};
const mayCopy = () => true;

it('B21: createTimers keeps a key of a controller that is not deployed yet for a day, at first by 30 seconds, and then sends a dead letter', async () => {
  const body = formatMessage(aMessage({ controller: 'other', ...asResync() }));
  const waiting: QueueEntry[] = [];
  const at = (seconds: number, unknownSince?: string) => {
    return { ...record(`u${seconds}`, body), unknownSince, firstReceivedAt: nowMs + seconds * 1000 };
  };
  const unknownSince = new Date(nowMs).toISOString();
  const first = [at(0), at(0, 'forged'), at(0, '9999-01-01T00:00:00Z'), at(599, unknownSince)];
  for (const one of [...first, at(600, unknownSince), at(86_399, unknownSince)])
    expect((await run([one], holding(waiting))).failed).toEqual([]);
  // B21: soon while a deployment runs, and later each five minutes.
  const delays = [30, 30, 30, 30, 300, 300];
  expect(waiting).toMatchObject(delays.map((delaySeconds) => ({ body, delaySeconds, attributes: { unknownSince } })));
  expect(await bodies('timers-dlq')).toEqual([]);
  await run([at(86_400, unknownSince)], holding(waiting));
  expect(await bodies('timers-dlq')).toEqual(['one']);
  // The sender is kept as it was when SQS reported it.
  const { id, session } = senders.watcherOfAlpha;
  await run([{ ...at(0), senderId: `${id}:${session}` }], holding(waiting), { roles, mayCopy });
  expect(waiting.at(-1)?.attributes).toEqual({ unknownSince, sender: id });
});

it('createTimers of a former version keeps timed messages of a new controller, and the next one forwards them', async () => {
  const event = { cause: { type: 'wake', observedAt: nowMs, source: 's', id: 'e', dueAt } } as const;
  const sent = [asRequeue(), asRetry(), event].map((cause, number) => {
    const body = formatMessage(aMessage({ controller: 'other', name: `${number}`, ...cause }));
    const sender = cause === event ? senders.wake.id : 'AROAOTHER';
    return { ...record(`k${number}`, body), senderId: `${sender}:session` };
  });
  const forged = { ...record('forged', requeueOf('other')), senderId: senders.gadget.id };
  const woken = { ...record('woken', sent.at(-1)?.body ?? ''), senderId: 'AROAOTHER:session' };
  const kept: QueueEntry[] = [];
  await run([...sent, forged, woken], holding(kept), { roles, mayCopy });
  const refused = await queues.drain('timers-dlq');
  expect(refused.map(({ MessageAttributes: one }) => one?.messageId?.StringValue)).toEqual(['forged', 'woken']);
  const again = kept.map(({ body, attributes: { sender: stampedSender } = {} }, number) => {
    return { ...record(`a${number}`, body), senderId: senders.timers.id, stampedSender };
  });
  await run(again, send, { roles: new Map([...roles, ['other', 'AROAOTHER']]), mayCopy }, ['other']);
  const forwarded = await queues.drain('other.fifo');
  const stamped = forwarded.map(({ MessageAttributes: one }) => one?.sender?.StringValue);
  expect(stamped.toSorted()).toEqual(['AROAOTHER', 'AROAOTHER', senders.wake.id]);
});

it('createTimers sends a body of the size that a queue accepts to the dead-letter queue, where its attributes do not fit', async () => {
  const body = 'x'.repeat(1_048_576);
  const { failed } = await run([record('large', body)]);
  expect(failed).toEqual([]);
  expect((await queues.drain('timers-dlq')).map((deadLetter) => deadLetter.Body === body)).toEqual([true]);
});

it('createTimers keeps exactly the messages whose follow-up was rejected, and returns them early', async () => {
  const rejectingWidgets: Send = async (queue, entries, options) =>
    queue === 'widget.fifo'
      ? entries.map(() => ({ accepted: false, reason: 'throttled' }))
      : send(queue, entries, options);
  const rejected = [timed('k2', { controller: 'widget' }), timed('k3', { controller: 'widget', name: 'w' })];
  const { failed, returned } = await run([timed('k1', { name: 'a' }), ...rejected], rejectingWidgets);
  expect(failed).toEqual(['k2', 'k3']);
  expect(returned).toEqual(['k2', 'k3']);
  expect(await bodies('gadget.fifo')).toEqual(['a']);
});

it.each<[string, Send]>([
  ['SQS rejects everything', async (_, entries) => entries.map(() => ({ accepted: false, reason: 'down' }))],
  ['no queue exists, not even the dead-letter queue', createSend(queues.sqs, `${queues.urlPrefix}elsewhere-`)],
])('createTimers keeps all messages, malformed ones included, if %s', async (_, through) => {
  const { failed, recorder } = await run([record('p1', 'not json'), timed('p2', {})], through);
  expect(failed).toEqual(['p1', 'p2']);
  expect(recorder.counts.get('DeadLetters') ?? 0).toBe(0);
});
