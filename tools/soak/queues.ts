// What lies on the queues, by SQS' own word.
import * as z from 'zod';
import type { PlainApi } from '../chaos/plain-api.ts';

/** A queue. */
export type Queue = { readonly name: string; readonly url: string };
/** How many messages wait to be taken, are being worked on, or wait for their time. */
export type Waiting = { readonly visible: number; readonly inFlight: number; readonly delayed: number };

const attributes = z.looseObject({ Attributes: z.record(z.string(), z.coerce.number()) });
const received = z.looseObject({ Messages: z.array(z.looseObject({ Body: z.string() })).default([]) });
const counted = {
  visible: 'ApproximateNumberOfMessages',
  inFlight: 'ApproximateNumberOfMessagesNotVisible',
  delayed: 'ApproximateNumberOfMessagesDelayed',
} as const;

/** Counts the messages of a queue. */
export async function waitingOn(sqs: PlainApi, { url }: Queue): Promise<Waiting> {
  const body = await ask(sqs, 'GetQueueAttributes', { QueueUrl: url, AttributeNames: Object.values(counted) });
  const { Attributes } = attributes.parse(body);
  const of = (name: keyof typeof counted) => Attributes[counted[name]] ?? 0;
  return { visible: of('visible'), inFlight: of('inFlight'), delayed: of('delayed') };
}

/** Reads some letters of a dead-letter queue, to be shown; they come back after a while. */
export async function lettersOf(sqs: PlainApi, { url }: Queue): Promise<readonly string[]> {
  const asked = { QueueUrl: url, MaxNumberOfMessages: 10, MessageAttributeNames: ['All'] };
  return received.parse(await ask(sqs, 'ReceiveMessage', asked)).Messages.map((message) => JSON.stringify(message));
}

async function ask(sqs: PlainApi, action: string, body: object): Promise<unknown> {
  const headers = { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': `AmazonSQS.${action}` };
  return (await sqs.call('POST', '/', body, headers)).body;
}
