// Deletes finished messages from their queue before the function returns. A function that times out cannot report which
// records of its batch were finished, so finished messages are deleted early.
import { DeleteMessageBatchCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { callBatch } from './call.ts';
import { batches } from './send.ts';
import { queueUrl } from './sqs-client.ts';

/** Options of deleting. */
export type DeleteOptions = {
  /** Called for each message that could not be deleted. */
  readonly onFailure?: (reason: string) => void;
};

/**
 * Creates a function that deletes messages of one queue by their receipt handles. It never rejects. A message that was
 * not deleted is received again, and its reconcile then finds nothing to do.
 */
export function createDelete(
  sqs: SQSClient,
  urlPrefix: string,
  queue: string,
  { onFailure = () => undefined }: DeleteOptions = {},
): (receiptHandles: readonly string[], options?: { readonly signal?: AbortSignal }) => Promise<void> {
  async function call(batch: readonly string[], signal: AbortSignal | undefined): Promise<void> {
    const request = new DeleteMessageBatchCommand({
      QueueUrl: queueUrl(urlPrefix, queue),
      Entries: batch.map((ReceiptHandle, number) => ({ Id: String(number), ReceiptHandle })),
    });
    const failures = await callBatch(queue, signal, (abortSignal) => sqs.send(request, { abortSignal }));
    for (const reason of failures.entries) onFailure(reason);
    if (failures.request !== undefined) for (const _ of batch) onFailure(failures.request);
  }

  return async (receiptHandles, { signal } = {}) => {
    await Promise.all(batches(receiptHandles).map((batch) => call(batch, signal)));
  };
}
