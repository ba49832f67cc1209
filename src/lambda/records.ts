// Converts the records of an SQS event, and the response to it.

import type { QueueRecord } from '../sqs/record.ts';
import { senderAttribute, unknownSinceAttribute } from '../sqs/senders.ts';
import type { SqsBatchResponse, SqsRecord } from './events.ts';

/** Reads a record of an SQS event. */
export function toQueueRecord({
  messageId,
  receiptHandle,
  body,
  attributes,
  messageAttributes,
}: SqsRecord): QueueRecord {
  const stampedSender = messageAttributes[senderAttribute]?.stringValue;
  const unknownSince = messageAttributes[unknownSinceAttribute]?.stringValue;
  return {
    messageId,
    receiptHandle,
    body,
    groupId: attributes.MessageGroupId,
    receiveCount: Number(attributes.ApproximateReceiveCount),
    firstReceivedAt: Number(attributes.ApproximateFirstReceiveTimestamp),
    senderId: attributes.SenderId,
    stampedSender,
    unknownSince,
    traceHeader: attributes.AWSTraceHeader,
  };
}

/** Makes the response that keeps these messages on the queue (AWS Lambda: reporting batch item failures). */
export function toBatchResponse(messageIds: readonly string[]): SqsBatchResponse {
  return { batchItemFailures: messageIds.map((itemIdentifier) => ({ itemIdentifier })) };
}
