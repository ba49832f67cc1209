// An object that got its finalizer, after which the API server failed for the rest of the time: the retry names it, and
// becomes a dead letter if the object is gone. Only the messages; finalize-rescue.test.ts has the reconcile.
import { expect, it } from 'vitest';
import type { ReconcileReport } from '../../src/reconciling/report.ts';
import { createFunctionIds } from '../../src/sqs/deduplication.ts';
import { parseMessage } from '../../src/sqs/message.ts';
import type { QueueEntry } from '../../src/sqs/sender.ts';
import { nextTimerStep } from '../../src/timers/timer-message.ts';
import { asRetry } from '../sqs/messages.ts';
import { messageFor, postponed, record, requeued, setUp } from './batch-harness.ts';

const gone: ReconcileReport = { outcome: { type: 'nothing', reason: 'gone' }, foundUid: null, writes: 0 };
const unread = postponed();
const requeuedOther: ReconcileReport = { ...requeued, foundUid: 'b' };
const retryOf = (unverifiedUid: string) => asRetry({ attempt: 0, postponements: 1, unverifiedUid });
const uidsIn = (entries: readonly QueueEntry[]) =>
  entries.map(({ attributes }) => JSON.parse(attributes?.object ?? '{}').metadata.uid);

it('a reconcile that cannot verify an object names it in the retry, also after a hop through the timers', async () => {
  const error = new Error('no response');
  const outcome = { type: 'postponed', reason: 'unreachable', error, unverifiedUid: 'a' } as const;
  const { run, timers, deadLetters } = setUp({ outcome, foundUid: 'a', writes: 1 });
  expect(await run([record('north')])).toEqual([]);
  const [message = messageFor('none')] = timers();
  const step = nextTimerStep(message, { nowMs: 2_000_000_000_000, ids: createFunctionIds('secret') });
  expect(parseMessage(step.entry.body).cause).toMatchObject({ type: 'retry', unverifiedUid: 'a' });
  expect(deadLetters()).toEqual([]);
});

it.each([
  ['retry', retryOf('a')],
  ['redriven retry', { cause: { type: 'command', observedAt: 0, id: 'm', unverifiedUid: 'a' } } as const],
])('an unverified object of a %s that is gone is a dead letter with its identity', async (_, cause) => {
  const { run, deadLetters, seen } = setUp(gone);
  expect(await run([record('north', cause)])).toEqual([]);
  const [letter] = deadLetters();
  expect(letter?.attributes?.reason).toBe('possibly deleted before it was finalized: a');
  expect(JSON.parse(letter?.attributes?.object ?? '')).toEqual({
    metadata: { name: 'north', namespace: 'default', uid: 'a' },
  });
  seen.sending = false;
  expect(await run([record('south', retryOf('a'))])).toEqual(['m-south']);
});

it('an unverified object that was replaced by another one is a dead letter, and the other one is reconciled', async () => {
  const { run, timers, deadLetters } = setUp(requeuedOther);
  await run([record('north', retryOf('a'))]);
  expect(uidsIn(deadLetters())).toEqual(['a']);
  expect(timers()).toMatchObject([{ cause: { type: 'requeue' } }]);
});

it('an unverified object that exists is no dead letter, and is not named again', async () => {
  const { run, timers, deadLetters } = setUp({ ...unread, foundUid: 'a' });
  await run([record('north', retryOf('a'))]);
  expect(deadLetters()).toEqual([]);
  expect(timers()[0]?.cause).not.toHaveProperty('unverifiedUid');
});

it('an unverified object is named until a read succeeds, also if its retry is merged with a change', async () => {
  const { run, timers, deadLetters } = setUp(unread);
  await run([record('north'), record('north', retryOf('a'))]);
  expect(timers()).toMatchObject([{ cause: { type: 'retry', unverifiedUid: 'a' } }]);
  expect(deadLetters()).toEqual([]);
});

it('of two unverified objects of one name none is forgotten', async () => {
  const { run, timers, deadLetters } = setUp(unread);
  await run([record('north', retryOf('a')), record('north', retryOf('b'))]);
  expect(uidsIn(deadLetters())).toEqual(['b']);
  expect(timers()).toMatchObject([{ cause: { unverifiedUid: 'a' } }]);
  const found = setUp(gone);
  await found.run([record('north', retryOf('a')), record('north', retryOf('b'))]);
  const letters = found.deadLetters();
  expect(uidsIn(letters)).toEqual(['a', 'b']);
  expect(new Set(letters.map(({ deduplicationId }) => deduplicationId)).size).toBe(2);
});

it('an object that its own reconcile finds gone, without its finalize, is a dead letter beside the outcome of the new one', async () => {
  const orphan = { uid: 'a', object: JSON.stringify({ metadata: { uid: 'a' }, spec: { size: 1 } }) };
  const { run, seen, timers, deadLetters } = setUp({ ...requeuedOther, orphan });
  expect(await run([record('north')])).toEqual([]);
  expect(deadLetters().map(({ attributes }) => attributes?.object)).toEqual([orphan.object]);
  expect(timers()).toMatchObject([{ cause: { type: 'requeue' } }]);
  seen.sending = false;
  expect(await run([record('south')])).toEqual(['m-south']);
});
