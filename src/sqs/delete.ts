// Takes messages that are done off their queue, before the function returns: a time-out cannot say which records of its
// batch were finished, so what is done is deleted at once.
import { DeleteMessageBatchCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { batches } from '../queue/batches.ts';
import { callWithin } from '../queue/call-within.ts';
import { reasonOf } from '../queue/failed-call.ts';
import { queueUrl } from '../queue/names.ts';

/** What can be chosen about deleting. */
export type DeleteOptions = {
  /** Deadline of one call. */
  readonly callSeconds?: number;
  /** Called for each handle that could not be deleted. */
  readonly onFailure?: (reason: string) => void;
};

/**
 * Creates a function that deletes messages of one queue by their receipt handles. It never rejects: a message that stays
 * comes again and finds its work done.
 */
export function createDelete(
  sqs: SQSClient,
  urlPrefix: string,
  queue: string,
  { callSeconds = 5, onFailure = () => undefined }: DeleteOptions = {},
): (receiptHandles: readonly string[], options?: { readonly signal?: AbortSignal }) => Promise<void> {
  async function call(batch: readonly string[], signal: AbortSignal | undefined): Promise<void> {
    const request = new DeleteMessageBatchCommand({
      QueueUrl: queueUrl(urlPrefix, queue),
      Entries: batch.map((ReceiptHandle, number) => ({ Id: String(number), ReceiptHandle })),
    });
    try {
      const { Failed = [] } = await callWithin(callSeconds, signal, (abortSignal) =>
        sqs.send(request, { abortSignal }),
      );
      for (const { Code, Message = '' } of Failed) onFailure(`${queue}: ${Code}: ${Message}`);
    } catch (error) {
      for (const _ of batch) onFailure(`${queue}: ${reasonOf(error)}`);
    }
  }

  return async (receiptHandles, { signal } = {}) => {
    await Promise.all(batches(receiptHandles).map((batch) => call(batch, signal)));
  };
}
