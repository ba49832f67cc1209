// The interface to SQS that the other folders use: send entries to a queue. Batches, retries and the SDK are behind it,
// in send.ts.

/**
 * One message for a queue. A FIFO queue requires both ids and allows no delay. A standard queue allows only a delay.
 */
export type QueueEntry = {
  readonly body: string;
  readonly groupId?: string;
  readonly deduplicationId?: string;
  readonly delaySeconds?: number;
  /** Message attributes (strings). */
  readonly attributes?: Readonly<Record<string, string>>;
  /** The trace of the message, in X-Ray's format. Absent: the trace of the current invocation. */
  readonly traceHeader?: string | undefined;
};

/** The result of an entry: accepted, or rejected with the last reason. In the order of the entries. */
export type SendResult =
  | { readonly accepted: true; readonly messageId: string }
  | {
      readonly accepted: false;
      readonly reason: string;
      /** The error of the call, if it failed as a whole. */
      readonly error?: Error | undefined;
      /** The queue does not exist: a retry does not help. */
      readonly missingQueue?: true;
    };

/**
 * Sends entries to the queue of this name (without the prefix), in batches of 10. Failed entries are retried a few
 * times.
 */
export type Send = (
  queue: string,
  entries: readonly QueueEntry[],
  options: { readonly signal: AbortSignal },
) => Promise<readonly SendResult[]>;
