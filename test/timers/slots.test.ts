// Due times and hops of a delay, by tables and properties. Chains of requeues are in chains.test.ts, queues in
// run.test.ts and test/sqs/send.test.ts.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { functionLimits, visibilitySecondsOf } from '../../src/core/controller-options.ts';
import { nextSlot, resyncOffset, slotAt, sqsNow, timerDelaySeconds, widthOf } from '../../src/timers/slots.ts';

const visibilitySeconds = visibilitySecondsOf(functionLimits.timeoutSeconds.default);

const nowMs = fc.integer({ min: 1_600_000_000_000, max: 2_000_000_000_000 });
const delaySeconds = fc.integer({ min: 1, max: 86_400 });
const key = fc.string({ minLength: 1 });

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

it('a due time is in whole seconds, and a delay below one second is one', () => {
  expect(Number.isInteger(nextSlot({ key: 'a', delaySeconds: 30.4, nowMs: 1_700_000_000_123 }).dueAt)).toBe(true);
  expect(nextSlot({ key: 'a', delaySeconds: 0, nowMs: 1_700_000_000_000 }).dueAt).toBe(1_700_000_002);
});

describe('cells', () => {
  const beginOf = (key: string, slot: string) =>
    resyncOffset(key, widthOf(slot)) + Number(slot.split('/')[1]) * widthOf(slot);

  it('a cell has the due time in it, and begins two seconds or more after the request, so what takes its place is later', () => {
    fc.assert(
      fc.property(key, delaySeconds, nowMs, fc.boolean(), (key, seconds, nowMs, isTime) => {
        const { dueAt, slot } = isTime
          ? slotAt({ key, atMs: nowMs + seconds * 1000, nowMs })
          : nextSlot({ key, delaySeconds: seconds, nowMs });
        const begin = beginOf(key, slot);
        expect(begin).toBeGreaterThanOrEqual(nowMs / 1000 + 2);
        expect(dueAt).toBeGreaterThanOrEqual(begin);
        expect(dueAt).toBeLessThan(begin + widthOf(slot));
      }),
    );
  });

  it('a chain of one wait has one width, of nine tenths of the wait or more, and another cell each time', () => {
    fc.assert(
      fc.property(key, fc.integer({ min: 60, max: 86_400 }), nowMs, (key, seconds, nowMs) => {
        const first = slotAt({ key, atMs: nowMs + seconds * 1000, nowMs });
        const at = first.dueAt * 1000;
        const second = slotAt({ key, atMs: at + seconds * 1000, nowMs: at, afterDueAt: first.dueAt });
        expect(second.slot).not.toBe(first.slot);
        expect(widthOf(second.slot)).toBeGreaterThanOrEqual(0.87 * seconds - 2);
      }),
    );
  });

  it('a key that was received early gets an exact second: SQS remembers the cells of the time until then', () => {
    const { slot, dueAt } = slotAt({ key: 'a', atMs: 1_000_300_000, nowMs: 1_000_000_000, afterDueAt: 1_000_200 });
    expect([slot, dueAt]).toEqual(['1/1000300', 1_000_300]);
    // Two seconds before its due time a message is not early, as clocks differ.
    const punctual = slotAt({ key: 'a', atMs: 1_000_300_000, nowMs: 1_000_198_000, afterDueAt: 1_000_200 });
    expect(widthOf(punctual.slot)).toBeGreaterThan(90);
  });

  it('a time that the current message was due at is a second later: the same due time would be the same message', () => {
    const { dueAt } = slotAt({ key: 'a', atMs: 1_000_300_000, nowMs: 1_000_290_000, afterDueAt: 1_000_300 });
    expect(dueAt).toBe(1_000_301);
  });

  it('the messages of a wide cell meet at its beginning, then wait until each is due', () => {
    fc.assert(
      fc.property(key, nowMs, fc.integer({ min: 300, max: 100_000 }), (key, nowMs, ahead) => {
        const { dueAt, slot } = slotAt({ key, atMs: nowMs + ahead * 1000, nowMs });
        let now = nowMs / 1000;
        const stops: number[] = [];
        for (let hops = true; hops; ) {
          const delay = timerDelaySeconds({ key, nowMs: now * 1000, dueAt, slot });
          ({ hops } = delay);
          now += delay.delaySeconds;
          stops.push(now);
        }
        const met = widthOf(slot) < 240 || stops.some((at) => at >= beginOf(key, slot) && at < beginOf(key, slot) + 1);
        expect(met).toBe(true);
        expect(now).toBeGreaterThanOrEqual(dueAt);
        expect(now).toBeLessThan(dueAt + 2);
      }),
    );
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

  it('a wait of 900 seconds is the longest one without a hop, to the due time and to the meeting of a wide cell', () => {
    const nowMs = 1_000_000_000;
    const at = (dueAt: number, slot?: string) => timerDelaySeconds({ key: 'a', nowMs, dueAt, slot });
    expect(at(1_000_900)).toEqual({ delaySeconds: 900, hops: false });
    expect(at(1_000_901).hops).toBe(true);
    const width = 300;
    const cell = Math.floor((1_000_900 - resyncOffset('a', width)) / width);
    const meetsAt = cell * width + resyncOffset('a', width);
    const early = { key: 'a', nowMs: (meetsAt - 900) * 1000, dueAt: meetsAt + 200, slot: `${width}/${cell}` };
    expect(timerDelaySeconds(early)).toEqual({ delaySeconds: 900, hops: true });
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
    // The sixth and the seventh return are delayed for longer: 160 and 300 seconds, and a fifth.
    const often = { firstReceivedAt: 1_000_000, receiveCount: 8 };
    expect(sqsNow(often, { ...clock, visibilitySeconds: 180 })).toBe(1_000_300 + (5 * 180 + 192 + 360) * 1000);
  });
});
