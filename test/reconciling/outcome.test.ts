// Only the follow-up of a message after its reconcile: every row of the outcome table, as values. Sending is in
// batch.test.ts.
import { expect, it } from 'vitest';
import { defaultRetry } from '../../src/core/controller-options.ts';
import { ApiError } from '../../src/kube/client/errors.ts';
import { type Action, decide, type Outcome } from '../../src/reconciling/outcome.ts';
import { createFunctionIds } from '../../src/sqs/deduplication.ts';
import { dueAtOf, type Message, observedAtOf } from '../../src/sqs/message.ts';
import { aMessage, asChange, asCommand, asRequeue, asRetry } from '../sqs/messages.ts';

const nowMs = 1_800_000_000_000;
const message = aMessage(asChange({ uid: 'u1', resourceVersion: '17', observedAt: nowMs - 500 }));
const retried = (changes: Parameters<typeof asRetry>[0]) => ({ ...message, ...asRetry(changes) });
const error = new Error('no');

function timerOf(outcome: Outcome, from: Message = message): Message {
  const action: Action = decide(outcome, from, nowMs);
  if (action.type !== 'timer') throw new Error(`expected a timer, got ${action.type}`);
  return action.message;
}

/** Returns the delay of a message, in seconds. */
function delayOf(next: Message): number {
  return Number(slotOf(next).split('/')[0]);
}

function slotOf({ cause }: Message): string {
  return 'slot' in cause ? cause.slot : '';
}

it.each<[string, Outcome]>([
  ['done', { type: 'done' }],
  ['object gone', { type: 'nothing', reason: 'gone' }],
  ['namespace terminating', { type: 'nothing', reason: 'namespace-terminating' }],
  ['paused', { type: 'nothing', reason: 'paused' }],
  ['TerminalError', { type: 'terminal', error }],
  ['an error while already Stalled at this generation', { type: 'failed', error, stalledBefore: true }],
])('a message is deleted after: %s', (_, outcome) => {
  expect(decide(outcome, message, nowMs)).toEqual({ type: 'delete' });
});

it('a message about a kind that is not the controller’s becomes a dead letter with the reason', () => {
  expect(decide({ type: 'refused', error }, message, nowMs)).toEqual({ type: 'dead-letter', reason: 'no' });
});

it('a requeue has no attempts, and is due after 0.5 to 1.5 times the delay', () => {
  const next = timerOf({ type: 'done', requeueAfterSeconds: 30 }, retried({ attempt: 4, postponements: 2 }));
  expect(next).toEqual({ ...message, cause: { type: 'requeue', slot: expect.any(String), dueAt: expect.any(Number) } });
  expect(dueAtOf(next)).toBeGreaterThanOrEqual(nowMs / 1000 + 15);
  expect(dueAtOf(next)).toBeLessThanOrEqual(nowMs / 1000 + 46);
});

it('a requeue of a requeue is due exactly one delay later', () => {
  const first = timerOf({ type: 'done', requeueAfterSeconds: 30 });
  const dueAt = dueAtOf(first) ?? 0;
  const action = decide({ type: 'done', requeueAfterSeconds: 30 }, first, dueAt * 1000 + 200);
  expect(action).toMatchObject({ type: 'timer', message: { cause: { dueAt: dueAt + 30 } } });
});

it('a timer is later than the latest due time of the merged messages', () => {
  const afterDueAt = nowMs / 1000 + 30;
  const action = decide({ type: 'done', requeueAfterSeconds: 1 }, message, nowMs, { afterDueAt });
  expect(action).toMatchObject({ type: 'timer', message: { cause: { dueAt: afterDueAt + 1 } } });
});

it('a forged due time of the year 9999 does not delay the next requeue', () => {
  const forged = aMessage(asRequeue({ dueAt: 253_402_300_799, slot: '30/1' }));
  const action = decide({ type: 'done', requeueAfterSeconds: 30 }, forged, nowMs);
  if (action.type !== 'timer') throw new Error(action.type);
  expect(dueAtOf(action.message)).toBeLessThanOrEqual(nowMs / 1000 + 60 + 30 + 1);
});

it.each<[string, number, Parameters<typeof decide>[3], number]>([
  ['in an hour is at that time', 3_600_000, {}, 3_600],
  ['with milliseconds is not before it', 10_001, {}, 11],
  ['of which a message may have been received two seconds early is later than that', 1_000, {}, 2],
  ['that the current message was due at, and early, is later than that', 500, { afterDueAt: nowMs / 1000 + 1 }, 2],
  ['that the current message was due at, and minutes early, too', 359_000, { afterDueAt: nowMs / 1000 + 359 }, 360],
  ['is at that time after a forged due time', 359_000, { afterDueAt: nowMs / 1000 + 361 }, 359],
  ['in two years is in one', 63_072_000_000, {}, 31_536_000],
])('a requeue at a time %s', (_, inMs, times, seconds) => {
  const dueAt = nowMs / 1000 + seconds;
  const action = decide({ type: 'done', requeueAt: new Date(nowMs + inMs) }, message, nowMs, times);
  expect(action).toMatchObject({ type: 'timer', message: { cause: { type: 'requeue', dueAt, slot: `1/${dueAt}` } } });
});

it.each([
  [0, '1/'],
  [20_000, '20/'],
  [86_400_000, '300/'],
])('a requeue at a time that is %d ms past waits as long as that, from a second to five minutes', (agoMs, slot) => {
  const action = decide({ type: 'done', requeueAt: new Date(nowMs - agoMs) }, message, nowMs);
  expect(action).toMatchObject({ message: { cause: { type: 'requeue', slot: expect.stringContaining(slot) } } });
});

it.each<[string, Outcome]>([
  ['done without a requeue', { type: 'done' }],
  ['gone', { type: 'nothing', reason: 'gone' }],
  ['terminal', { type: 'terminal', error }],
])('a key received minutes before its due time that is %s is reconciled after it: SQS drops the slot until then', (_, outcome) => {
  const dueAt = nowMs / 1000 + 200;
  const early = aMessage(asRequeue({ dueAt, slot: '300/1' }));
  const next = { type: 'requeue', dueAt: dueAt + 1, slot: `1/${dueAt + 1}` };
  expect(decide(outcome, early, nowMs)).toMatchObject({ type: 'timer', message: { cause: next } });
  expect(decide(outcome, early, (dueAt - 3) * 1000)).toMatchObject({ type: 'timer', message: { cause: next } });
  expect(decide(outcome, early, (dueAt - 1.5) * 1000)).toEqual({ type: 'delete' });
});

it('a retry keeps only the time when the change was observed', () => {
  const next = timerOf({ type: 'failed', error, stalledBefore: false });
  expect(next.cause).toEqual({
    ...{ type: 'retry', observedAt: nowMs - 500, attempt: 1, postponements: 0 },
    ...{ slot: expect.any(String), dueAt: expect.any(Number) },
  });
});

it('an error costs an attempt, and each retry waits longer than the one before', () => {
  const waits = Array.from({ length: defaultRetry.attempts - 1 }, (_, attempt) => {
    const next = timerOf({ type: 'failed', error, stalledBefore: false }, retried({ attempt }));
    expect(next.cause).toMatchObject({ type: 'retry', attempt: attempt + 1, postponements: 0 });
    return delayOf(next);
  });
  expect(waits).toEqual([...waits].sort((a, b) => a - b));
  expect(waits[0]).toBeLessThanOrEqual(3);
});

it.each([
  ['', false],
  [' that is redelivered after a crash', true],
])('the last attempt%s becomes a dead letter', (_, stalledBefore) => {
  const outcome = { type: 'failed', error, stalledBefore } as const;
  expect(decide(outcome, retried({ attempt: defaultRetry.attempts - 1 }), nowMs).type).toBe('dead-letter');
});

it('a controller’s own retries decide the attempts and the delays', () => {
  const outcome = { type: 'failed', error, stalledBefore: false } as const;
  const retry = { firstSeconds: 60, maxSeconds: 120, attempts: 4 };
  const actions = [0, 1, 2, 3].map((attempt) => decide(outcome, retried({ attempt }), nowMs, { retry }));
  const delays = actions.flatMap((action) => (action.type === 'timer' ? [delayOf(action.message)] : []));
  expect(delays[0]).toBeGreaterThanOrEqual(60);
  expect(delays[2]).toBe(120);
  expect(actions.at(-1)).toEqual({ type: 'dead-letter', reason: 'retries exhausted after 4 attempts' });
});

it('a retry of an object that another message has exhausted is retried by its own attempts', () => {
  const outcome = { type: 'failed', error, stalledBefore: true } as const;
  expect(timerOf(outcome, retried({ attempt: 3 })).cause).toMatchObject({ type: 'retry', attempt: 4 });
});

it('a command of an object that is Stalled is retried by all attempts, because its dead letter was deleted by the redrive', () => {
  const outcome = { type: 'failed', error, stalledBefore: true } as const;
  expect(timerOf(outcome, aMessage(asCommand())).cause).toMatchObject({ type: 'retry', attempt: 1 });
  const postponed = timerOf({ type: 'postponed', reason: 'unreachable', error }, aMessage(asCommand()));
  const again = timerOf({ type: 'postponed', reason: 'paused', error }, postponed);
  for (const message of [postponed, again])
    expect(timerOf(outcome, message).cause).toMatchObject({ type: 'retry', attempt: 1 });
});

it('a change of an object that is Stalled is not retried, also if it was postponed', () => {
  const outcome = { type: 'failed', error, stalledBefore: true } as const;
  const postponed = timerOf({ type: 'postponed', reason: 'unreachable', error });
  expect([message, postponed].map((one) => decide(outcome, one, nowMs))).toEqual(Array(2).fill({ type: 'delete' }));
});

it('an unreachable cluster costs no attempt, and the wait grows from 5 s to 15 min, by half of the time so far', () => {
  const waits = Array.from({ length: 16 }, (_, postponements) => {
    const next = timerOf({ type: 'postponed', reason: 'unreachable', error }, retried({ attempt: 3, postponements }));
    expect(next.cause).toMatchObject({ type: 'retry', attempt: 3, postponements: postponements + 1 });
    return delayOf(next);
  });
  expect(waits[0]).toBeGreaterThanOrEqual(5);
  expect(waits.slice(13)).toEqual([900, 900, 900]);
  // An outage ends at the latest just after a retry.
  for (const [index, wait] of waits.entries()) {
    const outageSeconds = waits.slice(0, index).reduce((sum, one) => sum + one, 0);
    expect(wait).toBeLessThanOrEqual(8 + 0.75 * outageSeconds);
  }
});

it('keys that wait for the longest time are one message of each object, however often each was postponed', () => {
  const idOf = (postponements: number) => {
    const { cause, ...key } = timerOf({ type: 'postponed', reason: 'paused', error }, retried({ postponements }));
    return cause.type === 'retry' ? createFunctionIds().retry(key, cause) : '';
  };
  expect(new Set([13, 14, 50, 9_999].map(idOf)).size).toBe(1);
  expect(idOf(0)).not.toBe(idOf(13));
});

it.each([
  ['of a server that asks for 120 s', 120, 240],
  ['of a server that asks for a week', 604_800, 1_800],
  ['of a server that asks for less than the backoff', 1, 5],
])('a key is not retried before the Retry-After %s', (_, seconds, least) => {
  const throttled = new ApiError('GET /x', 429, '', seconds);
  const next = timerOf({ type: 'postponed', reason: 'unreachable', error: throttled });
  expect(delayOf(next)).toBeGreaterThanOrEqual(least);
  expect(delayOf(next)).toBeLessThanOrEqual(1.5 * least);
  expect(dueAtOf(next)).toBeGreaterThanOrEqual(nowMs / 1000 + least / 2);
});

it.each([
  ['the second conflict is retried after twice as long', 'conflict', { postponements: 1, conflicts: 1 }, 10, 2],
  ['the first conflict after an outage is retried within seconds', 'conflict', { postponements: 14 }, 5, 1],
  ['an outage after conflicts is retried within seconds', 'unreachable', { postponements: 5, conflicts: 5 }, 5, 5],
] as const)('%s, and costs no attempt', (_, reason, counts, least, conflicts) => {
  const next = timerOf({ type: 'postponed', reason, error }, retried({ attempt: 3, ...counts }));
  expect(next.cause).toMatchObject({ attempt: 3, postponements: counts.postponements + 1, conflicts });
  expect(delayOf(next)).toBeGreaterThanOrEqual(least);
  expect(delayOf(next)).toBeLessThanOrEqual(1.5 * least + 0.5);
});

it('the jitter comes from the key: duplicates have the same slot, and other keys other waits', () => {
  const outcome = { type: 'failed', error, stalledBefore: false } as const;
  const from = retried({ attempt: 4 });
  expect(slotOf(timerOf(outcome, { ...from, ...asRetry({ attempt: 4, observedAt: 7 }) }))).toBe(
    slotOf(timerOf(outcome, from)),
  );
  const waits = Array.from({ length: 20 }, (_, index) => delayOf(timerOf(outcome, { ...from, name: `tank-${index}` })));
  expect(new Set(waits).size).toBeGreaterThan(5);
  expect([Math.min(...waits) >= 32, Math.max(...waits) <= 48]).toEqual([true, true]);
});

it('a slow cluster costs no attempt, and its keys are retried within seconds', () => {
  for (const postponements of [0, 1, 12]) {
    const next = timerOf({ type: 'postponed', reason: 'slow', error }, retried({ attempt: 3, postponements }));
    expect(next.cause).toMatchObject({ type: 'retry', attempt: 3, postponements });
    expect((dueAtOf(next) ?? 0) - nowMs / 1000).toBeLessThan(12);
  }
});

it('latency counts from the first observation through retries, and from the due time of a requeue', () => {
  expect(observedAtOf(timerOf({ type: 'failed', error, stalledBefore: false }))).toBe(observedAtOf(message));
  const requeued = timerOf({ type: 'done', requeueAfterSeconds: 10 });
  expect(observedAtOf(requeued)).toBe((dueAtOf(requeued) ?? 0) * 1000);
});
