// Due times and hops of a delay, by tables and properties. Chains of requeues are in chains.test.ts, queues in
// run.test.ts and test/sqs/send.test.ts.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { functionLimits, visibilitySecondsOf } from '../../src/core/controller-options.ts';
import { nextSlot, resyncOffset, sqsNow, timerDelaySeconds } from '../../src/timers/slots.ts';

const visibilitySeconds = visibilitySecondsOf(functionLimits.timeoutSeconds.default);

const nowMs = fc.integer({ min: 1_600_000_000_000, max: 2_000_000_000_000 });
const delaySeconds = fc.integer({ min: 1, max: 86_400 });
const key = fc.string({ minLength: 1 });

describe('nextSlot', () => {
  it('the first slot is always 0.5 to 1.5 times a delay of four seconds or more away', () => {
    fc.assert(
      fc.property(key, fc.integer({ min: 4, max: 86_400 }), nowMs, (key, delaySeconds, nowMs) => {
        const waited = nextSlot({ key, delaySeconds, nowMs }).dueAt - nowMs / 1000;
        expect(waited).toBeGreaterThanOrEqual(delaySeconds / 2);
        expect(waited).toBeLessThanOrEqual(delaySeconds * 1.5);
      }),
    );
  });

  it('the first slot of a shorter delay is two seconds away or more, as a message of it may have been received early', () => {
    fc.assert(
      fc.property(key, fc.integer({ min: 1, max: 3 }), nowMs, (key, delaySeconds, nowMs) => {
        const waited = nextSlot({ key, delaySeconds, nowMs }).dueAt - nowMs / 1000;
        expect(waited).toBeGreaterThanOrEqual(2);
        expect(waited).toBeLessThanOrEqual(2 + delaySeconds);
      }),
    );
  });

  it('a slot is exactly the delay after the one before, if the reconcile takes less than half of it', () => {
    fc.assert(
      fc.property(key, delaySeconds, nowMs, fc.double({ min: -1, max: 0.49, noNaN: true }), (key, delay, at, late) => {
        const first = nextSlot({ key, delaySeconds: delay, nowMs: at });
        const received = first.dueAt + (late < 0 ? late : late * delay);
        const second = nextSlot({ key, delaySeconds: delay, nowMs: received * 1000, afterDueAt: first.dueAt });
        expect(second.dueAt).toBe(first.dueAt + delay);
      }),
    );
  });

  it('a slot is always later than the current one, with a clock set back an hour or another grid', () => {
    fc.assert(
      fc.property(key, delaySeconds, delaySeconds, nowMs, (key, before, delay, at) => {
        const first = nextSlot({ key, delaySeconds: before, nowMs: at });
        const second = nextSlot({ key, delaySeconds: delay, nowMs: at - 3_600_000, afterDueAt: first.dueAt });
        expect(second.dueAt).toBeGreaterThan(first.dueAt);
        expect(second.slot).not.toBe(first.slot);
      }),
    );
  });

  it('a slot is in whole seconds, and named by its delay and number', () => {
    const { dueAt, slot } = nextSlot({ key: 'a', delaySeconds: 30.4, nowMs: 1_700_000_000_123 });
    expect(Number.isInteger(dueAt)).toBe(true);
    expect(slot).toBe(`30/${(dueAt - resyncOffset('a', 30)) / 30}`);
  });

  it('nextSlot raises a delay below one second to one second', () => {
    expect(nextSlot({ key: 'a', delaySeconds: 0, nowMs: 1_700_000_000_000 }).slot).toMatch(/^1\//);
  });
});

describe('timerDelaySeconds', () => {
  it('timerDelaySeconds is always between 0 and 900 seconds, and a hop is never late', () => {
    fc.assert(
      fc.property(key, nowMs, fc.integer({ min: -1_000, max: 100_000 }), (key, nowMs, ahead) => {
        const dueAt = Math.floor(nowMs / 1000) + ahead;
        const { delaySeconds, hops } = timerDelaySeconds({ key, nowMs, dueAt });
        expect(delaySeconds).toBeGreaterThanOrEqual(0);
        expect(delaySeconds).toBeLessThanOrEqual(900);
        expect(Number.isInteger(delaySeconds)).toBe(true);
        if (hops) expect(nowMs / 1000 + delaySeconds).toBeLessThan(dueAt);
        else expect(delaySeconds).toBe(Math.max(0, Math.ceil(dueAt - nowMs / 1000)));
      }),
    );
  });

  it('the hops of a key are at the same times for all its messages, so that they are received in one batch', () => {
    fc.assert(
      fc.property(key, nowMs, fc.integer({ min: 0, max: 899 }), (key, at, apart) => {
        const dueAt = Math.ceil(at / 1000) + 10_000;
        const hopAt = (nowMs: number) => nowMs / 1000 + timerDelaySeconds({ key, nowMs, dueAt }).delaySeconds;
        const [first, second] = [hopAt(at), hopAt(at + apart * 1000)];
        // Either the same hop, or the next one if the second message was too late for it. Never a hop of its own.
        const gap = (second - first) / 900;
        expect(Math.abs(gap - Math.round(gap)) * 900).toBeLessThanOrEqual(1);
      }),
    );
  });
});

describe('sqsNow', () => {
  const clock = { receivedMonotonicMs: 500, monotonicMs: 800 };

  it('sqsNow is the time of SQS plus the elapsed time', () => {
    expect(sqsNow({ firstReceivedAt: 1_000_000, receiveCount: 1 }, clock)).toBe(1_000_300);
  });

  it('sqsNow is that of the learned offset for a redelivered record, but not before its first delivery', () => {
    const learned = { ...clock, offsetMs: 2_000_000 };
    expect(sqsNow({ firstReceivedAt: 1_000_000, receiveCount: 2 }, learned)).toBe(2_000_800);
    expect(sqsNow({ firstReceivedAt: 9_999_999, receiveCount: 2 }, learned)).toBe(10_000_299);
  });

  it.each([
    ['in between is used', 60_000, 60_000],
    ['before the first delivery is not used', -1, 360_000],
    ['after the visibility timeouts is not used', 10_800_000, 360_000],
  ])('sqsNow without an offset: a local time %s for a redelivered record', (_, local, expected) => {
    const record = { firstReceivedAt: 1_000_000, receiveCount: 3 };
    expect(sqsNow(record, { ...clock, localMs: 1_000_300 + local })).toBe(1_000_300 + expected);
  });

  it('sqsNow counts a visibility timeout for each earlier delivery if no offset is known', () => {
    const twice = { firstReceivedAt: 1_000_000, receiveCount: 3 };
    expect(sqsNow(twice, clock)).toBe(1_000_300 + 2 * visibilitySeconds * 1000);
  });
});
