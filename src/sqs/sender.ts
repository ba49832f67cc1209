// The narrow view that the verbs have of SQS: put entries on a queue. How batches, retries and the SDK look is behind it.

/** One message for a queue. FIFO queues need both ids and take no delay; standard queues take only a delay. */
export type Entry = {
  readonly body: string;
  readonly groupId?: string;
  readonly deduplicationId?: string;
  readonly delaySeconds?: number;
  /** Message attributes (strings). */
  readonly attributes?: Readonly<Record<string, string>>;
  /** The trace it belongs to, as X-Ray writes it; absent: the sender's own. */
  readonly traceHeader?: string | undefined;
};

/** What became of an entry: accepted, or refused with the last reason. Same order as the entries. */
export type Sent =
  | { readonly accepted: true; readonly messageId: string }
  | {
      readonly accepted: false;
      readonly reason: string;
      /** There is no such queue: trying again will not help. */
      readonly missingQueue?: true;
    };

/** Sends entries to the queue of that name (without prefix), in batches of 10, failed entries again a few times. */
export type Send = (
  queue: string,
  entries: readonly Entry[],
  options: { readonly signal: AbortSignal },
) => Promise<readonly Sent[]>;
