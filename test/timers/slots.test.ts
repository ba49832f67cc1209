// Due times and hops of a delay, by tables and properties, also while functions are killed; and whole chains of requeues
// in a simulation with wrong clocks and an SQS that forgets ids after five minutes. Chains by the clock of SQS are in
// chains.test.ts, queues in run.test.ts and test/sqs/send.test.ts.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { functionLimits, visibilitySecondsOf } from '../../src/core/controller-options.ts';
import { decide } from '../../src/reconciling/outcome.ts';
import { dueAtOf, type Message } from '../../src/sqs/message.ts';
import { nextSlot, resyncOffset, sqsNow, timerDelaySeconds } from '../../src/timers/slots.ts';
import { aMessage } from '../sqs/messages.ts';

const visibilitySeconds = visibilitySecondsOf(functionLimits.timeoutSeconds.default);

const started = 1_700_000_000;
const nowMs = fc.integer({ min: 1_600_000_000_000, max: 2_000_000_000_000 });
const delaySeconds = fc.integer({ min: 1, max: 86_400 });
const key = fc.string({ minLength: 1 });

describe('nextSlot', () => {
  it('the first slot is always 0.5 to 1.5 times the delay away', () => {
    fc.assert(
      fc.property(key, delaySeconds, nowMs, (key, delaySeconds, nowMs) => {
        const waited = nextSlot({ key, delaySeconds, nowMs }).dueAt - nowMs / 1000;
        expect(waited).toBeGreaterThanOrEqual(delaySeconds / 2);
        expect(waited).toBeLessThanOrEqual(delaySeconds * 1.5);
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

describe('delays by the clock of SQS', () => {
  it('the first wait is 0.5 to 1.5 times the delay by the clock of SQS', () => {
    const times = fc.record({
      at: fc.nat(1e9),
      tookMs: fc.nat(30_000),
      delay: fc.integer({ min: 1, max: 86_400 }),
    });
    fc.assert(
      fc.property(fc.string(), times, (key, { at, tookMs, delay }) => {
        const firstReceivedAt = started * 1000 + at;
        const actualMs = firstReceivedAt + tookMs;
        const nowMs = sqsNow({ firstReceivedAt, receiveCount: 1 }, { receivedMonotonicMs: 5, monotonicMs: 5 + tookMs });
        const waited = nextSlot({ key, delaySeconds: delay, nowMs }).dueAt - actualMs / 1000;
        expect(waited).toBeGreaterThanOrEqual(delay / 2);
        expect(waited).toBeLessThanOrEqual(delay * 1.5);
      }),
    );
  });

  it('every slot is later than the one before, also after a function crashed', () => {
    const reconcile = fc.record({
      delay: fc.integer({ min: 1, max: 10_000 }),
      passed: fc.nat(10_000),
      again: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(reconcile, { minLength: 2, maxLength: 20 }), (reconciles) => {
        let message: Message = aMessage();
        let actual = started;
        for (const { delay, passed, again } of reconciles) {
          // The timers queue delivers a message when it is due.
          const received = Math.max(actual, dueAtOf(message) ?? 0);
          actual = received;
          actual += again ? visibilitySeconds + passed : passed;
          const record = { firstReceivedAt: received * 1000, receiveCount: again ? 2 : 1 };
          const monotonicMs = again ? 0 : passed * 1000;
          const nowMs = sqsNow(record, { receivedMonotonicMs: 0, monotonicMs });
          const action = decide({ type: 'done', requeueAfterSeconds: delay }, message, nowMs);
          if (action.type !== 'timer') throw new Error(action.type);
          expect(dueAtOf(action.message)).toBeGreaterThan(dueAtOf(message) ?? 0);
          expect(action.message.cause).not.toMatchObject({ slot: 'slot' in message.cause ? message.cause.slot : '' });
          message = action.message;
        }
      }),
    );
  });
});

describe('a chain of requeues', () => {
  const events = fc.array(fc.double({ min: 0, max: 1.2, noNaN: true }), { minLength: 1, maxLength: 12 });
  const chances = fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true }));

  it('any number of events become one chain that never ends, at any delay, with clocks half a second off', () => {
    const delays = fc.oneof(
      fc.constantFrom(6, 30, 299, 300, 301, 600, 899, 900, 901, 3_600, 86_400),
      fc.integer({ min: 6, max: 86_400 }),
    );
    fc.assert(
      fc.property(delays, events, chances, (delay, at, chances) => {
        const reconciles = simulate({
          delay,
          events: at.map((one) => started + one * delay),
          until: started + 12 * delay,
          chance: () => chances.next().value ?? 0,
        });
        // From the fourth period on there is one reconcile per period, exactly one delay apart.
        const regular = reconciles.filter(({ time }) => time > started + 4 * delay);
        expect(regular.length).toBeGreaterThanOrEqual(7);
        for (const [index, { dueAt }] of regular.entries()) {
          if (index > 0) expect(dueAt).toBe((regular[index - 1]?.dueAt ?? 0) + delay);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('a chain with a delay of a few seconds can skip a slot, but never ends and never repeats a slot', () => {
    fc.assert(
      fc.property(fc.constantFrom(1, 2, 3, 4, 5), events, chances, (delay, at, chances) => {
        const reconciles = simulate({
          delay,
          events: at.map((one) => started + one * delay),
          until: started + 60,
          chance: () => chances.next().value ?? 0,
        });
        expect(new Set(reconciles.map(({ slot }) => slot)).size).toBe(reconciles.length);
        for (const [index, { time }] of reconciles.entries()) {
          // At worst it is 2.5 s late, and then uses the slot after the next one.
          if (index > 0) expect(time - (reconciles[index - 1]?.time ?? 0)).toBeLessThanOrEqual(1.5 * delay + 5);
        }
        expect(reconciles.at(-1)?.time).toBeGreaterThan(started + 60 - 1.5 * delay - 5);
      }),
    );
  });
});

type Timed = { readonly time: number; readonly dueAt: number; readonly slot: string };

/**
 * Simulates the reconciles of one key that always returns the same delay. Times are in seconds; `chance` is in [0, 1).
 */
function simulate({
  delay,
  events,
  until,
  chance,
}: {
  readonly delay: number;
  readonly events: readonly number[];
  readonly until: number;
  readonly chance: () => number;
}): readonly Timed[] {
  const key = 'controller:cluster:things/ns/one';
  // When the FIFO queue first accepted each id.
  const accepted = new Map<string, number>();
  const reconciles: Timed[] = [];
  const timers: Timed[] = [];
  const clock = (time: number) => (time + chance() - 0.5) * 1000;
  const put = (time: number, { dueAt, slot }: { readonly dueAt: number; readonly slot: string }) => {
    const { delaySeconds } = timerDelaySeconds({ key, nowMs: clock(time), dueAt });
    // It takes up to 0.3 s until a function receives it.
    timers.push({ time: time + delaySeconds + 0.3 * chance(), dueAt, slot });
  };
  for (const time of events) put(time, nextSlot({ key, delaySeconds: delay, nowMs: clock(time) }));
  for (;;) {
    timers.sort((a, b) => b.time - a.time);
    const next = timers.pop();
    if (next === undefined || next.time > until) return reconciles;
    const { time, dueAt, slot } = next;
    if (dueAt * 1000 - clock(time) > 1_000) {
      put(time, next);
      continue;
    }
    if (time - (accepted.get(slot) ?? -300) < 300) continue;
    accepted.set(slot, time);
    reconciles.push(next);
    const done = time + 0.2 * chance();
    put(done, nextSlot({ key, delaySeconds: delay, nowMs: clock(done), afterDueAt: dueAt }));
  }
}
