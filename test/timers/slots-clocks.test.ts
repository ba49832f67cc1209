// Delays while functions are killed and their messages redelivered; no local clock takes part: from the outcome of a reconcile through the timers back to the FIFO queue, with the real code of the
// functions, and an SQS that forgets ids after five minutes. The grid itself is in slots.test.ts.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { functionLimits, visibilitySecondsOf } from '../../src/core/controller-options.ts';
import { decide } from '../../src/reconciling/outcome.ts';
import { createFunctionIds, deduplicationSeconds } from '../../src/sqs/deduplication.ts';
import { dueAtOf, formatMessage, type Message, parseMessage } from '../../src/sqs/message.ts';
import { nextSlot, sqsNow } from '../../src/timers/slots.ts';
import { nextTimerStep, timerEntry } from '../../src/timers/timer-message.ts';
import { aMessage } from '../sqs/messages.ts';

const visibilitySeconds = visibilitySecondsOf(functionLimits.timeoutSeconds.default);

const started = 1_700_000_000;
const delaySeconds = fc.oneof(
  fc.constantFrom(6, 30, 299, 300, 301, 600, 899, 900, 901, 3_600),
  fc.integer({ min: 6, max: 7_200 }),
);

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

it('any number of events with one delay become one chain that continues after crashes', () => {
  const events = fc.array(fc.double({ min: 0, max: 1.2, noNaN: true }), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(
      delaySeconds,
      events,
      fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })),
      (delay, at, chances) => {
        const crashesUntil = started + 4 * delay;
        // A killed function delays a chain by its message's visibility timeout.
        const oneChainFrom = crashesUntil + visibilitySeconds + 4 * delay;
        const { reconciles, left } = simulate({
          delay,
          events: at.map((one) => started + one * delay),
          crashesUntil,
          until: oneChainFrom + 6 * delay,
          chance: () => chances.next().value ?? 0,
        });
        expect(left).toBe(1);
        const due = reconciles.filter(({ time }) => time > oneChainFrom).map(({ dueAt = 0 }) => dueAt);
        expect(due.length).toBeGreaterThanOrEqual(5);
        for (const [index, one] of due.entries()) if (index > 0) expect(one - (due[index - 1] ?? 0)).toBe(delay);
      },
    ),
    { numRuns: 200 },
  );
});

type Reconcile = { readonly time: number; readonly dueAt: number | undefined };
type QueuedMessage = {
  readonly time: number;
  readonly body: string;
  readonly to: 'timers' | 'fifo';
  readonly first?: number;
};

/**
 * Simulates the reconciles of one key that always returns the same delay. Functions crash until `crashesUntil`. Times
 * are in seconds.
 */
function simulate({
  delay,
  events,
  crashesUntil,
  until,
  chance,
}: {
  readonly delay: number;
  readonly events: readonly number[];
  readonly crashesUntil: number;
  readonly until: number;
  readonly chance: () => number;
}): { readonly reconciles: readonly Reconcile[]; readonly left: number } {
  const accepted = new Map<string, number>();
  const reconciles: Reconcile[] = [];
  const queue: QueuedMessage[] = events.map((time) => ({
    time,
    to: 'fifo',
    body: formatMessage(aMessage()),
  }));
  /**
   * The time by the clock of SQS in a function that receives a message now, and that was first delivered at `first`.
   */
  const clock = ({ time, first }: QueuedMessage): number =>
    sqsNow(
      { firstReceivedAt: (first ?? time) * 1000, receiveCount: first === undefined ? 1 : 2 },
      { receivedMonotonicMs: 0, monotonicMs: 0 },
    );
  for (;;) {
    queue.sort((a, b) => b.time - a.time);
    const next = queue.pop();
    if (next === undefined) return { reconciles, left: 0 };
    const { time, body, to, first } = next;
    if (time > until) return { reconciles, left: queue.length + 1 };
    if (time < crashesUntil && chance() < 0.1) {
      queue.push({ ...next, time: time + visibilitySeconds, first: first ?? time });
      continue;
    }
    const nowMs = clock(next);
    if (to === 'fifo') {
      const message = parseMessage(body);
      reconciles.push({ time, dueAt: dueAtOf(message) });
      const action = decide({ type: 'done', requeueAfterSeconds: delay }, message, nowMs);
      if (action.type !== 'timer') throw new Error(action.type);
      const entry = timerEntry(action.message, { nowMs });
      queue.push({ time: time + (entry.delaySeconds ?? 0) + 0.2 * chance(), to: 'timers', body: entry.body });
      continue;
    }
    const step = nextTimerStep(parseMessage(body), { nowMs, ids: createFunctionIds() });
    if (step.type === 'hop') {
      queue.push({ time: time + (step.entry.delaySeconds ?? 0) + 0.2 * chance(), to: 'timers', body: step.entry.body });
      continue;
    }
    const id = step.entry.deduplicationId ?? '';
    if (time - (accepted.get(id) ?? Number.NEGATIVE_INFINITY) < deduplicationSeconds) continue;
    accepted.set(id, time);
    queue.push({ time: time + 0.2 * chance(), to: 'fifo', body: step.entry.body });
  }
}
