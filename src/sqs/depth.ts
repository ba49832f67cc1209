// The number of messages on a queue. It is approximate (SQS counts across its servers), which is enough to detect a
// nearly empty queue.
import { GetQueueAttributesCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { callTimeoutSeconds, callWithin } from './call.ts';
import { queueUrl } from './sqs-client.ts';

/** The approximate numbers of messages on a queue: ready, received but not deleted, and delayed. */
export type QueueDepth = { readonly visible: number; readonly inFlight: number; readonly delayed: number };

/** Reads the depth of the queue of this name. Rejects with the SDK's error. */
export type Depth = (queue: string, options: { readonly signal: AbortSignal }) => Promise<QueueDepth>;

/** Creates a Depth. */
export function createDepth(sqs: SQSClient, urlPrefix: string): Depth {
  return async (queue, { signal }) => {
    const request = new GetQueueAttributesCommand({
      QueueUrl: queueUrl(urlPrefix, queue),
      AttributeNames: [
        'ApproximateNumberOfMessages',
        'ApproximateNumberOfMessagesNotVisible',
        'ApproximateNumberOfMessagesDelayed',
      ],
    });
    const { Attributes: counts = {} } = await callWithin(callTimeoutSeconds, signal, (abortSignal) =>
      sqs.send(request, { abortSignal }),
    );
    return {
      visible: Number(counts.ApproximateNumberOfMessages ?? 0),
      inFlight: Number(counts.ApproximateNumberOfMessagesNotVisible ?? 0),
      delayed: Number(counts.ApproximateNumberOfMessagesDelayed ?? 0),
    };
  };
}
