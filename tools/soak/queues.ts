// The messages of the queues, as SQS counts them.
import * as z from 'zod';
import type { PlainApi } from '../chaos/plain-api.ts';

/** A queue. */
export type Queue = { readonly name: string; readonly url: string };
/** The number of messages that are visible, in flight and delayed. */
export type MessageCounts = { readonly visible: number; readonly inFlight: number; readonly delayed: number };

const attributes = z.looseObject({ Attributes: z.record(z.string(), z.coerce.number()) });
const received = z.looseObject({ Messages: z.array(z.looseObject({ Body: z.string() })).default([]) });
const countAttributes = {
  visible: 'ApproximateNumberOfMessages',
  inFlight: 'ApproximateNumberOfMessagesNotVisible',
  delayed: 'ApproximateNumberOfMessagesDelayed',
} as const;

/** Counts the messages of a queue. */
export async function countMessages(sqs: PlainApi, { url }: Queue): Promise<MessageCounts> {
  const body = await request(sqs, 'GetQueueAttributes', {
    QueueUrl: url,
    AttributeNames: Object.values(countAttributes),
  });
  const { Attributes } = attributes.parse(body);
  const count = (name: keyof typeof countAttributes) => Attributes[countAttributes[name]] ?? 0;
  return { visible: count('visible'), inFlight: count('inFlight'), delayed: count('delayed') };
}

/** Reads some messages of a dead-letter queue, to print them; they become visible again. */
export async function readDeadLetters(sqs: PlainApi, { url }: Queue): Promise<readonly string[]> {
  const body = { QueueUrl: url, MaxNumberOfMessages: 10, MessageAttributeNames: ['All'] };
  return received.parse(await request(sqs, 'ReceiveMessage', body)).Messages.map((message) => JSON.stringify(message));
}

async function request(sqs: PlainApi, action: string, body: object): Promise<unknown> {
  const headers = { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': `AmazonSQS.${action}` };
  return (await sqs.call('POST', '/', body, headers)).body;
}
