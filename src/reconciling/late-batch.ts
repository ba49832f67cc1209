// A batch that was received long before its function is invoked. While Lambda throttles a function, the event source
// mapping retries a batch until the visibility timeout of its messages ends (AWS Lambda operator guide, "Handling
// errors for an SQS event source"). A reconcile that begins shortly before that would run in parallel to one of the
// next receipt. So the timeout of a late batch is renewed first.
import type { QueueRecord } from '../sqs/record.ts';
import type { RenewMessages } from '../sqs/renew.ts';
import type { ReturnMessages } from '../sqs/return.ts';

/** The dependencies of renewing a late batch. */
export type LateBatchDeps = {
  readonly renewMessages: RenewMessages;
  readonly returnMessages: ReturnMessages;
  /** The visibility timeout of the controller's queue. */
  readonly visibilitySeconds: () => number;
  /** Milliseconds since 1970. A wrong clock costs a request for each batch, or a late batch is not renewed. */
  readonly nowMs: () => number;
};

/**
 * Returns the records of a batch that no other function can receive while this one runs. The message group of a record
 * that cannot be renewed is left out as a whole. A batch without a message that was just received for the first time
 * may be late: when a message was received again is not known.
 */
export async function holdLateBatch(
  records: readonly QueueRecord[],
  { renewMessages, returnMessages, visibilitySeconds, nowMs }: LateBatchDeps,
  signal: AbortSignal,
): Promise<readonly QueueRecord[]> {
  const options = { visibilitySeconds: visibilitySeconds(), signal };
  const oldestMs = nowMs() - (options.visibilitySeconds * 1000) / 2;
  if (records.some(({ receiveCount, firstReceivedAt }) => receiveCount <= 1 && firstReceivedAt > oldestMs))
    return records;
  const renewed = new Set(await renewMessages(records, options));
  const refused = new Set(records.filter((record) => !renewed.has(record)).map(({ groupId }) => groupId));
  // Otherwise they would block their group for another visibility timeout, in which nothing of it runs.
  const blocking = records.filter((record) => renewed.has(record) && refused.has(record.groupId));
  if (blocking.length > 0) await returnMessages(blocking, options);
  return records.filter(({ groupId }) => !refused.has(groupId));
}
