// The request by which messages become visible again after a time, sooner or later than their queue says.
import { ChangeMessageVisibilityBatchCommand } from '@aws-sdk/client-sqs';
import type { QueueRecord } from './record.ts';

/** Makes the request for a batch of messages of one queue. The id of each entry is the index of its message. */
export function visibilityRequest(
  queueUrl: string,
  batch: readonly Pick<QueueRecord, 'receiptHandle'>[],
  seconds: number,
): ChangeMessageVisibilityBatchCommand {
  return new ChangeMessageVisibilityBatchCommand({
    QueueUrl: queueUrl,
    Entries: batch.map(({ receiptHandle }, number) => ({
      Id: String(number),
      ReceiptHandle: receiptHandle,
      VisibilityTimeout: seconds,
    })),
  });
}
