// Chains of requeues with the real code of the functions, from a reconcile's outcome through the timers to the next
// reconcile, in a simulated SQS. It forgets ids after five minutes and delivers some messages twice. The functions
// have no clock but that of SQS, up to half a second off. The grid itself is in slots.test.ts.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { functionLimits, visibilitySecondsOf } from '../../src/core/controller-options.ts';
import { decide } from '../../src/reconciling/outcome.ts';
import { createFunctionIds, deduplicationSeconds } from '../../src/sqs/deduplication.ts';
import { formatMessage, type Message, parseMessage } from '../../src/sqs/message.ts';
import type { QueueEntry } from '../../src/sqs/sender.ts';
import { sqsNow } from '../../src/timers/slots.ts';
import { nextTimerStep, timerEntry } from '../../src/timers/timer-message.ts';
import { createSeededRandom } from '../../tools/chaos/random.ts';
import { aMessage } from '../sqs/messages.ts';

const visibilitySeconds = visibilitySecondsOf(functionLimits.timeoutSeconds.default);

const started = 1_700_000_000;
const ids = createFunctionIds();

/** A message on a queue, and when it is delivered, in seconds. */
type QueuedMessage = {
  readonly at: number;
  readonly on: 'timers' | 'fifo';
  readonly body: string;
  readonly receipts: number;
  readonly duplicate?: true;
};

it('requeues of a key become one chain that never ends, with crashes, wrong clocks and duplicates', () => {
  const delays = fc.oneof(
    fc.constantFrom(10, 30, 300, 301, 900, 901, 3_600, 86_400),
    fc.integer({ min: 10, max: 20_000 }),
  );
  const events = fc.array(fc.double({ min: 0, max: 1.2, noNaN: true }), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(delays, events, fc.nat(), (delay, at, seed) => {
      const crashesUntil = started + 10 * delay + 3_600;
      // For this long, redeliveries can have put one chain ahead of another.
      const until = crashesUntil + 4 * delay + 2 * visibilitySeconds;
      const { reconciles, waiting } = simulate({
        delay,
        events: at.map((one) => started + one * delay),
        crashesUntil,
        until,
        chance: createSeededRandom(seed).number,
      });
      expect(waiting.size, 'one message waits at the end').toBe(1);
      // At the end there is one reconcile per delay.
      const last = reconciles.filter((time) => time > until - 2.5 * delay);
      expect(last.length).toBeGreaterThanOrEqual(2);
      for (const [index, time] of last.slice(1).entries()) {
        expect(Math.abs(time - (last[index] ?? 0) - delay)).toBeLessThan(3);
      }
    }),
    { numRuns: 100 },
  );
});

it('a chain with a delay of a few seconds can skip a slot, but never ends', () => {
  const events = fc.array(fc.double({ min: 0, max: 1.2, noNaN: true }), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(fc.constantFrom(1, 2, 3, 4, 5), events, fc.nat(), (delay, at, seed) => {
      const { reconciles } = simulate({
        delay,
        events: at.map((one) => started + one * delay),
        crashesUntil: started,
        until: started + 60,
        chance: createSeededRandom(seed).number,
      });
      // At worst it is 2.5 s late, and then uses the slot after the next one.
      for (const [index, time] of reconciles.slice(1).entries())
        expect(time - (reconciles[index] ?? 0)).toBeLessThanOrEqual(1.5 * delay + 5);
      expect(reconciles.at(-1)).toBeGreaterThan(started + 60 - 1.5 * delay - 5);
    }),
  );
});

/** Simulates the reconciles of one key that always returns the same delay. `chance` is in [0, 1). */
function simulate({
  delay,
  events,
  crashesUntil,
  until,
  chance,
}: {
  readonly delay: number;
  readonly events: readonly number[];
  /** Functions crash until this time. */
  readonly crashesUntil: number;
  readonly until: number;
  readonly chance: () => number;
}): { reconciles: readonly number[]; waiting: ReadonlySet<string> } {
  const reconciles: number[] = [];
  const accepted = new Map<string, number>();
  let queued: QueuedMessage[] = events.map((at) => ({ at, on: 'fifo', body: formatMessage(aMessage()), receipts: 1 }));

  /**
   * The time by the clock of SQS, as a function calculates it from the first receipt and the number of receipts. The
   * local clock is behind by up to the time since the first receipt, and a little more.
   */
  const nowMs = ({ at, receipts }: QueuedMessage) => {
    const sinceFirst = (receipts - 1) * visibilitySeconds;
    const now = sqsNow(
      { firstReceivedAt: (at - sinceFirst) * 1000, receiveCount: receipts },
      { receivedMonotonicMs: 0, monotonicMs: 200, localMs: (at - 1.1 * chance() * sinceFirst) * 1000 },
    );
    return now + (chance() - 0.5) * 1000;
  };
  const put = (
    { at, duplicate }: QueuedMessage,
    { body, delaySeconds = 0 }: Pick<QueueEntry, 'body' | 'delaySeconds'>,
  ) => {
    const inherited = duplicate === undefined ? {} : { duplicate };
    const one: QueuedMessage = {
      at: at + delaySeconds + 0.3 * chance(),
      on: 'timers',
      body,
      receipts: 1,
      ...inherited,
    };
    queued.push(one);
    // A standard queue delivers at least once. Duplicates of duplicates would only cost time.
    if (duplicate === undefined && chance() < 0.05) queued.push({ ...one, at: one.at + 1, duplicate: true });
  };
  for (;;) {
    queued = queued.toSorted((a, b) => b.at - a.at);
    const next = queued.at(-1);
    if (next === undefined || next.at > until) break;
    queued.pop();
    const { at, on, body, receipts } = next;
    const message = parseMessage(body);
    // Its function crashed before it did anything. The message is delivered again.
    if (receipts === 1 && chance() < 0.1 && at < crashesUntil)
      queued.push({ ...next, at: at + visibilitySeconds, receipts: 2 });
    else if (on === 'timers') {
      const step = nextTimerStep(message, { nowMs: nowMs(next), ids });
      const id = idOf(message);
      if (step.type === 'hop') put(next, step.entry);
      else if (at - (accepted.get(id) ?? Number.NEGATIVE_INFINITY) >= deduplicationSeconds) {
        accepted.set(id, at);
        queued.push({ at, on: 'fifo', body, receipts: 1 });
      }
    } else {
      reconciles.push(at);
      const now = nowMs(next);
      for (const timer of decide({ type: 'done', requeueAfterSeconds: delay }, message, { nowMs: now }).timers)
        put(next, timerEntry(timer, { nowMs: now }));
    }
  }
  // A duplicate of a message that the FIFO queue has already accepted has no effect.
  const isDuplicate = ({ on, body }: QueuedMessage) => on === 'timers' && accepted.has(idOf(parseMessage(body)));
  const waiting = queued.filter((one) => !isDuplicate(one)).map(({ body }) => idOf(parseMessage(body)));
  return { reconciles, waiting: new Set(waiting) };
}

/** Returns the id that a message has, or would have, on its controller's queue. */
function idOf({ cause }: Message): string {
  return cause.type === 'requeue' ? ids.requeue(aMessage(), cause) : cause.type;
}
