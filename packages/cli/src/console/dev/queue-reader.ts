// Reads the messages of the local queues. The embedded SQS server shows them without a receive, which would hide them
// from the functions; of another server nothing is read.

import type { ControllerDefinition } from 'outrigger/internal/api/definition';
import { queuesOf, resyncQueue, timersQueue } from 'outrigger/internal/core/names';
import { readDeadLetter } from 'outrigger/internal/sqs/dead-letter';
import * as z from 'zod';
import { deadLetterRow, describeBody } from '../queued-message.ts';
import type { ConsoleSource } from '../source.ts';
import type { QueuedMessage } from '../wire.ts';

/** The messages of a queue that are shown. */
const maxMessages = 200;
const readSeconds = 5;

const message = z.looseObject({
  messageId: z.string(),
  body: z.string(),
  sentTimestamp: z.number().optional(),
  messageAttributes: z.record(z.string(), z.looseObject({ StringValue: z.string().optional() })).catch({}),
});
/** What the server returns for a queue: fauxqs, `/_fauxqs/queues/NAME`. */
const inspected = z.looseObject({
  messages: z.looseObject({
    ready: z.array(message),
    delayed: z.array(message),
    inflight: z.array(z.looseObject({ message })),
  }),
});
type Inspected = z.infer<typeof message>;

/** The local queues. `queues` are their URLs by their names without the deployment's prefix. */
export type LocalQueues = { readonly endpoint: string; readonly queues: Readonly<Record<string, string>> };

async function inspect(queue: string, { endpoint, queues }: LocalQueues, signal: AbortSignal) {
  const name = (queues[queue] ?? '').split('/').at(-1) ?? '';
  const limited = AbortSignal.any([signal, AbortSignal.timeout(readSeconds * 1000)]);
  const response = await fetch(`${endpoint}/_fauxqs/queues/${name}`, { signal: limited });
  if (!response.ok) throw new Error(`${queue}: status ${response.status}`);
  const { ready, delayed, inflight } = inspected.parse(await response.json()).messages;
  return { visible: [...ready, ...delayed], inFlight: inflight.map((one) => one.message) };
}

/** Reads when the oldest message of a queue was sent, in milliseconds since 1970. */
export async function readOldestAt(
  queue: string,
  local: LocalQueues,
  signal: AbortSignal,
): Promise<number | undefined> {
  const { visible, inFlight } = await inspect(queue, local, signal);
  const times = [...visible, ...inFlight].flatMap(({ sentTimestamp }) => sentTimestamp ?? []);
  return times.length === 0 ? undefined : Math.min(...times);
}

/** Creates the reader. */
export function createQueueReader(
  controllers: readonly ControllerDefinition[],
  local: LocalQueues,
): ConsoleSource['queues'] {
  const pairs = queuesOf(controllers);
  const dead = new Set(pairs.map(({ deadLetterQueue }) => deadLetterQueue));
  // The messages of the resync's own queue are no keys.
  const names = [...pairs.flatMap(({ queue }) => (queue === resyncQueue ? [] : [queue])), ...dead];

  const read = async (queue: string, signal: AbortSignal): Promise<readonly QueuedMessage[]> => {
    const { visible, inFlight } = await inspect(queue, local, signal);
    const of = (state: QueuedMessage['state']) => (one: Inspected) => queuedMessage(queue, state, one);
    if (dead.has(queue)) return [...visible, ...inFlight].map(of('dead'));
    if (queue === timersQueue) return [...visible, ...inFlight].map(of('timer'));
    return [...inFlight.map(of('in flight')), ...visible.map(of('waiting'))];
  };
  return async (signal) => {
    const results = await Promise.allSettled(names.map((queue) => read(queue, signal)));
    const messages = results.map((one) => (one.status === 'fulfilled' ? one.value : []));
    const more = names.map((queue, index) => [queue, (messages[index]?.length ?? 0) - maxMessages] as const);
    return {
      messages: messages.flatMap((all) => all.slice(0, maxMessages)),
      more: Object.fromEntries(more.filter(([, count]) => count > 0)),
      unread: names.filter((_, index) => results[index]?.status === 'rejected'),
    };
  };
}

function queuedMessage(queue: string, state: QueuedMessage['state'], one: Inspected): QueuedMessage {
  const { messageId, body, sentTimestamp } = one;
  const strings = Object.entries(one.messageAttributes).flatMap(([name, { StringValue }]) =>
    StringValue === undefined ? [] : [[name, StringValue] as const],
  );
  const attributes = Object.fromEntries(strings);
  if (state === 'dead')
    return deadLetterRow(
      queue,
      readDeadLetter({ messageId, body, attributes, receiptHandle: '', sentAt: sentTimestamp }),
    );
  const since = sentTimestamp === undefined ? {} : { since: sentTimestamp };
  return { queue, state, body, ...describeBody(body), messageId, ...since };
}
