// Time as the functions have it: waiting, the deadline of an invocation, and SQS's clock.
import type { Context as LambdaContext } from 'aws-lambda';
import { waitReally } from '../core/time.ts';
import { sqsNow } from '../queue/slots.ts';
import type { QueueRecord } from '../runtime/intake.ts';

/** Kept free before the function's own deadline, for deleting what is done and for the answer. */
const reserveMs = 2_000;

/** Milliseconds that an invocation may use. */
export function usableMs(context: LambdaContext): number {
  return Math.max(1, context.getRemainingTimeInMillis() - reserveMs);
}

/** A signal that aborts before the function's deadline. */
export function deadlineOf(context: LambdaContext): AbortSignal {
  return AbortSignal.timeout(usableMs(context));
}

/** SQS's clock as an execution environment sees it: a wrong local clock must not reuse a slot that FIFO still remembers. */
export type SqsClock = {
  /** Notes that a batch has just come in. */
  received(): void;
  /** Milliseconds since 1970 by SQS's clock, going by a record of that batch. */
  now(record: QueueRecord): number;
};

/** Creates an SQS clock. */
export function createSqsClock(): SqsClock {
  let receivedMonotonicMs = performance.now();
  return {
    received: () => {
      receivedMonotonicMs = performance.now();
    },
    now: (record) => sqsNow(record, { receivedMonotonicMs, monotonicMs: performance.now(), localMs: Date.now() }),
  };
}

/** Resolves after so many milliseconds, or as soon as the signal aborts. */
export async function wait(milliseconds: number, signal: AbortSignal): Promise<void> {
  await waitReally(milliseconds / 1000, signal).catch(() => undefined);
}
