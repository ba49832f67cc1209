// Feeds a queue to a function as Lambda's event source mapping does: takes batches, invokes, deletes what succeeded and
// leaves the rest to the visibility time-out.
//
// Guarantees: a message is deleted only after an invocation that did not name it as failed; at most `concurrency` batches
// at once. Assumptions: the server holds back a FIFO group while one of its messages is in flight (SQS does, so does fauxqs).
import {
  ChangeMessageVisibilityCommand,
  type Message,
  type MessageAttributeValue,
  type ReceiveMessageCommandInput,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import type { SQSMessageAttribute, SQSRecord } from 'aws-lambda';
import { toError } from '../../core/errors.ts';
import { succeededIds } from '../../local/lambda/batch-answer.ts';
import type { QueueCalls } from './queue-calls.ts';

/** What an event source needs. */
export type EventSourceNeeds = {
  readonly client: SQSClient;
  /** How batches are taken and deleted. */
  readonly calls: QueueCalls;
  readonly invoke: (event: { readonly Records: readonly SQSRecord[] }) => Promise<unknown>;
  /** Told of invocations that failed and of receives and deletes that did; the mapping itself goes on. */
  readonly onFailure: (error: Error) => void;
};

/** Where from, and how. */
export type EventSourceOptions = {
  readonly queueUrl: string;
  readonly queueArn: string;
  readonly region: string;
  readonly batchSize: number;
  readonly reportsFailures: boolean;
  /** Batches at once. */
  readonly concurrency: number;
  /** How long a poll waits for a message. */
  readonly longPollSeconds: number;
};

/** A mapping that polls. */
export type EventSource = {
  /** Brings back at once what an invocation failed on; otherwise it comes after its visibility time-out. */
  retry(): Promise<void>;
  /** Takes no further batch; resolves when those in hand are done. */
  stop(): Promise<void>;
};

/** Only as many as a person would wait for. */
const mostFailed = 100;
const pauseAfterErrorMilliseconds = 1_000;

/** Starts polling. */
export function startEventSource(needs: EventSourceNeeds, options: EventSourceOptions): EventSource {
  const stopping = new AbortController();
  const inHand = new Set<Promise<void>>();
  let failed: readonly Message[] = [];
  const polling = poll();

  async function poll(): Promise<void> {
    while (!stopping.signal.aborted) {
      if (inHand.size >= options.concurrency) {
        await Promise.race(inHand);
        continue;
      }
      const messages = await receive(needs, options, stopping.signal);
      if (messages.length === 0) continue;
      const batch = deliver(needs, options, messages)
        .catch((error: unknown) => {
          failed = [...failed, ...messages].slice(-mostFailed);
          needs.onFailure(toError(error));
        })
        .finally(() => inHand.delete(batch));
      inHand.add(batch);
    }
  }
  return {
    retry: async () => {
      const messages = failed;
      failed = [];
      // A receipt handle that is no longer good is a message that has come back by itself.
      await Promise.allSettled(
        messages.map(async ({ ReceiptHandle }) => {
          const again = { QueueUrl: options.queueUrl, ReceiptHandle, VisibilityTimeout: 0 };
          await needs.client.send(new ChangeMessageVisibilityCommand(again));
        }),
      );
    },
    stop: async () => {
      stopping.abort();
      await polling;
      await Promise.all(inHand);
    },
  };
}

async function receive(
  { calls, onFailure }: EventSourceNeeds,
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
    await pause(signal);
    return [];
  }
}

/** Invokes with a batch and deletes what succeeded. Throws when the invocation, or the deletion, did not come off at all. */
async function deliver(
  { calls, invoke }: EventSourceNeeds,
  options: EventSourceOptions,
  messages: readonly Message[],
): Promise<void> {
  const records = messages.map((message) => recordOf(message, options));
  const answer = await invoke({ Records: records });
  const ids = records.map(({ messageId }) => messageId);
  const done = new Set(options.reportsFailures ? succeededIds(answer, ids) : ids);
  const entries = records
    .filter(({ messageId }) => done.has(messageId))
    .map(({ receiptHandle }, index) => ({ Id: String(index), ReceiptHandle: receiptHandle }));
  if (entries.length === 0) return;
  await calls.delete({ QueueUrl: options.queueUrl, Entries: entries });
}

/** Makes the record that a function sees of a message. */
function recordOf(
  { MessageId = '', ReceiptHandle = '', Body = '', MD5OfBody = '', Attributes = {}, MessageAttributes = {} }: Message,
  { queueArn, region }: Pick<EventSourceOptions, 'queueArn' | 'region'>,
): SQSRecord {
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

function attributeOf({ StringValue, BinaryValue, DataType = 'String' }: MessageAttributeValue): SQSMessageAttribute {
  return {
    ...(StringValue === undefined ? {} : { stringValue: StringValue }),
    ...(BinaryValue === undefined ? {} : { binaryValue: Buffer.from(BinaryValue).toString('base64') }),
    stringListValues: [],
    binaryListValues: [],
    dataType: DataType,
  };
}

function pause(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, pauseAfterErrorMilliseconds);
    function done() {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
    signal.addEventListener('abort', done);
  });
}
