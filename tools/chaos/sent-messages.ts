// The messages that are sent to queues, as a proxy in front of SQS receives them: the JSON of SendMessageBatch, read
// without product code.
import * as z from 'zod';
import type { ProxiedRequest } from './chaos-proxy.ts';

const entry = z.looseObject({
  MessageBody: z.string(),
  MessageGroupId: z.string().optional(),
  MessageDeduplicationId: z.string().optional(),
});
const call = z.looseObject({ QueueUrl: z.string(), Entries: z.array(entry) });
const body = z
  .looseObject({
    object: z.tuple([z.string(), z.string(), z.string(), z.string()]),
    cause: z.looseObject({ type: z.string(), dueAt: z.number().optional(), attempt: z.number().optional() }),
  })
  .transform(({ object: [, , namespace, name], cause }) => ({ namespace, name, cause }));

/** A message that is sent to a queue. */
export type SentMessage = {
  readonly queueUrl: string;
  /** The entry as the sender wrote it. */
  readonly entry: z.infer<typeof entry>;
  readonly message: z.infer<typeof body>;
};

/** Returns the messages of a request; none if it sends none. */
export function sentMessagesOf({
  headers,
  body: text,
}: Pick<ProxiedRequest, 'headers' | 'body'>): readonly SentMessage[] {
  if (!String(headers['x-amz-target'] ?? '').endsWith('SendMessageBatch')) return [];
  const { QueueUrl, Entries } = call.parse(JSON.parse(text));
  return Entries.map((one) => ({ queueUrl: QueueUrl, entry: one, message: body.parse(JSON.parse(one.MessageBody)) }));
}
