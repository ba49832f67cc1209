// Returns messages to their queue before their visibility timeout ends: those that were kept because SQS did not accept
// their follow-up. Only for a key whose reconcile has ended and that this function does not process again: for any
// other, the visibility timeout is what prevents two reconciles at the same time.
import type { SQSClient } from '@aws-sdk/client-sqs';
import { callBatch } from './call.ts';
import type { QueueRecord } from './record.ts';
import { batches } from './send.ts';
import { queueUrl } from './sqs-client.ts';
import { visibilityRequest } from './visibility.ts';

/** The fields of a record that are needed to return it. */
export type ReturnedRecord = Pick<QueueRecord, 'receiptHandle' | 'receiveCount'>;

/** Returns messages to their queue. A message that was not returned is visible after its visibility timeout. */
export type ReturnMessages = (
  records: readonly ReturnedRecord[],
  options: { readonly signal: AbortSignal },
) => Promise<void>;

/**
 * The delay in seconds, by receive count: a short failure of SQS costs seconds, and a long one few calls.
 */
const delays = [5, 10, 20, 40, 80, 160, 300, 600, 900];

/** Returns the delay of a message that was received `receiveCount` times, with up to a fifth more as jitter. */
export function returnDelaySeconds(receiveCount: number, random: number): number {
  const index = Math.min(Math.max(receiveCount, 1), delays.length) - 1;
  return Math.ceil((delays[index] ?? 0) * (1 + random / 5));
}

/**
 * Creates a function that returns messages of one queue. It never rejects.
 * @param random in [0, 1), for jitter
 */
export function createReturn(
  sqs: SQSClient,
  urlPrefix: string,
  queue: string,
  {
    random = Math.random,
    onFailure = () => undefined,
  }: { readonly random?: () => number; readonly onFailure?: (reason: string) => void } = {},
): ReturnMessages {
  async function call(batch: readonly ReturnedRecord[], delay: number, signal: AbortSignal): Promise<void> {
    const request = visibilityRequest(queueUrl(urlPrefix, queue), batch, delay);
    const failures = await callBatch(queue, signal, (abortSignal) => sqs.send(request, { abortSignal }));
    for (const reason of failures.entries) onFailure(reason);
    if (failures.request !== undefined) onFailure(failures.request);
  }

  return async (records, { signal }) => {
    // Messages of one key become visible together, so that they are reconciled together.
    const receiveCount = Math.max(0, ...records.map((record) => record.receiveCount));
    const delay = returnDelaySeconds(receiveCount, random());
    await Promise.all(batches(records).map((batch) => call(batch, delay, signal)));
  };
}
