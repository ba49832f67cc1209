// Puts entries on a queue through SendMessageBatch. A batch call can fail as a whole or for single entries; what failed is
// tried again a few times, what was accepted is not sent again.
//
// Guarantees: one answer for each entry, in the order of the entries; never rejects, an aborted signal included.
// Assumptions: a call that ran out of time may have been carried out. FIFO drops the repetition by its id; on a standard
// queue it is a duplicate, which level-triggered messages are allowed to be.
import { setTimeout } from 'node:timers/promises';
import {
  type BatchResultErrorEntry,
  SendMessageBatchCommand,
  type SendMessageBatchCommandInput,
  type SendMessageBatchRequestEntry,
  type SendMessageBatchResultEntry,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { batches } from './batches.ts';
import { callWithin } from './call-within.ts';
import { isMissingQueue, reasonOf } from './failed-call.ts';
import { queueUrl } from './names.ts';
import type { Entry, Send, Sent } from '../sqs/sender.ts';
import { traceAttributes } from './trace-header.ts';

/** SendMessageBatch: the same answers and errors as the SDK's. */
export type SendBatch = (
  input: SendMessageBatchCommandInput,
  options: { readonly abortSignal: AbortSignal },
) => Promise<{
  readonly Successful?: readonly Pick<SendMessageBatchResultEntry, 'Id' | 'MessageId'>[] | undefined;
  readonly Failed?: readonly BatchResultErrorEntry[] | undefined;
}>;

/** What can be chosen about sending. */
export type SendOptions = {
  /** In [0, 1), for the jitter of waits. */
  readonly random?: () => number;
  /** Resolves after so many milliseconds, or when the signal aborts. */
  readonly wait?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** Deadline of one call. */
  readonly callSeconds?: number;
  /** Calls for one entry, the first included. */
  readonly tries?: number;
  /** Batches under way at once. */
  readonly parallel?: number;
  /** The trace that the sender is in now, if any. */
  readonly traceHeader?: () => string | undefined;
  /** How a batch is sent. Default: by the SDK. */
  readonly sendBatch?: SendBatch;
};

/** An entry and its place among those that were handed in. */
type Numbered = { readonly number: number; readonly entry: Entry };
/** The answer so far, and whether asking again could change it. */
type Attempt = { readonly sent: Sent; readonly final: boolean };

/** The wait before the second call, in milliseconds: doubled each time, jittered by half. */
const firstWaitMs = 50;

/** Creates a Send. Order is kept within a batch only: what is tried again comes later, and batches run side by side. */
export function createSend(
  sqs: SQSClient,
  urlPrefix: string,
  {
    random = Math.random,
    wait = waitReally,
    callSeconds = 5,
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
          return [Number(Id), refused(`${queue}: ${Code}: ${Message}`, SenderFault)] as const;
        }),
      ]);
    } catch (error) {
      const attempt = isMissingQueue(error) ? noSuchQueue(queue) : refused(`${queue}: ${reasonOf(error)}`, false);
      return new Map(batch.map(({ number }) => [number, attempt]));
    }
  }

  async function deliver(queue: string, batch: readonly Numbered[], signal: AbortSignal, results: Map<number, Sent>) {
    let left = batch;
    for (let done = 0; done < tries && left.length > 0; done += 1) {
      if (done > 0) await wait(firstWaitMs * 2 ** (done - 1) * (0.5 + random()), signal);
      if (signal.aborted) return;
      const attempts = await call(queue, left, signal);
      for (const [number, { sent }] of attempts) results.set(number, sent);
      left = left.filter(({ number }) => attempts.get(number)?.final !== true);
    }
  }

  return async (queue, entries, { signal }) => {
    const results = new Map<number, Sent>();
    // One iterator for all lanes: each takes the next batch that nobody has taken.
    const next = batches(
      entries.map((entry, number) => ({ number, entry })),
      ({ entry }) => bytesOf(entry),
    ).values();
    const lane = async () => {
      for (const batch of next) await deliver(queue, batch, signal, results);
    };
    await Promise.all(Array.from({ length: parallel }, lane));
    return entries.map((_, number) => results.get(number) ?? { accepted: false, reason: `${queue}: no answer` });
  };
}

function accepted(messageId: string): Attempt {
  return { sent: { accepted: true, messageId }, final: true };
}

function refused(reason: string, final: boolean): Attempt {
  return { sent: { accepted: false, reason }, final };
}

function noSuchQueue(queue: string): Attempt {
  const reason = `there is no queue ${queue}; outrigger doctor says how to have it again`;
  return { sent: { accepted: false, reason, missingQueue: true }, final: true };
}

function toRequestEntry({ number, entry }: Numbered, senders: string | undefined): SendMessageBatchRequestEntry {
  const { body, groupId, deduplicationId, delaySeconds, attributes = {}, traceHeader = senders } = entry;
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

/** SQS counts body, and name, type and value of attributes. */
function bytesOf({ body, attributes = {} }: Entry): number {
  const sizes = Object.entries(attributes).map(([name, value]) => Buffer.byteLength(`${name}String${value}`));
  return sizes.reduce((sum, size) => sum + size, Buffer.byteLength(body));
}

/** Waits in real time; ends early, without an error, when the signal aborts. */
async function waitReally(milliseconds: number, signal: AbortSignal): Promise<void> {
  await setTimeout(milliseconds, undefined, { signal }).catch(() => undefined);
}
