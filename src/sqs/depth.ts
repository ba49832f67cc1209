// How full a queue is. Approximate by nature (SQS counts across its servers), which is enough to tell "near empty".
import { GetQueueAttributesCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { callWithin } from '../queue/call-within.ts';
import { queueUrl } from '../queue/names.ts';

/** Messages of a queue, approximately: ready, received but not deleted, and waiting for their delay. */
export type QueueDepth = { readonly visible: number; readonly inFlight: number; readonly delayed: number };

/** Tells how full the queue of that name is. Rejects with the SDK's error. */
export type Depth = (queue: string, options: { readonly signal: AbortSignal }) => Promise<QueueDepth>;

/** Creates a Depth. */
export function createDepth(
  sqs: SQSClient,
  urlPrefix: string,
  { callSeconds = 5 }: { readonly callSeconds?: number } = {},
): Depth {
  return async (queue, { signal }) => {
    const request = new GetQueueAttributesCommand({
      QueueUrl: queueUrl(urlPrefix, queue),
      AttributeNames: [
        'ApproximateNumberOfMessages',
        'ApproximateNumberOfMessagesNotVisible',
        'ApproximateNumberOfMessagesDelayed',
      ],
    });
    const { Attributes: counts = {} } = await callWithin(callSeconds, signal, (abortSignal) =>
      sqs.send(request, { abortSignal }),
    );
    return {
      visible: Number(counts.ApproximateNumberOfMessages ?? 0),
      inFlight: Number(counts.ApproximateNumberOfMessagesNotVisible ?? 0),
      delayed: Number(counts.ApproximateNumberOfMessagesDelayed ?? 0),
    };
  };
}
