// Invokes a function with a queue's messages as Lambda's event source mapping does: receives batches, invokes, deletes
// the succeeded messages, and leaves the others to the visibility timeout.
//
// Guarantees: a message is deleted only after an invocation that did not name it as failed. At most `concurrency`
// batches run at once. Assumption: the server blocks a FIFO group while one of its messages is in flight (SQS does, and
// so does fauxqs).

import {
  ChangeMessageVisibilityCommand,
  type Message,
  type MessageAttributeValue,
  type ReceiveMessageCommandInput,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { toError } from 'outrigger/internal/core/errors';
import { sleep } from 'outrigger/internal/core/time';
import * as z from 'zod';
import type { QueueCalls } from './queue-calls.ts';

/** The dependencies of an event source. */
export type EventSourceDeps = {
  readonly client: SQSClient;
  /** Receives and deletes batches. */
  readonly calls: QueueCalls;
  readonly invoke: (event: { readonly Records: readonly object[] }) => Promise<unknown>;
  /** Receives the errors of failed invocations, with their batch, of receives and of deletes. The mapping continues. */
  readonly onFailure: (error: Error, batch?: readonly Message[]) => void;
};

/** The queue, and the properties of the mapping. */
export type EventSourceOptions = {
  readonly queueUrl: string;
  readonly queueArn: string;
  readonly region: string;
  readonly batchSize: number;
  readonly reportsFailures: boolean;
  /** The maximum of concurrent batches. */
  readonly concurrency: number;
  /** WaitTimeSeconds of a receive. */
  readonly longPollSeconds: number;
};

/** A running mapping. */
export type EventSource = {
  /** Whether it is paused: its messages wait in the queue. A batch in flight is finished. */
  isPaused(): boolean;
  setPaused(paused: boolean): void;
  /** Makes the messages of failed invocations visible at once, instead of after their visibility timeout. */
  retry(): Promise<void>;
  /** Stops receiving; resolves when the batches in flight are done. */
  stop(): Promise<void>;
};

/** The maximum of failed messages that `retry` makes visible. */
const maximumFailed = 100;
const pauseAfterErrorSeconds = 1;

/** Starts polling, unless it starts paused. */
export function startEventSource(
  deps: EventSourceDeps,
  options: EventSourceOptions,
  { paused: startsPaused = false } = {},
): EventSource {
  const stopping = new AbortController();
  let paused = startsPaused;
  let resumed = Promise.withResolvers<void>();
  stopping.signal.addEventListener('abort', () => resumed.resolve());
  const inFlight = new Set<Promise<void>>();
  let failed: readonly Message[] = [];
  const polling = poll();

  async function poll(): Promise<void> {
    while (!stopping.signal.aborted) {
      if (paused) {
        await resumed.promise;
        continue;
      }
      if (inFlight.size >= options.concurrency) {
        await Promise.race(inFlight);
        continue;
      }
      const messages = await receive(deps, options, stopping.signal);
      if (messages.length === 0) continue;
      // A receive that was waiting is not aborted: a server that does not notice would keep the next message in flight.
      if (paused) {
        await makeVisible(messages);
        continue;
      }
      const batch = deliver(deps, options, messages)
        .catch((error: unknown) => {
          failed = [...failed, ...messages].slice(-maximumFailed);
          deps.onFailure(toError(error), messages);
        })
        .finally(() => inFlight.delete(batch));
      inFlight.add(batch);
    }
  }
  async function makeVisible(messages: readonly Message[]): Promise<void> {
    // An expired receipt handle means that the message is visible again already.
    await Promise.allSettled(
      messages.map(async ({ ReceiptHandle }) => {
        const change = { QueueUrl: options.queueUrl, ReceiptHandle, VisibilityTimeout: 0 };
        await deps.client.send(new ChangeMessageVisibilityCommand(change));
      }),
    );
  }
  return {
    isPaused: () => paused,
    setPaused: (wanted) => {
      if (paused === wanted) return;
      paused = wanted;
      if (paused) resumed = Promise.withResolvers();
      else resumed.resolve();
    },
    retry: async () => {
      const messages = failed;
      failed = [];
      await makeVisible(messages);
    },
    stop: async () => {
      stopping.abort();
      await polling;
      await Promise.all(inFlight);
    },
  };
}

async function receive(
  { calls, onFailure }: EventSourceDeps,
  { queueUrl, batchSize, longPollSeconds }: EventSourceOptions,
  signal: AbortSignal,
): Promise<readonly Message[]> {
  try {
    const input: ReceiveMessageCommandInput = {
      QueueUrl: queueUrl,
      MaxNumberOfMessages: Math.min(batchSize, 10),
      WaitTimeSeconds: longPollSeconds,
      MessageSystemAttributeNames: ['All'],
      MessageAttributeNames: ['All'],
    };
    return await calls.receive(input, signal);
  } catch (error) {
    if (signal.aborted) return [];
    onFailure(toError(error));
    await sleep(pauseAfterErrorSeconds, signal).catch(() => undefined);
    return [];
  }
}

/** Invokes with a batch and deletes the succeeded messages. Throws if the invocation or the deletion fails. */
async function deliver(
  { calls, invoke }: EventSourceDeps,
  options: EventSourceOptions,
  messages: readonly Message[],
): Promise<void> {
  const records = messages.map((message) => recordOf(message, options));
  const response = await invoke({ Records: records });
  const ids = records.map(({ messageId }) => messageId);
  const done = new Set(options.reportsFailures ? succeededIds(response, ids) : ids);
  const entries = records
    .filter(({ messageId }) => done.has(messageId))
    .map(({ receiptHandle }, index) => ({ Id: String(index), ReceiptHandle: receiptHandle }));
  if (entries.length === 0) return;
  await calls.delete({ QueueUrl: options.queueUrl, Entries: entries });
}

/** Makes the record of a message in the function's event. */
function recordOf(
  { MessageId = '', ReceiptHandle = '', Body = '', MD5OfBody = '', Attributes = {}, MessageAttributes = {} }: Message,
  { queueArn, region }: Pick<EventSourceOptions, 'queueArn' | 'region'>,
): { readonly messageId: string; readonly receiptHandle: string; readonly [field: string]: unknown } {
  return {
    messageId: MessageId,
    receiptHandle: ReceiptHandle,
    body: Body,
    md5OfBody: MD5OfBody,
    attributes: {
      ...Attributes,
      ApproximateReceiveCount: Attributes.ApproximateReceiveCount ?? '1',
      ApproximateFirstReceiveTimestamp: Attributes.ApproximateFirstReceiveTimestamp ?? '',
      SentTimestamp: Attributes.SentTimestamp ?? '',
      SenderId: Attributes.SenderId ?? '',
    },
    messageAttributes: Object.fromEntries(
      Object.entries(MessageAttributes).map(([name, value]) => [name, attributeOf(value)]),
    ),
    eventSource: 'aws:sqs',
    eventSourceARN: queueArn,
    awsRegion: region,
  };
}

function attributeOf({ StringValue, BinaryValue, DataType = 'String' }: MessageAttributeValue): object {
  return {
    stringValue: StringValue,
    ...(BinaryValue === undefined ? {} : { binaryValue: Buffer.from(BinaryValue).toString('base64') }),
    stringListValues: [],
    binaryListValues: [],
    dataType: DataType,
  };
}

const responseShape = z.object({
  batchItemFailures: z.array(z.object({ itemIdentifier: z.string().min(1) })).nullish(),
});

/**
 * Returns the messages of a batch that may be deleted, by the rules of event source mappings (AWS Lambda: Implementing
 * partial batch responses). No response, null and an empty list mean all messages. A malformed response, an empty or
 * missing identifier, or one of another batch, means none: trusting it could delete messages that were not processed.
 */
export function succeededIds(response: unknown, messageIds: readonly string[]): readonly string[] {
  if (response === null || response === undefined) return messageIds;
  const parsed = responseShape.safeParse(response);
  if (!parsed.success) return [];
  const failed = new Set((parsed.data.batchItemFailures ?? []).map(({ itemIdentifier }) => itemIdentifier));
  const known = new Set(messageIds);
  if (![...failed].every((id) => known.has(id))) return [];
  return messageIds.filter((id) => !failed.has(id));
}
