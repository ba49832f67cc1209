// The time in a function: waits, the deadline of an invocation, and the clock of SQS.

import { functionLimits, visibilitySecondsOf } from '../core/controller-options.ts';
import { sleep } from '../core/time.ts';
import type { QueueRecord } from '../sqs/record.ts';
import { sqsNow } from '../timers/slots.ts';
import type { InvocationContext } from './events.ts';

/** Reserved before the function's own deadline, for deleting finished messages and for the response. */
const reserveMs = 2_000;

/** Returns the milliseconds that an invocation may still use. */
export function remainingMs(context: InvocationContext): number {
  return Math.max(1, context.getRemainingTimeInMillis() - reserveMs);
}

/** Creates a signal that aborts before the function's deadline. */
export function deadlineOf(context: InvocationContext): AbortSignal {
  return AbortSignal.timeout(remainingMs(context));
}

/**
 * The clock of SQS in an execution environment. A wrong local clock could reuse a slot that a FIFO queue still
 * remembers.
 */
export type SqsClock = {
  /** Records that this batch was received now, at the start of an invocation. */
  received(records: readonly QueueRecord[], context?: InvocationContext): void;
  /** Returns the milliseconds since 1970 by the clock of SQS, calculated from a record of that batch. */
  now(record: QueueRecord): number;
  /** Returns the visibility timeout of the queue, calculated from the timeout of the function. */
  visibilitySeconds(): number;
};

/** Creates an SQS clock. It learns the time of SQS from records that are received for the first time. */
export function createSqsClock(): SqsClock {
  let receivedMonotonicMs = performance.now();
  let offsetMs: number | undefined;
  let timeoutSeconds: number = functionLimits.timeoutSeconds.default;
  return {
    received: (records, context) => {
      receivedMonotonicMs = performance.now();
      // The whole timeout of the function: a deployment may override the declared one.
      if (context !== undefined) timeoutSeconds = Math.ceil(context.getRemainingTimeInMillis() / 1000);
      const delivered = records.filter(({ receiveCount }) => receiveCount === 1);
      if (delivered.length === 0) return;
      offsetMs = Math.max(...delivered.map(({ firstReceivedAt }) => firstReceivedAt)) - receivedMonotonicMs;
    },
    now: (record) => {
      const visibilitySeconds = visibilitySecondsOf(timeoutSeconds);
      const times = { receivedMonotonicMs, monotonicMs: performance.now(), localMs: Date.now() };
      return sqsNow(record, { ...times, offsetMs, visibilitySeconds });
    },
    visibilitySeconds: () => visibilitySecondsOf(timeoutSeconds),
  };
}

/** Resolves after this many milliseconds, or when the signal aborts. */
export async function sleepMs(milliseconds: number, signal: AbortSignal): Promise<void> {
  await sleep(milliseconds / 1000, signal).catch(() => undefined);
}
