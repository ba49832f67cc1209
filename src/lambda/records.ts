// SQS events as the verbs want them, and SQS's clock as a function sees it.
import type { SQSBatchResponse, SQSRecord } from 'aws-lambda';
import type { QueueRecord } from '../runtime/intake.ts';

/** Reads a record of an SQS event. */
export function toQueueRecord({ messageId, receiptHandle, body, attributes }: SQSRecord): QueueRecord {
  return {
    messageId,
    receiptHandle,
    body,
    groupId: attributes.MessageGroupId,
    receiveCount: Number(attributes.ApproximateReceiveCount),
    firstReceivedAt: Number(attributes.ApproximateFirstReceiveTimestamp),
    ...(attributes.AWSTraceHeader === undefined ? {} : { traceHeader: attributes.AWSTraceHeader }),
  };
}

/** Says which messages stay on the queue (AWS Lambda: reporting batch item failures). */
export function toBatchResponse(messageIds: readonly string[]): SQSBatchResponse {
  return { batchItemFailures: messageIds.map((itemIdentifier) => ({ itemIdentifier })) };
}
