// From a wish ("in 30 seconds") to a due time and its hops, by tables and properties, and whole chains of requeues simulated
// with clocks that are wrong and an SQS that forgets ids after 5 minutes. No queue: that is timer.test.ts and send.test.ts.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hopDelay, nextSlot, phaseOf, sqsNow } from '../../src/queue/slots.ts';

const nowMs = fc.integer({ min: 1_600_000_000_000, max: 2_000_000_000_000 });
const delaySeconds = fc.integer({ min: 1, max: 86_400 });
const target = fc.string({ minLength: 1 });

describe('a slot', () => {
  it('is always 0.5 to 1.5 times the delay away at first', () => {
    fc.assert(
      fc.property(target, delaySeconds, nowMs, (target, delaySeconds, nowMs) => {
        const waited = nextSlot({ target, delaySeconds, nowMs }).dueAt - nowMs / 1000;
        expect(waited).toBeGreaterThanOrEqual(delaySeconds / 2);
        expect(waited).toBeLessThanOrEqual(delaySeconds * 1.5);
      }),
    );
  });

  it('is always exactly the delay after the one before, as long as the reconcile takes less than half of it', () => {
    fc.assert(
      fc.property(
        target,
        delaySeconds,
        nowMs,
        fc.double({ min: -1, max: 0.49, noNaN: true }),
        (target, delay, at, late) => {
          const first = nextSlot({ target, delaySeconds: delay, nowMs: at });
          const received = first.dueAt + (late < 0 ? late : late * delay);
          const second = nextSlot({ target, delaySeconds: delay, nowMs: received * 1000, afterDueAt: first.dueAt });
          expect(second.dueAt).toBe(first.dueAt + delay);
        },
      ),
    );
  });

  it('is never the one in hand, nor before it, even when the clock was set back an hour or the grid is another', () => {
    fc.assert(
      fc.property(target, delaySeconds, delaySeconds, nowMs, (target, before, delay, at) => {
        const first = nextSlot({ target, delaySeconds: before, nowMs: at });
        const second = nextSlot({ target, delaySeconds: delay, nowMs: at - 3_600_000, afterDueAt: first.dueAt });
        expect(second.dueAt).toBeGreaterThan(first.dueAt);
        expect(second.slot).not.toBe(first.slot);
      }),
    );
  });

  it('is whole seconds, named by its delay and number', () => {
    const { dueAt, slot } = nextSlot({ target: 'a', delaySeconds: 30.4, nowMs: 1_700_000_000_123 });
    expect(Number.isInteger(dueAt)).toBe(true);
    expect(slot).toBe(`30/${(dueAt - phaseOf('a', 30)) / 30}`);
  });

  it('takes a delay below one second as one', () => {
    expect(nextSlot({ target: 'a', delaySeconds: 0, nowMs: 1_700_000_000_000 }).slot).toMatch(/^1\//);
  });
});

describe('a hop', () => {
  it('never asks SQS for more than 900 seconds or less than none, and never arrives late', () => {
    fc.assert(
      fc.property(target, nowMs, fc.integer({ min: -1_000, max: 100_000 }), (target, nowMs, ahead) => {
        const dueAt = Math.floor(nowMs / 1000) + ahead;
        const { delaySeconds, hops } = hopDelay({ target, nowMs, dueAt });
        expect(delaySeconds).toBeGreaterThanOrEqual(0);
        expect(delaySeconds).toBeLessThanOrEqual(900);
        expect(Number.isInteger(delaySeconds)).toBe(true);
        if (hops) expect(nowMs / 1000 + delaySeconds).toBeLessThan(dueAt);
        else expect(delaySeconds).toBe(Math.max(0, Math.ceil(dueAt - nowMs / 1000)));
      }),
    );
  });

  it('is at the same moment for all messages of a key that hop, so that they meet in one batch', () => {
    fc.assert(
      fc.property(target, nowMs, fc.integer({ min: 0, max: 899 }), (target, at, apart) => {
        const dueAt = Math.ceil(at / 1000) + 10_000;
        const hopAt = (nowMs: number) => nowMs / 1000 + hopDelay({ target, nowMs, dueAt }).delaySeconds;
        const [first, second] = [hopAt(at), hopAt(at + apart * 1000)];
        // Either the same hop, or the second message was too late for it and takes the next: never one of its own.
        const gap = (second - first) / 900;
        expect(Math.abs(gap - Math.round(gap)) * 900).toBeLessThanOrEqual(1);
      }),
    );
  });
});

describe('now', () => {
  const clock = { receivedMonotonicMs: 500, monotonicMs: 800, localMs: 9_000_000 };

  it('is SQS’s time plus what has passed, however wrong the local clock is', () => {
    expect(sqsNow({ firstReceivedAt: 1_000_000, receiveCount: 1 }, clock)).toBe(1_000_300);
  });

  it('asks the local clock too when the record was received before', () => {
    expect(sqsNow({ firstReceivedAt: 1_000_000, receiveCount: 2 }, clock)).toBe(9_000_000);
    expect(sqsNow({ firstReceivedAt: 9_999_999, receiveCount: 2 }, clock)).toBe(10_000_299);
  });
});

describe('a chain', () => {
  const started = 1_700_000_000;
  const events = fc.array(fc.double({ min: 0, max: 1.2, noNaN: true }), { minLength: 1, maxLength: 12 });
  const chances = fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true }));

  it('stays one and never dies, however many events asked for it, at any delay and with clocks half a second off', () => {
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
        // From the fourth period on: one reconcile a period, exactly one delay apart.
        const settled = reconciles.filter(({ time }) => time > started + 4 * delay);
        expect(settled.length).toBeGreaterThanOrEqual(7);
        for (const [index, { dueAt }] of settled.entries()) {
          if (index > 0) expect(dueAt).toBe((settled[index - 1]?.dueAt ?? 0) + delay);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('of so short a delay that SQS’s whole seconds make it late may skip a slot, but never dies and never has one twice', () => {
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
          // At worst 2.5 s late, then the next slot but one.
          if (index > 0) expect(time - (reconciles[index - 1]?.time ?? 0)).toBeLessThanOrEqual(1.5 * delay + 5);
        }
        expect(reconciles.at(-1)?.time).toBeGreaterThan(started + 60 - 1.5 * delay - 5);
      }),
    );
  });
});

type Timed = { readonly time: number; readonly dueAt: number; readonly slot: string };

/** Reconciles of one key that always asks for the same delay. Times in seconds; `chance` in [0, 1). */
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
  const target = 'controller:cluster:things/ns/one';
  // FIFO: id → when it was first accepted.
  const accepted = new Map<string, number>();
  const reconciles: Timed[] = [];
  const timers: Timed[] = [];
  const clock = (time: number) => (time + chance() - 0.5) * 1000;
  const put = (time: number, { dueAt, slot }: { readonly dueAt: number; readonly slot: string }) => {
    const { delaySeconds } = hopDelay({ target, nowMs: clock(time), dueAt });
    // Up to 0.3 s until a function has it.
    timers.push({ time: time + delaySeconds + 0.3 * chance(), dueAt, slot });
  };
  for (const time of events) put(time, nextSlot({ target, delaySeconds: delay, nowMs: clock(time) }));
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
    put(done, nextSlot({ target, delaySeconds: delay, nowMs: clock(done), afterDueAt: dueAt }));
  }
}
