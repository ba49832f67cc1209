// Waits while every function's clock is wrong by up to ten minutes, each invocation's in its own way, and functions are killed and
// their messages come again: from the outcome of a reconcile over the timers back to FIFO, decided by the code of the functions,
// with an SQS that forgets ids after five minutes. The grid itself is slots.test.ts.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { formatMessage, type Message, parseMessage } from '../../src/queue/message.ts';
import { nextSlot, sqsNow } from '../../src/queue/slots.ts';
import { stepTimer, timerEntry } from '../../src/queue/timer.ts';
import { decide } from '../../src/runtime/outcome.ts';
import { aMessage } from '../queue/messages.ts';

const started = 1_700_000_000;
const wrongSeconds = 600;
const skew = fc.double({ min: -wrongSeconds, max: wrongSeconds, noNaN: true });
const delaySeconds = fc.oneof(
  fc.constantFrom(6, 30, 299, 300, 301, 600, 899, 900, 901, 3_600),
  fc.integer({ min: 6, max: 7_200 }),
);
/** A killed function's message is back after so long. */
const visibilitySeconds = 180;
const memorySeconds = 300;

it('a first wait is 0.5 to 1.5 times the delay by SQS’s clock, whatever the function’s own says', () => {
  const times = fc.record({
    at: fc.nat(1e9),
    tookMs: fc.nat(30_000),
    local: skew,
    delay: fc.integer({ min: 1, max: 86_400 }),
  });
  fc.assert(
    fc.property(fc.string(), times, (target, { at, tookMs, local, delay }) => {
      const firstReceivedAt = started * 1000 + at;
      const reallyMs = firstReceivedAt + tookMs;
      const nowMs = sqsNow(
        { firstReceivedAt, receiveCount: 1 },
        { receivedMonotonicMs: 5, monotonicMs: 5 + tookMs, localMs: reallyMs + local * 1000 },
      );
      const waited = nextSlot({ target, delaySeconds: delay, nowMs }).dueAt - reallyMs / 1000;
      expect(waited).toBeGreaterThanOrEqual(delay / 2);
      expect(waited).toBeLessThanOrEqual(delay * 1.5);
    }),
  );
});

it('every wait goes to a later slot than the one before, also after a function died', () => {
  const visit = fc.record({
    delay: fc.integer({ min: 1, max: 10_000 }),
    passed: fc.nat(10_000),
    local: skew,
    again: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(visit, { minLength: 2, maxLength: 20 }), (visits) => {
      let message: Message = aMessage({ lane: 'watch' });
      let really = started;
      for (const { delay, passed, local, again } of visits) {
        const received = really;
        really += again ? visibilitySeconds + passed : passed;
        const record = { firstReceivedAt: received * 1000, receiveCount: again ? 2 : 1 };
        const monotonicMs = again ? 0 : passed * 1000;
        const nowMs = sqsNow(record, { receivedMonotonicMs: 0, monotonicMs, localMs: (really + local) * 1000 });
        const action = decide({ type: 'done', requeueAfterSeconds: delay }, message, nowMs);
        if (action.type !== 'later') throw new Error(action.type);
        expect(action.message.dueAt).toBeGreaterThan(message.dueAt ?? 0);
        expect(action.message.slot).not.toBe(message.slot);
        message = action.message;
      }
    }),
  );
});

it('one chain a delay: however many events asked for it and whatever was wrong meanwhile, it is one, and it goes on', () => {
  const events = fc.array(fc.double({ min: 0, max: 1.2, noNaN: true }), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(
      delaySeconds,
      events,
      fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })),
      (delay, at, chances) => {
        const calmFrom = started + 4 * delay;
        // A clock ten minutes ahead puts a chain off by as much, and a killed function by its message's time-out.
        const together = calmFrom + wrongSeconds + visibilitySeconds + 4 * delay;
        const { reconciles, left } = simulate({
          delay,
          events: at.map((one) => started + one * delay),
          calmFrom,
          until: together + 6 * delay,
          chance: () => chances.next().value ?? 0,
        });
        expect(left).toBe(1);
        const due = reconciles.filter(({ time }) => time > together).map(({ dueAt = 0 }) => dueAt);
        expect(due.length).toBeGreaterThanOrEqual(5);
        for (const [index, one] of due.entries()) if (index > 0) expect(one - (due[index - 1] ?? 0)).toBe(delay);
      },
    ),
    { numRuns: 200 },
  );
});

type Visit = { readonly time: number; readonly dueAt: number | undefined };
type Waiting = {
  readonly time: number;
  readonly body: string;
  readonly to: 'timers' | 'fifo';
  readonly first?: number;
};

/** Reconciles of one key that always asks for the same delay; functions die until `calmFrom`. Seconds. */
function simulate({
  delay,
  events,
  calmFrom,
  until,
  chance,
}: {
  readonly delay: number;
  readonly events: readonly number[];
  readonly calmFrom: number;
  readonly until: number;
  readonly chance: () => number;
}): { readonly reconciles: readonly Visit[]; readonly left: number } {
  const accepted = new Map<string, number>();
  const reconciles: Visit[] = [];
  const queue: Waiting[] = events.map((time) => ({
    time,
    to: 'fifo',
    body: formatMessage(aMessage({ lane: 'watch' })),
  }));
  /** The clock of a function that was handed a message now, for the first time at `first`. */
  const clock = ({ time, first }: Waiting): number =>
    sqsNow(
      { firstReceivedAt: (first ?? time) * 1000, receiveCount: first === undefined ? 1 : 2 },
      { receivedMonotonicMs: 0, monotonicMs: 0, localMs: (time + (2 * chance() - 1) * wrongSeconds) * 1000 },
    );
  for (;;) {
    queue.sort((a, b) => b.time - a.time);
    const next = queue.pop();
    if (next === undefined) return { reconciles, left: 0 };
    const { time, body, to, first } = next;
    if (time > until) return { reconciles, left: queue.length + 1 };
    if (time < calmFrom && chance() < 0.1) {
      queue.push({ ...next, time: time + visibilitySeconds, first: first ?? time });
      continue;
    }
    const nowMs = clock(next);
    if (to === 'fifo') {
      const message = parseMessage(body);
      reconciles.push({ time, dueAt: message.dueAt });
      const action = decide({ type: 'done', requeueAfterSeconds: delay }, message, nowMs);
      if (action.type !== 'later') throw new Error(action.type);
      const entry = timerEntry(action.message, { nowMs });
      queue.push({ time: time + (entry.delaySeconds ?? 0) + 0.2 * chance(), to: 'timers', body: entry.body });
      continue;
    }
    const step = stepTimer(parseMessage(body), { nowMs });
    if (step.type === 'hop') {
      queue.push({ time: time + (step.entry.delaySeconds ?? 0) + 0.2 * chance(), to: 'timers', body: step.entry.body });
      continue;
    }
    const id = step.entry.deduplicationId ?? '';
    if (time - (accepted.get(id) ?? Number.NEGATIVE_INFINITY) < memorySeconds) continue;
    accepted.set(id, time);
    queue.push({ time: time + 0.2 * chance(), to: 'fifo', body: step.entry.body });
  }
}
