// An object that got its finalizer, after which the API server failed for the rest of the time: the retry names it, and
// becomes a dead letter if the object is gone. Only the messages; finalize-rescue.test.ts has the reconcile.
import { expect, it } from 'vitest';
import type { ReconcileReport } from '../../src/reconciling/report.ts';
import { createFunctionIds } from '../../src/sqs/deduplication.ts';
import { parseMessage } from '../../src/sqs/message.ts';
import type { QueueEntry } from '../../src/sqs/sender.ts';
import { nextTimerStep } from '../../src/timers/timer-message.ts';
import { asRetry } from '../sqs/messages.ts';
import { record, setUp } from './batch-harness.ts';

const error = new Error('no response');
const gone: ReconcileReport = { outcome: { type: 'nothing', reason: 'gone' }, foundUid: null, writes: 0 };
const unread: ReconcileReport = { outcome: { type: 'postponed', reason: 'unreachable', error }, writes: 0 };
const requeued: ReconcileReport = { outcome: { type: 'done', requeueAfterSeconds: 5 }, foundUid: 'b', writes: 0 };
const retryOf = (unverifiedUid: string) => asRetry({ attempt: 0, postponements: 1, unverifiedUid });
const causesIn = (entries: readonly QueueEntry[] = []) => entries.map(({ body }) => parseMessage(body).cause);
const uidsIn = (entries: readonly QueueEntry[] = []) =>
  entries.map(({ attributes }) => JSON.parse(attributes?.object ?? '{}').metadata.uid);

it('a reconcile that cannot verify an object names it in the retry, also after a hop through the timers', async () => {
  const outcome = { type: 'postponed', reason: 'unreachable', error, unverifiedUid: 'a' } as const;
  const { run, queues } = setUp(async () => ({ outcome, foundUid: 'a', writes: 1 }));
  expect(await run([record('north')])).toEqual([]);
  const [timer] = queues.get('timers') ?? [];
  const message = parseMessage(timer?.body ?? '');
  const step = nextTimerStep(message, { nowMs: 2_000_000_000_000, ids: createFunctionIds('secret') });
  expect(causesIn([step.entry])).toMatchObject([{ type: 'retry', unverifiedUid: 'a' }]);
  expect(queues.get('water-tank-dlq.fifo')).toBeUndefined();
});

it('an unverified object that is gone is a dead letter with its identity', async () => {
  const { run, queues, seen } = setUp(async () => gone);
  expect(await run([record('north', retryOf('a'))])).toEqual([]);
  const [letter] = queues.get('water-tank-dlq.fifo') ?? [];
  expect(letter?.attributes?.reason).toBe('possibly deleted before it was finalized: a');
  expect(JSON.parse(letter?.attributes?.object ?? '')).toEqual({
    metadata: { name: 'north', namespace: 'default', uid: 'a' },
  });
  seen.sending = false;
  expect(await run([record('south', retryOf('a'))])).toEqual(['m-south']);
});

it('an unverified object that was replaced by another one is a dead letter, and the other one is reconciled', async () => {
  const { run, queues } = setUp(async () => requeued);
  await run([record('north', retryOf('a'))]);
  expect(uidsIn(queues.get('water-tank-dlq.fifo'))).toEqual(['a']);
  expect(causesIn(queues.get('timers'))).toMatchObject([{ type: 'requeue' }]);
});

it('an unverified object that exists is no dead letter, and is not named again', async () => {
  const { run, queues } = setUp(async () => ({ ...unread, foundUid: 'a' }));
  await run([record('north', retryOf('a'))]);
  expect(queues.get('water-tank-dlq.fifo')).toBeUndefined();
  expect(causesIn(queues.get('timers'))[0]).not.toHaveProperty('unverifiedUid');
});

it('an unverified object is named until a read succeeds, also if its retry is merged with a change', async () => {
  const { run, queues } = setUp(async () => unread);
  await run([record('north'), record('north', retryOf('a'))]);
  expect(causesIn(queues.get('timers'))).toMatchObject([{ type: 'retry', unverifiedUid: 'a' }]);
  expect(queues.get('water-tank-dlq.fifo')).toBeUndefined();
});

it('of two unverified objects of one name none is forgotten', async () => {
  const { run, queues } = setUp(async () => unread);
  await run([record('north', retryOf('a')), record('north', retryOf('b'))]);
  expect([...uidsIn(queues.get('water-tank-dlq.fifo')), ...causesIn(queues.get('timers'))]).toEqual([
    'b',
    expect.objectContaining({ unverifiedUid: 'a' }),
  ]);
  const found = setUp(async () => gone);
  await found.run([record('north', retryOf('a')), record('north', retryOf('b'))]);
  const letters = found.queues.get('water-tank-dlq.fifo') ?? [];
  expect(uidsIn(letters)).toEqual(['a', 'b']);
  expect(new Set(letters.map(({ deduplicationId }) => deduplicationId)).size).toBe(2);
});

it('an object that its own reconcile finds gone, without its finalize, is a dead letter beside the outcome of the new one', async () => {
  const orphan = { uid: 'a', object: JSON.stringify({ metadata: { uid: 'a' }, spec: { size: 1 } }) };
  const { run, queues, seen } = setUp(async () => ({ ...requeued, orphan }));
  expect(await run([record('north')])).toEqual([]);
  expect(queues.get('water-tank-dlq.fifo')?.map(({ attributes }) => attributes?.object)).toEqual([orphan.object]);
  expect(causesIn(queues.get('timers'))).toMatchObject([{ type: 'requeue' }]);
  seen.sending = false;
  expect(await run([record('south')])).toEqual(['m-south']);
});
