// SQS by plain HTTP and JSON, for rows that put messages on a queue themselves or count what lies on one.
import * as z from 'zod';
import { createPlainApi, type PlainServer } from './plain-api.ts';

/** A message to send. */
export type PlainMessage = {
  readonly body: string;
  readonly groupId?: string | undefined;
  readonly deduplicationId?: string;
  readonly delaySeconds?: number;
};

/** Calls SQS. */
export type PlainSqs = {
  /** Sends all of them, ten at a time, in their order. Throws when one is not accepted. */
  send(queueUrl: string, messages: readonly PlainMessage[]): Promise<void>;
  /** How many messages lie on a queue, are in somebody's hands or wait for their time. */
  count(queueUrl: string): Promise<number>;
  /** Takes everything off a queue. */
  purge(queueUrl: string): Promise<void>;
  close(): void;
};

const batchSize = 10;
const counted = [
  'ApproximateNumberOfMessages',
  'ApproximateNumberOfMessagesNotVisible',
  'ApproximateNumberOfMessagesDelayed',
];
const attributes = z.looseObject({ Attributes: z.record(z.string(), z.coerce.number()) });
const sent = z.looseObject({ Failed: z.array(z.unknown()).default([]) });

/** Creates a caller. */
export function createPlainSqs(server: PlainServer): PlainSqs {
  const api = createPlainApi(server);
  async function ask(action: string, body: object): Promise<unknown> {
    const headers = { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': `AmazonSQS.${action}` };
    const answer = await api.call('POST', '/', body, headers);
    if (answer.status >= 300) throw new Error(`${action}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  }
  return {
    async send(queueUrl, messages) {
      for (let from = 0; from < messages.length; from += batchSize) {
        const entries = messages.slice(from, from + batchSize).map((message, index) => ({
          Id: String(index),
          MessageBody: message.body,
          MessageGroupId: message.groupId,
          MessageDeduplicationId: message.deduplicationId,
          DelaySeconds: message.delaySeconds,
        }));
        const { Failed } = sent.parse(await ask('SendMessageBatch', { QueueUrl: queueUrl, Entries: entries }));
        if (Failed.length > 0) throw new Error(`not accepted: ${JSON.stringify(Failed)}`);
      }
    },
    async count(queueUrl) {
      const { Attributes } = attributes.parse(
        await ask('GetQueueAttributes', { QueueUrl: queueUrl, AttributeNames: counted }),
      );
      return counted.reduce((sum, name) => sum + (Attributes[name] ?? 0), 0);
    },
    async purge(queueUrl) {
      await ask('PurgeQueue', { QueueUrl: queueUrl });
    },
    close: () => api.close(),
  };
}
