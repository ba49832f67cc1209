// SQS through plain HTTP and JSON, for rows that send messages themselves or count the messages of a queue.
import * as z from 'zod';
import { createPlainApi, type PlainServer } from './plain-api.ts';

/** A message to send. */
export type PlainMessage = {
  readonly body: string;
  readonly groupId?: string | undefined;
  readonly deduplicationId?: string;
  readonly delaySeconds?: number;
};

/** A message as it was received. */
export type ReceivedMessage = { readonly body: string; readonly attributes: Readonly<Record<string, string>> };

/** A client of SQS. */
export type PlainSqs = {
  /** Sends all messages in order, ten at a time. Throws when a message is rejected. */
  send(queueUrl: string, messages: readonly PlainMessage[]): Promise<void>;
  /** The number of messages of a queue: visible, in flight and delayed. */
  count(queueUrl: string): Promise<number>;
  /**
   * Receives all messages, which stay on the queue, and returns each with its attributes of type string. They are
   * visible again after five seconds.
   */
  read(queueUrl: string): Promise<readonly ReceivedMessage[]>;
  /** Deletes all messages of a queue. */
  purge(queueUrl: string): Promise<void>;
  close(): void;
};

const batchSize = 10;
const countAttributes = [
  'ApproximateNumberOfMessages',
  'ApproximateNumberOfMessagesNotVisible',
  'ApproximateNumberOfMessagesDelayed',
];
const attributes = z.looseObject({ Attributes: z.record(z.string(), z.coerce.number()) });
const received = z.looseObject({
  Messages: z
    .array(
      z.looseObject({
        Body: z.string(),
        MessageAttributes: z.record(z.string(), z.looseObject({ StringValue: z.string().default('') })).default({}),
      }),
    )
    .default([]),
});
const sent = z.looseObject({ Failed: z.array(z.unknown()).default([]) });

/** Creates a client. */
export function createPlainSqs(server: PlainServer): PlainSqs {
  const api = createPlainApi(server);
  async function request(action: string, body: object): Promise<unknown> {
    const headers = { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': `AmazonSQS.${action}` };
    const response = await api.call('POST', '/', body, headers);
    if (response.status >= 300) throw new Error(`${action}: ${response.status} ${JSON.stringify(response.body)}`);
    return response.body;
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
        const { Failed } = sent.parse(await request('SendMessageBatch', { QueueUrl: queueUrl, Entries: entries }));
        if (Failed.length > 0) throw new Error(`rejected: ${JSON.stringify(Failed)}`);
      }
    },
    async count(queueUrl) {
      const { Attributes } = attributes.parse(
        await request('GetQueueAttributes', { QueueUrl: queueUrl, AttributeNames: countAttributes }),
      );
      return countAttributes.reduce((sum, name) => sum + (Attributes[name] ?? 0), 0);
    },
    async read(queueUrl) {
      const query = {
        QueueUrl: queueUrl,
        MaxNumberOfMessages: 10,
        VisibilityTimeout: 5,
        MessageAttributeNames: ['All'],
      };
      const all: ReceivedMessage[] = [];
      for (;;) {
        const { Messages } = received.parse(await request('ReceiveMessage', query));
        if (Messages.length === 0) return all;
        for (const { Body, MessageAttributes } of Messages) {
          const texts = Object.entries(MessageAttributes).map(
            ([name, { StringValue }]) => [name, StringValue] as const,
          );
          all.push({ body: Body, attributes: Object.fromEntries(texts) });
        }
      }
    },
    async purge(queueUrl) {
      await request('PurgeQueue', { QueueUrl: queueUrl });
    },
    close: () => api.close(),
  };
}
