// Delays while functions are killed and their messages redelivered, by the clock of SQS alone. Whole chains of requeues are in
// chains.test.ts, the grid itself in slots.test.ts.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { functionLimits, visibilitySecondsOf } from '../../src/core/controller-options.ts';
import { decide } from '../../src/reconciling/outcome.ts';
import { dueAtOf, type Message } from '../../src/sqs/message.ts';
import { nextSlot, sqsNow } from '../../src/timers/slots.ts';
import { aMessage } from '../sqs/messages.ts';

const visibilitySeconds = visibilitySecondsOf(functionLimits.timeoutSeconds.default);

const started = 1_700_000_000;

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
