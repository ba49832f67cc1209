// What becomes of a message after its reconcile: the table of the design's section on queues, as one pure function.
import { backoffSeconds, deferralBackoff, maxAttempts, retryBackoff } from '../core/backoff.ts';
import { formatTarget } from '../core/key.ts';
import { hashOf, type Message, targetOf } from '../queue/message.ts';
import { nextSlot } from '../queue/slots.ts';

/** How a reconcile ended. */
export type Outcome =
  | { readonly type: 'done'; readonly requeueAfterSeconds?: number }
  /** There is nothing to reconcile: the object is gone, its namespace is going, or it is paused. */
  | { readonly type: 'nothing'; readonly why: 'gone' | 'namespace-terminating' | 'paused' | 'not-ours' }
  | { readonly type: 'failed'; readonly error: Error; readonly stalledBefore: boolean }
  /** Not to be tried again until the object changes. */
  | { readonly type: 'terminal'; readonly error: Error }
  /** The message is about a kind that is none of the controller's. */
  | { readonly type: 'refused'; readonly error: Error }
  /** Slow: its cluster answers, but has had its part of an instance's time for now. */
  | { readonly type: 'deferred'; readonly why: 'unreachable' | 'slow' | 'conflict'; readonly error: Error };

/** What to do with the message. Whatever it is, the message is deleted only after it was done. */
export type Action =
  | { readonly type: 'delete' }
  /** Send this message to the timers queue first. */
  | { readonly type: 'later'; readonly message: Message }
  | { readonly type: 'dead-letter'; readonly reason: string };

/** Tells whether the reconcile of this message is the last that its error gets. */
export function isLastAttempt({ attempt }: Message): boolean {
  return attempt + 1 >= maxAttempts;
}

/** Decides what becomes of a message. `nowMs` is by SQS's clock. */
export function decide(outcome: Outcome, message: Message, nowMs: number): Action {
  switch (outcome.type) {
    case 'done': {
      if (outcome.requeueAfterSeconds === undefined) return { type: 'delete' };
      const wait = Math.max(1, Math.round(outcome.requeueAfterSeconds));
      return { type: 'later', message: put(message, { lane: 'requeue', attempt: 0, deferrals: 0 }, wait, nowMs) };
    }
    case 'nothing':
    case 'terminal':
      return { type: 'delete' };
    case 'refused':
      return { type: 'dead-letter', reason: outcome.error.message };
    case 'failed': {
      // The last attempt itself made it Stalled, perhaps before its function died: its dead letter may still be missing.
      if (outcome.stalledBefore && !isLastAttempt(message)) return { type: 'delete' };
      if (isLastAttempt(message)) return { type: 'dead-letter', reason: `gave up after ${maxAttempts} attempts` };
      const attempt = message.attempt + 1;
      const wait = backoffSeconds(retryBackoff, attempt, fractionOf(message, attempt));
      return { type: 'later', message: put(message, { lane: 'retry', attempt, deferrals: 0 }, wait, nowMs) };
    }
    case 'deferred': {
      // A slow cluster is there: its turn comes again soon, and not ever later.
      const isThere = outcome.why === 'slow';
      const deferrals = message.deferrals + (isThere ? 0 : 1);
      const wait = backoffSeconds(deferralBackoff, isThere ? 1 : deferrals, fractionOf(message, deferrals));
      return {
        type: 'later',
        message: put(message, { lane: 'retry', attempt: message.attempt, deferrals }, wait, nowMs),
      };
    }
  }
}

type Again = Pick<Message, 'lane' | 'attempt' | 'deferrals'>;

/** The same key later. What it knew of an event (uid, version, run) stays behind: a key is a key. */
function put(message: Message, again: Again, delaySeconds: number, nowMs: number): Message {
  const target = targetOf(message);
  const { dueAt, slot } = nextSlot({
    target: formatTarget(target),
    delaySeconds,
    nowMs,
    ...(message.dueAt === undefined ? {} : { afterDueAt: message.dueAt }),
  });
  const seenAt = again.lane === 'requeue' ? dueAt * 1000 : message.seenAt;
  return { v: 1, ...target, ...again, seenAt, dueAt, slot };
}

/** The key's own jitter, in [0, 1). */
function fractionOf(message: Message, count: number): number {
  return Number.parseInt(hashOf(formatTarget(targetOf(message)), count).slice(0, 8), 16) / 2 ** 32;
}
