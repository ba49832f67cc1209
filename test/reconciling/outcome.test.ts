// Only the follow-up of a message after its reconcile: every row of the outcome table, as values. Sending is in
// batch.test.ts.
import { expect, it } from 'vitest';
import { defaultRetry } from '../../src/core/controller-options.ts';
import { RetryLater, TerminalError } from '../../src/core/errors.ts';
import { ApiError } from '../../src/kube/client/errors.ts';
import { type Circumstances, decide, type FollowUp, type Outcome } from '../../src/reconciling/outcome.ts';
import { createFunctionIds } from '../../src/sqs/deduplication.ts';
import { dueAtOf, type Message, observedAtOf } from '../../src/sqs/message.ts';
import { aMessage, asChange, asCommand, asRequeue, asResync, asRetry } from '../sqs/messages.ts';

const nowMs = 1_800_000_000_000;
const message = aMessage(asChange({ uid: 'u1', resourceVersion: '17', observedAt: nowMs - 500 }));
const retried = (changes: Parameters<typeof asRetry>[0]) => ({ ...message, ...asRetry(changes) });
const error = new Error('no');
const failed = { type: 'failed', error, stalledBefore: false } as const;
const stalled = { ...failed, stalledBefore: true } as const;

const nothing: FollowUp = { again: undefined, timers: [], deadLetter: undefined };

function timerOf(outcome: Outcome, from: Message = message, more: Partial<Circumstances> = {}): Message {
  const { timers, deadLetter } = decide(outcome, from, { nowMs, ...more });
  const [first] = timers;
  if (first === undefined || timers.length > 1 || deadLetter !== undefined) throw new Error('expected one timer');
  return first;
}

/** Returns the wait of a message, in seconds: 0.5 to 1.5 times its delay. */
function waitOf(next: Message): number {
  return (dueAtOf(next) ?? 0) - nowMs / 1000;
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
  ['an error while already Stalled at this generation', stalled],
])('a message is deleted after: %s', (_, outcome) => {
  expect(decide(outcome, message, { nowMs })).toEqual(nothing);
});

it('a message about a kind that is not the controller’s becomes a dead letter with the reason', () => {
  expect(decide({ type: 'refused', error }, message, { nowMs })).toEqual({ ...nothing, deadLetter: 'no' });
  // SQS accepts no empty attribute.
  expect(decide({ type: 'refused', error: new TerminalError('') }, message, { nowMs }).deadLetter).toBe(
    'TerminalError',
  );
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
  const next = timerOf({ type: 'done', requeueAfterSeconds: 30 }, first, { nowMs: dueAt * 1000 + 200 });
  expect(dueAtOf(next)).toBe(dueAt + 30);
});

it('a timer is later than the latest due time of the merged messages', () => {
  const afterDueAt = nowMs / 1000 + 30;
  const next = timerOf({ type: 'done', requeueAfterSeconds: 1 }, message, { afterDueAt });
  expect(dueAtOf(next)).toBe(afterDueAt + 1);
});

// Control T66.
it('a forged due time of the year 9999 does not delay the next requeue', () => {
  const forged = aMessage(asRequeue({ dueAt: 253_402_300_799, slot: '30/1' }));
  const next = timerOf({ type: 'done', requeueAfterSeconds: 30 }, forged);
  expect(waitOf(next)).toBeLessThanOrEqual(60 + 30 + 1);
});

it.each<[string, number, Partial<Circumstances>, number]>([
  ['in an hour is at that time', 3_600_000, {}, 3_600],
  ['with milliseconds is not before it', 10_001, {}, 11],
  ['of which a message may have been received two seconds early is later than that', 1_000, {}, 2],
  ['that the current message was due at, and early, is later than that', 500, { afterDueAt: nowMs / 1000 + 1 }, 2],
  ['that the current message was due at, and minutes early, too', 359_000, { afterDueAt: nowMs / 1000 + 359 }, 360],
  ['is at that time after a forged due time', 359_000, { afterDueAt: nowMs / 1000 + 361 }, 359],
  ['in two years is in one', 63_072_000_000, {}, 31_536_000],
])('a requeue at a time %s', (_, inMs, times, seconds) => {
  const next = timerOf({ type: 'done', requeueAt: new Date(nowMs + inMs) }, message, times);
  expect(next.cause).toMatchObject({ type: 'requeue', dueAt: nowMs / 1000 + seconds });
});

it.each([
  [0, 2, 3],
  [20_000, 10, 30],
  [86_400_000, 150, 450],
])('a requeue at a time that is %d ms past waits about as long as that, up to five minutes', (agoMs, least, most) => {
  const waited = waitOf(timerOf({ type: 'done', requeueAt: new Date(nowMs - agoMs) }));
  expect(waited).toBeGreaterThanOrEqual(least);
  expect(waited).toBeLessThanOrEqual(most);
});

it.each<[string, Outcome]>([
  ['done without a requeue', { type: 'done' }],
  ['gone', { type: 'nothing', reason: 'gone' }],
  ['terminal', { type: 'terminal', error }],
])('a key received minutes before its due time that is %s is reconciled after it: SQS drops the slot until then', (_, outcome) => {
  const dueAt = nowMs / 1000 + 200;
  const early = aMessage(asRequeue({ dueAt, slot: '300/1' }));
  const next = { type: 'requeue', dueAt: dueAt + 1, slot: `1/${dueAt + 1}` };
  expect(timerOf(outcome, early).cause).toMatchObject(next);
  expect(timerOf(outcome, early, { nowMs: (dueAt - 3) * 1000 }).cause).toMatchObject(next);
  expect(decide(outcome, early, { nowMs: (dueAt - 1.5) * 1000 })).toEqual(nothing);
});

it('a retry keeps only the time when the change was observed', () => {
  const next = timerOf(failed);
  expect(next.cause).toEqual({
    type: 'retry',
    observedAt: nowMs - 500,
    attempt: 1,
    postponements: 0,
    slot: expect.any(String),
    dueAt: expect.any(Number),
  });
});

it('K12: a retry keeps the strays of its message, which no reconcile has found yet', () => {
  const strays = { count: 1, objects: [['', 'configmaps', 'shop', 'one'] as const] };
  expect(timerOf(failed, aMessage({ strays }))).toMatchObject({ strays });
  expect(timerOf({ type: 'done', requeueAfterSeconds: 5 }, aMessage({ strays }))).not.toHaveProperty('strays');
});

it('an error costs an attempt, and each retry waits longer than the one before', () => {
  const waits = Array.from({ length: defaultRetry.attempts - 1 }, (_, attempt) => {
    const next = timerOf(failed, retried({ attempt }));
    expect(next.cause).toMatchObject({ type: 'retry', attempt: attempt + 1, postponements: 0 });
    return waitOf(next);
  });
  for (const [index, wait] of waits.slice(2).entries()) expect(wait).toBeGreaterThan(waits[index] ?? 0);
  expect(waits[0]).toBeLessThanOrEqual(5);
});

it.each([
  ['', false],
  [' that is redelivered after a crash', true],
])('the last attempt%s becomes a dead letter', (_, stalledBefore) => {
  const last = retried({ attempt: defaultRetry.attempts - 1 });
  const { timers, deadLetter } = decide({ ...failed, stalledBefore }, last, { nowMs });
  expect([timers, deadLetter]).toEqual([[], 'retries exhausted after 10 attempts']);
});

it('a controller’s own retries decide the attempts and the delays', () => {
  const retry = { firstSeconds: 60, maxSeconds: 120, attempts: 4 };
  const followUps = [0, 1, 2, 3].map((attempt) => decide(failed, retried({ attempt }), { nowMs, retry }));
  const waits = followUps.flatMap(({ timers }) => timers.map(waitOf));
  expect(waits).toHaveLength(3);
  expect(waits[0]).toBeGreaterThanOrEqual(30);
  expect(waits[2]).toBeLessThanOrEqual(180);
  expect(followUps.at(-1)?.deadLetter).toBe('retries exhausted after 4 attempts');
});

// Control T64.
it('a retry of an object that another message has exhausted is retried by its own attempts', () => {
  expect(timerOf(stalled, retried({ attempt: 3 })).cause).toMatchObject({ type: 'retry', attempt: 4 });
});

it('a command of an object that is Stalled is retried by all attempts, because its dead letter was deleted by the redrive', () => {
  expect(timerOf(stalled, aMessage(asCommand())).cause).toMatchObject({ type: 'retry', attempt: 1 });
  const postponed = timerOf({ type: 'postponed', reason: 'unreachable', error }, aMessage(asCommand()));
  const again = timerOf({ type: 'postponed', reason: 'paused', error }, postponed);
  for (const message of [postponed, again])
    expect(timerOf(stalled, message).cause).toMatchObject({ type: 'retry', attempt: 1 });
});

it('a change of an object that is Stalled is not retried, also if it was postponed', () => {
  const postponed = timerOf({ type: 'postponed', reason: 'unreachable', error });
  expect([message, postponed].map((one) => decide(stalled, one, { nowMs }))).toEqual([nothing, nothing]);
});

it('an unreachable cluster costs no attempt, and the wait grows from 5 s to 15 min, by half of the time so far', () => {
  const waits = Array.from({ length: 16 }, (_, postponements) => {
    const next = timerOf({ type: 'postponed', reason: 'unreachable', error }, retried({ attempt: 3, postponements }));
    expect(next.cause).toMatchObject({ type: 'retry', attempt: 3, postponements: postponements + 1 });
    return waitOf(next);
  });
  expect(waits[0]).toBeGreaterThanOrEqual(2.5);
  for (const wait of waits.slice(13)) expect(wait).toBeGreaterThanOrEqual(450);
  for (const wait of waits) expect(wait).toBeLessThanOrEqual(1350);
  // An outage ends at the latest just after a retry. The first wait of a grid is up to one and a half of the delay.
  for (const [index, wait] of waits.entries()) {
    const outageSeconds = waits.slice(0, index).reduce((sum, one) => sum + one, 0);
    expect(wait).toBeLessThanOrEqual(12 + 2 * outageSeconds);
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
  expect(waitOf(next)).toBeLessThanOrEqual(1.5 * 1.5 * least);
  expect(dueAtOf(next)).toBeGreaterThanOrEqual(nowMs / 1000 + least / 2);
});

it.each([
  ['the second conflict is retried after twice as long', 'conflict', { postponements: 1, conflicts: 1 }, 10, 2],
  ['the first conflict after an outage is retried within seconds', 'conflict', { postponements: 14 }, 5, 1],
  ['an outage after conflicts is retried within seconds', 'unreachable', { postponements: 5, conflicts: 5 }, 5, 5],
] as const)('%s, and costs no attempt', (_, reason, counts, least, conflicts) => {
  const next = timerOf({ type: 'postponed', reason, error }, retried({ attempt: 3, ...counts }));
  expect(next.cause).toMatchObject({ attempt: 3, postponements: counts.postponements + 1, conflicts });
  expect(waitOf(next)).toBeGreaterThanOrEqual(least / 2);
  expect(waitOf(next)).toBeLessThanOrEqual(1.5 * (1.5 * least + 0.5));
});

it('the jitter comes from the key: duplicates have the same slot, and other keys other waits', () => {
  const from = retried({ attempt: 4 });
  const later = timerOf(failed, { ...from, ...asRetry({ attempt: 4, observedAt: 7 }) });
  expect(slotOf(later)).toBe(slotOf(timerOf(failed, from)));
  const waits = Array.from({ length: 20 }, (_, index) => waitOf(timerOf(failed, { ...from, name: `tank-${index}` })));
  expect(new Set(waits).size).toBeGreaterThan(5);
  expect([Math.min(...waits) >= 16, Math.max(...waits) <= 72]).toEqual([true, true]);
});

it('a slow cluster costs no attempt, and its keys are retried within seconds', () => {
  for (const postponements of [0, 1, 12]) {
    const next = timerOf({ type: 'postponed', reason: 'slow', error }, retried({ attempt: 3, postponements }));
    expect(next.cause).toMatchObject({ type: 'retry', attempt: 3, postponements });
    expect((dueAtOf(next) ?? 0) - nowMs / 1000).toBeLessThan(12);
  }
});

it('latency counts from the first observation through retries, and from the due time of a requeue', () => {
  expect(observedAtOf(timerOf(failed))).toBe(observedAtOf(message));
  const requeued = timerOf({ type: 'done', requeueAfterSeconds: 10 });
  expect(observedAtOf(requeued)).toBe((dueAtOf(requeued) ?? 0) * 1000);
});

it('U5: an error together with a time is retried, and reconciled at that time, also after the last attempt', () => {
  const requeueAt = new Date(nowMs + 3_600_000);
  const timed = { ...failed, requeueAt };
  const typesOf = (from: Message) => decide(timed, from, { nowMs }).timers.map((one) => [one.cause.type, dueAtOf(one)]);
  const atTheTime = ['requeue', nowMs / 1000 + 3_600];
  expect(typesOf(message)).toEqual([['retry', expect.any(Number)], atTheTime]);
  expect(typesOf(retried({ attempt: defaultRetry.attempts - 1 }))).toEqual([atTheTime]);
  expect(decide({ ...timed, stalledBefore: true }, message, { nowMs }).timers).toHaveLength(1);
  expect(timerOf({ type: 'terminal', error, requeueAt })).toMatchObject({ cause: { type: 'requeue' } });
});

it('U6: RetryLater costs no attempt, waits at least as long as it asks for, and longer while it repeats', () => {
  const outcome = { type: 'postponed', reason: 'later', error: new RetryLater(20) } as const;
  let next = timerOf(outcome, retried({ attempt: 3, postponements: 2 }));
  const waits: number[] = [];
  for (let repeats = 1; repeats <= 12; repeats += 1) {
    expect(next.cause).toMatchObject({ type: 'retry', attempt: 3, postponements: 2, later: repeats });
    waits.push(waitOf(next));
    next = timerOf(outcome, retried({ attempt: 3, postponements: 2, later: repeats }));
  }
  for (const wait of waits) expect(wait).toBeGreaterThanOrEqual(20);
  expect(Math.max(...waits)).toBeGreaterThan(300);
  expect(Math.max(...waits)).toBeLessThanOrEqual(1_350);
});

it('an object that was held is reconciled by a change at once, or by the resync that it came from', () => {
  const held = { type: 'nothing', reason: 'held' } as const;
  const again = (from: Message) => decide(held, from, { nowMs }).again?.cause;
  expect(again(message)).toEqual({ type: 'change', observedAt: nowMs - 500 });
  expect(again(aMessage(asResync({ run: '2026-01-01T00:00:00Z', dueAt: 7 })))).toEqual({
    type: 'resync',
    run: '2026-01-01T00:00:00Z',
  });
});

it.each([
  ['a command is retried by all attempts', asCommand(), { attempt: 0, command: true }],
  ['a retry goes on with its attempts', asRetry({ attempt: 3 }), { attempt: 3 }],
])('an object that was held by %s', (_, from, cause) => {
  const next = timerOf({ type: 'nothing', reason: 'held' }, aMessage(from));
  expect(next.cause).toMatchObject({ type: 'retry', ...cause });
  expect(waitOf(next)).toBeLessThanOrEqual(3);
});
