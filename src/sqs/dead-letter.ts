// Writes and reads dead letters. Every message on a dead-letter queue is read as a DeadLetter, including bodies that
// are not messages and messages that SQS moved itself. Reading one never throws.

import { errorText } from '../core/errors.ts';
import { isRecord, parseJson } from '../core/json.ts';
import { redact } from '../core/redact.ts';
import { MessageError } from './body.ts';
import type { ReceivedMessage } from './browse.ts';
import { attemptOf, hashOf, type Message, observedAtOf, parseMessage } from './message.ts';
import type { QueueRecord } from './record.ts';
import type { QueueEntry, Send, SendResult } from './sender.ts';

/** A message that is no longer retried, with the reason. */
export type DeadLetter = {
  /** The id of the original message: in the logs, and in the deduplication id when it is sent again. */
  readonly messageId: string;
  /** The body, unchanged. */
  readonly body: string;
  /** The parsed body, if it is a message. */
  readonly message?: Message | undefined;
  /** `unknown` if SQS moved the message itself, because it was received too often, or if its body is too large. */
  readonly reason: string;
  /** The number of failed reconciles; undefined if unknown. */
  readonly attempts?: number | undefined;
  /** The last error, without credentials. */
  readonly error?: string;
  /**
   * When its change was observed or it was first received, the earlier of both, or else when it was sent; undefined if
   * all are unknown.
   */
  readonly firstSeenAt?: Date;
  /**
   * The object as it was last read, if it is gone, or may be, without having been finalized. A reconcile would not find
   * it. Nothing is masked in it.
   */
  readonly object?: Readonly<Record<string, unknown>>;
};

/**
 * Why a message becomes a dead letter. `attempts` is the number of failed reconciles, if known; `object` is JSON, as
 * in DeadLetter. `uid` is of an object whose dead letter is sent in addition to that of the message itself.
 */
export type DeadLetterCause = {
  readonly reason: string;
  readonly attempts?: number;
  readonly lastError?: Error | undefined;
  readonly object?: string;
  readonly uid?: string;
};

/** The message attributes of a dead letter. The body is that of the original message. */
type AttributeName = 'reason' | 'messageId' | 'firstSeenAt' | 'attempts' | 'error' | 'object';
type Attributes = Readonly<Partial<Record<AttributeName, string>>>;

/** The reason of a dead letter that has none. */
const unknownReason = 'unknown';
/** SQS counts attributes for the size of a message, which is 256 KiB at most in older queues. */
const maxBytesWithAttributes = 200 * 1024;

/**
 * Writes the attributes of a record's dead letter, without credentials. There are none where they may not fit: SQS
 * would reject the dead letter of such a body each time.
 */
export function deadLetterAttributes(
  { messageId, firstReceivedAt, body }: Pick<QueueRecord, 'messageId' | 'firstReceivedAt' | 'body'>,
  { reason, attempts, lastError, object }: DeadLetterCause,
): Readonly<Record<string, string>> {
  if (Buffer.byteLength(body) > maxBytesWithAttributes) return {};
  return {
    reason: redact(reason),
    messageId,
    firstSeenAt: new Date(firstReceivedAt).toISOString(),
    ...(attempts === undefined ? {} : { attempts: String(attempts) }),
    // Never an empty text, which SQS rejects.
    ...(lastError === undefined ? {} : { error: redact(errorText(lastError)) }),
    ...(object === undefined || object === '' ? {} : { object }),
  } satisfies Attributes;
}

/**
 * Sends a copy of each record to a dead-letter queue, with the body unchanged. A record that is sent twice is one dead
 * letter: the deduplication id is made from the id of the original message. Returns one result for each record.
 */
export async function sendToDeadLetterQueue(
  send: Send,
  {
    queue,
    records,
    cause,
    signal,
  }: {
    readonly queue: string;
    readonly records: readonly QueueRecord[];
    readonly cause: DeadLetterCause;
    readonly signal: AbortSignal;
  },
): Promise<readonly SendResult[]> {
  const entries = records.map(
    (record): QueueEntry => ({
      body: record.body,
      groupId: record.groupId ?? 'none',
      deduplicationId: hashOf('dead', record.messageId, ...(cause.uid === undefined ? [] : [cause.uid])),
      attributes: deadLetterAttributes(record, cause),
    }),
  );
  return await send(queue, entries, { signal });
}

/**
 * Reads a dead letter. Any sender may have written its attributes, so credentials are removed from them like from all
 * output.
 */
export function readDeadLetter({ messageId, body, attributes, sentAt }: ReceivedMessage): DeadLetter {
  const message = messageIn(body);
  const read = (name: AttributeName) => redact(attributes[name] ?? '');
  const attempts = /^\d{1,6}$/.test(read('attempts')) ? Number(read('attempts')) : message && attemptOf(message);
  const observedAt = message && observedAtOf(message);
  const object = attributes.object === undefined ? undefined : objectIn(attributes.object);
  // Each retry is a message of its own, with the time of the first cause.
  const [first] = [Date.parse(read('firstSeenAt')), observedAt || Number.NaN]
    .filter((one) => dateOf(one) !== undefined)
    .sort((a, b) => a - b);
  const firstSeenAt = dateOf(first ?? sentAt);
  const event = message === undefined ? failedEvent(body, attributes) : undefined;
  const error = read('error') || redact(event?.error ?? '');
  return {
    messageId: read('messageId') || messageId,
    body,
    reason: read('reason') || redact(event?.reason ?? '') || unknownReason,
    message,
    attempts,
    ...(error === '' ? {} : { error }),
    ...(firstSeenAt === undefined ? {} : { firstSeenAt }),
    ...(object === undefined ? {} : { object }),
  };
}

/**
 * Reads an event of `wakes` that AWS put on the dead-letter queue of timers. EventBridge explains it in attributes
 * ("Using dead-letter queues to process undelivered events"), Lambda in a record around the event ("Retaining records
 * of asynchronous invocations").
 */
function failedEvent(
  body: string,
  { ERROR_CODE: code, ERROR_MESSAGE: error }: ReceivedMessage['attributes'],
): { readonly reason: string; readonly error: string | undefined } | undefined {
  if (code !== undefined) return { reason: `event not delivered to wake: ${code}`, error };
  const { requestContext, responsePayload }: Readonly<Record<string, unknown>> = Object(parseJson(body));
  if (!isRecord(requestContext) || typeof requestContext.condition !== 'string') return undefined;
  const message = isRecord(responsePayload) ? responsePayload.errorMessage : undefined;
  const reason = `event not processed by wake: ${requestContext.condition}`;
  return { reason, error: typeof message === 'string' ? message : undefined };
}

function messageIn(body: string): Message | undefined {
  try {
    return parseMessage(body);
  } catch (error) {
    if (error instanceof MessageError) return undefined;
    throw error;
  }
}

/** An attribute that is no JSON object is shown as it is: a redrive must not take it for one without an object. */
function objectIn(text: string): Readonly<Record<string, unknown>> {
  const value = parseJson(text);
  return isRecord(value) ? value : { unreadable: text };
}

function dateOf(milliseconds: number | undefined): Date | undefined {
  const date = new Date(milliseconds ?? Number.NaN);
  return Number.isNaN(date.getTime()) ? undefined : date;
}
