// A dead letter as an operator sees it: whatever is on a dead-letter queue becomes one of these, bodies that are no messages
// and letters that SQS moved by itself included. Reading one never throws.
import { redact } from '../core/redact.ts';
import { MessageError } from '../sqs/body.ts';
import type { HeldMessage } from './hold.ts';
import { type Message, parseMessage } from './message.ts';

/** A message that was given up, and why. */
export type DeadLetter = {
  /** The id of the message that was given up: in the logs, and of the deduplication id when it is sent again. */
  readonly messageId: string;
  /** The body, unchanged. */
  readonly body: string;
  /** What the body says, where it is a message. */
  readonly message?: Message;
  /** `unknown` when SQS moved it itself: it was received too often, and whoever received it said nothing. */
  readonly reason: string;
  /** Reconciles that failed; undefined where nobody knows. */
  readonly attempts?: number;
  /** The last error, without credentials. */
  readonly error?: string;
  /** When it was first received, or else when its change was seen, or else sent; undefined where nobody knows. */
  readonly firstSeenAt?: Date;
};

/** The reason of a letter that came without one. */
const unknownReason = 'unknown';

/** Reads a letter. Attributes may have been written by anybody, so they are cleaned as all that is shown is. */
export function readDeadLetter({ messageId, body, attributes, sentAt }: HeldMessage): DeadLetter {
  const message = messageIn(body);
  const attempts = /^\d{1,6}$/.test(attributes.attempts ?? '') ? Number(attributes.attempts) : message?.attempt;
  const firstSeenAt = dateOf(Date.parse(attributes.firstSeenAt ?? '')) ?? dateOf(message?.seenAt) ?? dateOf(sentAt);
  const said = (text = '') => redact(text);
  return {
    messageId: said(attributes.messageId) || messageId,
    body,
    reason: said(attributes.reason) || unknownReason,
    ...(message === undefined ? {} : { message }),
    ...(attempts === undefined ? {} : { attempts }),
    ...(said(attributes.error) === '' ? {} : { error: said(attributes.error) }),
    ...(firstSeenAt === undefined ? {} : { firstSeenAt }),
  };
}

function messageIn(body: string): Message | undefined {
  try {
    return parseMessage(body);
  } catch (error) {
    if (error instanceof MessageError) return undefined;
    throw error;
  }
}

function dateOf(milliseconds: number | undefined): Date | undefined {
  const date = new Date(milliseconds ?? Number.NaN);
  return Number.isNaN(date.getTime()) ? undefined : date;
}
