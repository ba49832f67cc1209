// Only what becomes of a message after its reconcile: every row of the outcome table, as values. Sending is batch.test.ts.
import { describe, expect, it } from 'vitest';
import { maxAttempts } from '../../src/core/backoff.ts';
import type { Message } from '../../src/queue/message.ts';
import { type Action, decide, type Outcome } from '../../src/runtime/outcome.ts';

const nowMs = 1_800_000_000_000;
const message: Message = {
  v: 1,
  controller: 'water-tank',
  cluster: 'a',
  group: 'plant.example.com',
  resource: 'watertanks',
  namespace: 'default',
  name: 'north',
  uid: 'u1',
  resourceVersion: '17',
  lane: 'watch',
  attempt: 0,
  deferrals: 0,
  seenAt: nowMs - 500,
};
const error = new Error('no');

function later(outcome: Outcome, from: Message = message): Message {
  const action: Action = decide(outcome, from, nowMs);
  if (action.type !== 'later') throw new Error(`expected a later message, got ${action.type}`);
  return action.message;
}

describe('what becomes of a message', () => {
  it.each<[string, Outcome]>([
    ['returned', { type: 'done' }],
    ['object gone', { type: 'nothing', why: 'gone' }],
    ['namespace terminating', { type: 'nothing', why: 'namespace-terminating' }],
    ['paused', { type: 'nothing', why: 'paused' }],
    ['threw TerminalError', { type: 'terminal', error }],
    ['threw while already Stalled at this generation', { type: 'failed', error, stalledBefore: true }],
  ])('is deleted after: %s', (_, outcome) => {
    expect(decide(outcome, message, nowMs)).toEqual({ type: 'delete' });
  });

  it('is a dead letter, with the reason, when it is about a kind that is none of the controller’s', () => {
    expect(decide({ type: 'refused', error }, message, nowMs)).toEqual({ type: 'dead-letter', reason: 'no' });
  });

  it('a requeue starts afresh and is due within half and one and a half of the delay', () => {
    const next = later({ type: 'done', requeueAfterSeconds: 30 }, { ...message, attempt: 4, deferrals: 2 });
    expect(next).toMatchObject({ lane: 'requeue', attempt: 0, deferrals: 0, name: 'north', namespace: 'default' });
    expect(next.dueAt).toBeGreaterThanOrEqual(nowMs / 1000 + 15);
    expect(next.dueAt).toBeLessThanOrEqual(nowMs / 1000 + 46);
  });

  it('a requeue of a requeue is due exactly one delay later', () => {
    const first = later({ type: 'done', requeueAfterSeconds: 30 });
    const dueAt = first.dueAt ?? 0;
    const action = decide({ type: 'done', requeueAfterSeconds: 30 }, first, dueAt * 1000 + 200);
    expect(action).toMatchObject({ type: 'later', message: { dueAt: dueAt + 30 } });
  });

  it('what a key knew of an event stays behind', () => {
    const next = later({ type: 'done', requeueAfterSeconds: 30 }, { ...message, run: 'x' });
    expect(next).not.toHaveProperty('uid');
    expect(next).not.toHaveProperty('resourceVersion');
    expect(next).not.toHaveProperty('run');
  });

  it('an error costs an attempt, and each waits longer than the one before', () => {
    const waits = Array.from({ length: maxAttempts - 1 }, (_, attempt) => {
      const next = later({ type: 'failed', error, stalledBefore: false }, { ...message, attempt });
      expect(next).toMatchObject({ lane: 'retry', attempt: attempt + 1 });
      return Number(next.slot?.split('/')[0]);
    });
    expect(waits).toEqual([...waits].sort((a, b) => a - b));
    expect(waits[0]).toBeLessThanOrEqual(3);
  });

  it('the last attempt becomes a dead letter', () => {
    const outcome = { type: 'failed', error, stalledBefore: false } as const;
    expect(decide(outcome, { ...message, attempt: maxAttempts - 1 }, nowMs).type).toBe('dead-letter');
  });

  it('the last attempt that comes again, because its function died, becomes a dead letter all the same', () => {
    const outcome = { type: 'failed', error, stalledBefore: true } as const;
    expect(decide(outcome, { ...message, attempt: maxAttempts - 1 }, nowMs).type).toBe('dead-letter');
  });

  it('an unreachable cluster costs no attempt, and the wait grows from 5 s to 15 min', () => {
    const waits = Array.from({ length: 12 }, (_, deferrals) => {
      const next = later({ type: 'deferred', why: 'unreachable', error }, { ...message, attempt: 3, deferrals });
      expect(next).toMatchObject({ lane: 'retry', attempt: 3, deferrals: deferrals + 1 });
      return Number(next.slot?.split('/')[0]);
    });
    expect(waits[0]).toBeGreaterThanOrEqual(5);
    expect(waits.at(-1)).toBe(900);
  });

  it('a stale version that stays costs no attempt, and waits as an unreachable cluster does', () => {
    const next = later({ type: 'deferred', why: 'conflict', error }, { ...message, attempt: 3, deferrals: 1 });
    expect(next).toMatchObject({ lane: 'retry', attempt: 3, deferrals: 2 });
    expect(Number(next.slot?.split('/')[0])).toBeGreaterThanOrEqual(10);
  });

  it('the jitter is the key’s own: whoever decides finds the same slot, and other keys wait for other times', () => {
    const outcome = { type: 'failed', error, stalledBefore: false } as const;
    const from = { ...message, attempt: 4 };
    expect(later(outcome, { ...from, uid: 'u2', resourceVersion: '18' }).slot).toBe(later(outcome, from).slot);
    const waits = Array.from({ length: 20 }, (_, index) =>
      Number(later(outcome, { ...from, name: `tank-${index}` }).slot?.split('/')[0]),
    );
    expect(new Set(waits).size).toBeGreaterThan(5);
    expect([Math.min(...waits) >= 32, Math.max(...waits) <= 48]).toEqual([true, true]);
  });

  it('a slow cluster costs no attempt either, and its keys come again within seconds however often they were put off', () => {
    for (const deferrals of [0, 1, 12]) {
      const next = later({ type: 'deferred', why: 'slow', error }, { ...message, attempt: 3, deferrals });
      expect(next).toMatchObject({ lane: 'retry', attempt: 3, deferrals });
      expect((next.dueAt ?? 0) - nowMs / 1000).toBeLessThan(12);
    }
  });

  it('the lag goes on from the first sight through retries, and from the due time after a requeue', () => {
    expect(later({ type: 'failed', error, stalledBefore: false }).seenAt).toBe(message.seenAt);
    const requeued = later({ type: 'done', requeueAfterSeconds: 10 });
    expect(requeued.seenAt).toBe((requeued.dueAt ?? 0) * 1000);
  });
});
