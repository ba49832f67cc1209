// Sends entries to a queue with SendMessageBatch. A batch can fail as a whole or for single entries. Failed entries are
// retried a few times; accepted entries are not sent again.
//
// Guarantees: one result for each entry, in the order of the entries; never rejects, not even for an aborted signal.
// Assumptions: SQS may have accepted a batch whose call timed out. A FIFO queue drops the repetition by its
// deduplication id. On a standard queue the repetition is a duplicate, which level-triggered messages tolerate.
import { setTimeout } from 'node:timers/promises';
import {
  type BatchResultErrorEntry,
  type MessageSystemAttributeNameForSends,
  type MessageSystemAttributeValue,
  SendMessageBatchCommand,
  type SendMessageBatchCommandInput,
  type SendMessageBatchRequestEntry,
  type SendMessageBatchResultEntry,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { toError } from '../core/errors.ts';
import { callTimeoutSeconds, callWithin, isMissingQueue, sqsErrorReason } from './call.ts';
import type { QueueEntry, Send, SendResult } from './sender.ts';
import { queueUrl } from './sqs-client.ts';

/** A SendMessageBatch request. Results and errors are those of the SDK. */
export type SendBatch = (
  input: SendMessageBatchCommandInput,
  options: { readonly abortSignal: AbortSignal },
) => Promise<{
  readonly Successful?: readonly Pick<SendMessageBatchResultEntry, 'Id' | 'MessageId'>[] | undefined;
  readonly Failed?: readonly BatchResultErrorEntry[] | undefined;
}>;

/** Options of sending. */
export type SendOptions = {
  /** In [0, 1), for the jitter of waits. */
  readonly random?: () => number;
  /** Resolves after this many milliseconds, or when the signal aborts. */
  readonly wait?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** The deadline of one call. */
  readonly callSeconds?: number;
  /** Calls for one entry, including the first. */
  readonly tries?: number;
  /** Batches in flight at the same time. */
  readonly parallel?: number;
  /** The trace of the current invocation, if any. */
  readonly traceHeader?: () => string | undefined;
  /** How a batch is sent. Default: with the SDK. */
  readonly sendBatch?: SendBatch;
};

/**
 * Creates a Send. Order is kept only within a batch: retried entries arrive later, and batches are sent in parallel.
 */
export function createSend(
  sqs: SQSClient,
  urlPrefix: string,
  {
    random = Math.random,
    wait = waitMs,
    callSeconds = callTimeoutSeconds,
    tries = 4,
    parallel = 4,
    traceHeader = () => undefined,
    sendBatch = async (input, options) => await sqs.send(new SendMessageBatchCommand(input), options),
  }: SendOptions = {},
): Send {
  async function call(queue: string, batch: readonly Numbered[], signal: AbortSignal): Promise<Map<number, Attempt>> {
    try {
      const request = {
        QueueUrl: queueUrl(urlPrefix, queue),
        Entries: batch.map((one) => toRequestEntry(one, traceHeader())),
      };
      const { Successful = [], Failed = [] } = await callWithin(callSeconds, signal, (abortSignal) =>
        sendBatch(request, { abortSignal }),
      );
      return new Map([
        ...Successful.map(({ Id, MessageId = '' }) => [Number(Id), accepted(MessageId)] as const),
        ...Failed.map(({ Id, Code = 'Failed', Message = '', SenderFault = false }) => {
          return [Number(Id), rejected(`${queue}: ${Code}: ${Message}`, SenderFault)] as const;
        }),
      ]);
    } catch (error) {
      const attempt = isMissingQueue(error)
        ? missingQueue(queue)
        : rejected(`${queue}: ${sqsErrorReason(error)}`, false, toError(error));
      return new Map(batch.map(({ number }) => [number, attempt]));
    }
  }

  async function sendUntilFinal(
    queue: string,
    batch: readonly Numbered[],
    signal: AbortSignal,
    results: Map<number, SendResult>,
  ) {
    let remaining = batch;
    for (let calls = 0; calls < tries && remaining.length > 0; calls += 1) {
      if (calls > 0) await wait(firstWaitMs * 2 ** (calls - 1) * (0.5 + random()), signal);
      if (signal.aborted) return;
      const attempts = await call(queue, remaining, signal);
      for (const [number, { sent }] of attempts) results.set(number, sent);
      remaining = remaining.filter(({ number }) => attempts.get(number)?.final !== true);
    }
  }

  return async (queue, entries, { signal }) => {
    const results = new Map<number, SendResult>();
    // All workers share one iterator, so that each batch is sent by one worker.
    const pending = batches(
      entries.map((entry, number) => ({ number, entry })),
      ({ entry }) => bytesOf(entry),
    ).values();
    const sendBatches = async () => {
      for (const batch of pending) await sendUntilFinal(queue, batch, signal, results);
    };
    await Promise.all(Array.from({ length: parallel }, sendBatches));
    return entries.map((_, number) => results.get(number) ?? { accepted: false, reason: `${queue}: no response` });
  };
}

/** Splits items into the batches of batch calls, in order. Without `bytesOf`, sizes are not counted. */
export function batches<T>(items: readonly T[], bytesOf: (item: T) => number = () => 0): readonly (readonly T[])[] {
  const made: T[][] = [];
  let last: T[] = [];
  let bytes = 0;
  for (const item of items) {
    const size = bytesOf(item);
    if (last.length === 0 || last.length === maxEntries || bytes + size > maxBytes) {
      last = [];
      bytes = 0;
      made.push(last);
    }
    last.push(item);
    bytes += size;
  }
  return made;
}

/**
 * Makes the X-Ray system attribute of a message. Returns undefined without a trace, or with a trace header that is not
 * well-formed. SQS does not count a system attribute for the message's size nor for its ten attributes, and Lambda
 * links the trace of the function that receives the message to it. The SDK sends the trace of the current invocation in
 * a header of the whole request. The timers function sends messages of many senders in one request, so each message
 * carries its own trace here.
 */
export function traceAttributes(
  header: string | undefined,
): Partial<Record<MessageSystemAttributeNameForSends, MessageSystemAttributeValue>> | undefined {
  if (header === undefined || !wellFormedTraceHeader.test(header)) return undefined;
  return { AWSTraceHeader: { DataType: 'String', StringValue: header } };
}

/** An entry and its index in the list that was passed to `send`. */
type Numbered = { readonly number: number; readonly entry: QueueEntry };
/** The last result of an entry, and whether a retry could change it. */
type Attempt = { readonly sent: SendResult; readonly final: boolean };

/** The wait before the second call, in milliseconds: doubled each time, with a jitter of half of it. */
const firstWaitMs = 50;

/** SQS: the most entries of a batch call. */
const maxEntries = 10;
/** Bytes of one batch. AWS allows 1 MiB, other servers still the former 256 KiB. A larger entry is sent alone. */
const maxBytes = 256 * 1024;

/** The trace headers that SQS accepts. It rejects a message with any other one. */
const wellFormedTraceHeader =
  /^(?:[A-Za-z]+=[\w.:|-]{1,200};){0,8}Root=1-[0-9a-f]{8}-[0-9a-f]{24}(?:;[A-Za-z]+=[\w.:|-]{1,200}){0,8}$/;

function accepted(messageId: string): Attempt {
  return { sent: { accepted: true, messageId }, final: true };
}

function rejected(reason: string, final: boolean, error?: Error): Attempt {
  return { sent: { accepted: false, reason, error }, final };
}

function missingQueue(queue: string): Attempt {
  const reason = `queue ${queue} does not exist; run outrigger doctor`;
  return { sent: { accepted: false, reason, missingQueue: true }, final: true };
}

function toRequestEntry({ number, entry }: Numbered, currentTrace: string | undefined): SendMessageBatchRequestEntry {
  const { body, groupId, deduplicationId, delaySeconds, attributes = {}, traceHeader = currentTrace } = entry;
  return {
    Id: String(number),
    MessageBody: body,
    MessageGroupId: groupId,
    MessageDeduplicationId: deduplicationId,
    DelaySeconds: delaySeconds,
    MessageAttributes: Object.fromEntries(
      Object.entries(attributes).map(([name, value]) => [name, { DataType: 'String', StringValue: value }]),
    ),
    MessageSystemAttributes: traceAttributes(traceHeader),
  };
}

/** The size of a message as SQS counts it: the body, and name, type and value of each attribute. */
function bytesOf({ body, attributes = {} }: QueueEntry): number {
  const sizes = Object.entries(attributes).map(([name, value]) => Buffer.byteLength(`${name}String${value}`));
  return sizes.reduce((sum, size) => sum + size, Buffer.byteLength(body));
}

/** Resolves after this many milliseconds, or when the signal aborts. */
async function waitMs(milliseconds: number, signal: AbortSignal): Promise<void> {
  await setTimeout(milliseconds, undefined, { signal }).catch(() => undefined);
}
