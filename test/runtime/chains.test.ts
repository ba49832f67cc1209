// Chains of requeues by the functions' own decisions, from a reconcile's outcome through the timers to the next reconcile, in a
// simulated SQS: it forgets ids after five minutes, delivers twice, and the functions' clocks are up to ten minutes off. The grid
// itself, and clocks half a second off, are queue/slots.test.ts.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseMessage } from '../../src/queue/message.ts';
import type { Entry } from '../../src/sqs/sender.ts';
import { sqsNow } from '../../src/queue/slots.ts';
import { stepTimer, timerEntry } from '../../src/queue/timer.ts';
import { decide } from '../../src/runtime/outcome.ts';
import { createDice } from '../../tools/chaos/random.ts';
import { aMessage } from '../queue/messages.ts';

const started = 1_700_000_000;
const rememberedSeconds = 300;
const visibilitySeconds = 180;
const skewSeconds = 600;

/** Something that lies on a queue, and when it is handed out, in seconds. */
type Lying = {
  readonly at: number;
  readonly on: 'timers' | 'fifo';
  readonly body: string;
  readonly receipts: number;
  readonly copy?: true;
};

describe('a chain of requeues', () => {
  it('becomes one, and never dies, at any delay, although functions die, clocks are ten minutes off and messages come twice', () => {
    const delays = fc.oneof(
      fc.constantFrom(10, 30, 300, 301, 900, 901, 3_600, 86_400),
      fc.integer({ min: 10, max: 20_000 }),
    );
    const events = fc.array(fc.double({ min: 0, max: 1.2, noNaN: true }), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(delays, events, fc.nat(), (delay, at, seed) => {
        const troubledUntil = started + 10 * delay + 3_600;
        // As long as the clocks may have put a chain ahead of another.
        const until = troubledUntil + 4 * delay + 2 * skewSeconds;
        const { reconciles, waiting } = simulate({
          delay,
          events: at.map((one) => started + one * delay),
          ...{ troubledUntil, until },
          chance: createDice(seed).number,
        });
        expect(waiting.size, 'one wait at the end').toBe(1);
        // In the end it is as if nothing had ever happened: one reconcile, and the next a delay later.
        const last = reconciles.filter((time) => time > until - 2.5 * delay);
        expect(last.length).toBeGreaterThanOrEqual(2);
        for (const [index, time] of last.slice(1).entries()) {
          expect(Math.abs(time - (last[index] ?? 0) - delay)).toBeLessThan(3);
        }
      }),
      { numRuns: 100 },
    );
  });
});

/** Reconciles of one key that always asks for the same delay. `chance` in [0, 1). */
function simulate({
  delay,
  events,
  troubledUntil,
  until,
  chance,
}: {
  readonly delay: number;
  readonly events: readonly number[];
  /** Until then functions die. */
  readonly troubledUntil: number;
  readonly until: number;
  readonly chance: () => number;
}): { readonly reconciles: readonly number[]; readonly waiting: ReadonlySet<string> } {
  const reconciles: number[] = [];
  const accepted = new Map<string, number>();
  let lying: Lying[] = events.map((at) => ({
    at,
    on: 'fifo',
    body: JSON.stringify(aMessage({ lane: 'watch' })),
    receipts: 1,
  }));

  /** What a function takes for SQS's time: the record's first receipt, or its own clock where the record came again. */
  const nowMs = ({ at, receipts }: Lying) =>
    sqsNow(
      { firstReceivedAt: (at - (receipts - 1) * visibilitySeconds) * 1000, receiveCount: receipts },
      { receivedMonotonicMs: 0, monotonicMs: 200, localMs: (at + (2 * chance() - 1) * skewSeconds) * 1000 },
    );
  const put = ({ at, copy }: Lying, { body, delaySeconds = 0 }: Pick<Entry, 'body' | 'delaySeconds'>) => {
    const marked = copy === undefined ? {} : { copy };
    const one: Lying = { at: at + delaySeconds + 0.3 * chance(), on: 'timers', body, receipts: 1, ...marked };
    lying.push(one);
    // A standard queue delivers at least once; a copy of a copy would only cost time.
    if (copy === undefined && chance() < 0.05) lying.push({ ...one, at: one.at + 1, copy: true });
  };
  for (;;) {
    lying = lying.toSorted((a, b) => b.at - a.at);
    const next = lying.at(-1);
    if (next === undefined || next.at > until) break;
    lying.pop();
    const { at, on, body, receipts } = next;
    // Its function died: nothing of it was done, and it comes again.
    if (receipts === 1 && chance() < 0.1 && at < troubledUntil)
      lying.push({ ...next, at: at + visibilitySeconds, receipts: 2 });
    else if (on === 'timers') {
      const step = stepTimer(parseMessage(body), { nowMs: nowMs(next) });
      const id = idOf(body);
      if (step.type === 'hop') put(next, step.entry);
      else if (at - (accepted.get(id) ?? Number.NEGATIVE_INFINITY) >= rememberedSeconds) {
        accepted.set(id, at);
        lying.push({ at, on: 'fifo', body, receipts: 1 });
      }
    } else {
      reconciles.push(at);
      const now = nowMs(next);
      const action = decide({ type: 'done', requeueAfterSeconds: delay }, parseMessage(body), now);
      if (action.type === 'later') put(next, timerEntry(action.message, { nowMs: now }));
    }
  }
  // A copy of what FIFO has had already leads nowhere.
  const isCopy = ({ on, body }: Lying) => on === 'timers' && accepted.has(idOf(body));
  return { reconciles, waiting: new Set(lying.filter((one) => !isCopy(one)).map(({ body }) => idOf(body))) };
}

/** The id that a message has, or would have, on its controller's queue. */
function idOf(body: string): string {
  const { lane, slot = 'none' } = parseMessage(body);
  return `${lane} ${slot}`;
}
