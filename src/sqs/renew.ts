// Renews the visibility timeout of messages before a batch that was invoked late is processed.
import type { SQSClient } from '@aws-sdk/client-sqs';
import { callTimeoutSeconds, callWithin } from './call.ts';
import type { QueueRecord } from './record.ts';
import { batches } from './send.ts';
import { queueUrl } from './sqs-client.ts';
import { visibilityRequest } from './visibility.ts';

/** Renews the visibility timeout of messages. Returns those that only this receiver has. */
export type RenewMessages = (
  records: readonly QueueRecord[],
  options: { readonly visibilitySeconds: number; readonly signal: AbortSignal },
) => Promise<readonly QueueRecord[]>;

/**
 * Creates a function that renews messages of one FIFO queue. SQS refuses the receipt handle of a message whose timeout
 * has ended. It never rejects: a message of which SQS says nothing counts as refused.
 */
export function createRenew(sqs: SQSClient, urlPrefix: string, queue: string): RenewMessages {
  return async (records, { visibilitySeconds, signal }) => {
    const renewed = batches(records).map(async (batch) => {
      const request = visibilityRequest(queueUrl(urlPrefix, queue), batch, visibilitySeconds);
      try {
        const { Successful = [] } = await callWithin(callTimeoutSeconds, signal, (abortSignal) =>
          sqs.send(request, { abortSignal }),
        );
        const ids = new Set(Successful.map(({ Id }) => Id));
        return batch.filter((_, number) => ids.has(String(number)));
      } catch {
        return [];
      }
    });
    return (await Promise.all(renewed)).flat();
  };
}
