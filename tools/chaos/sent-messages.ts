// What is put on queues, as a proxy before SQS sees it: the JSON of the SendMessage calls, read without the product's code.
import * as z from 'zod';
import type { Asked } from '../../test/chaos/chaos-proxy.ts';

const entry = z.looseObject({
  MessageBody: z.string(),
  MessageGroupId: z.string().optional(),
  MessageDeduplicationId: z.string().optional(),
});
const call = z.looseObject({ QueueUrl: z.string(), Entries: z.array(entry) });
const body = z.looseObject({
  lane: z.string(),
  namespace: z.string().optional(),
  name: z.string(),
  dueAt: z.number().optional(),
});

/** A message on its way to a queue. */
export type SeenSend = {
  readonly queueUrl: string;
  /** As the caller wrote it. */
  readonly entry: z.infer<typeof entry>;
  readonly message: z.infer<typeof body>;
};

/** Reads the messages of a call; none where it sends none. */
export function sendsOf({ headers, body: text }: Pick<Asked, 'headers' | 'body'>): readonly SeenSend[] {
  if (!String(headers['x-amz-target'] ?? '').endsWith('SendMessageBatch')) return [];
  const { QueueUrl, Entries } = call.parse(JSON.parse(text));
  return Entries.map((one) => ({ queueUrl: QueueUrl, entry: one, message: body.parse(JSON.parse(one.MessageBody)) }));
}
