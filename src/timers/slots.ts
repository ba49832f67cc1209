// Calculates due times. The due times of a key lie on a grid, so that any number of events with the same delay become
// one chain of requeues and not one chain each. Pure: the time is a parameter. It is the time by the clock of SQS,
// because a wrong local clock would choose slots that the FIFO queue still remembers. SQS would drop such a message as
// a duplicate, and the chain would end.
import { functionLimits, visibilitySecondsOf } from '../core/controller-options.ts';
import { maxRequeueSeconds } from '../core/time.ts';
import { hashOf } from '../sqs/message.ts';
import { returnDelaySeconds } from '../sqs/return.ts';

/** The longest DelaySeconds of SQS. A longer wait consists of several hops. */
export const maxDelaySeconds = 900;

/** A message this close to its due time is not early: it is received up to a second before, and clocks differ. */
export const earlySeconds = 2;

/** A due time on a key's grid. */
export type Slot = {
  /** Seconds since 1970. */
  readonly dueAt: number;
  /** `<delay in seconds>/<number>`: the grid, and the position on it. */
  readonly slot: string;
};

/**
 * Finds the slot of a delay: the first one that is at least half the delay from now, and later than the due time of the
 * current message. The first wait is 0.5 to 1.5 times the delay, and two seconds or more: a message of an earlier slot
 * may have been received early, and SQS drops a second one. The following waits are exactly the delay.
 * @param key the key whose grid is used (formatReconcileKey)
 * @param delaySeconds whole seconds, at least 1; a smaller value counts as 1
 * @param afterDueAt `dueAt` of the current message, on any grid
 */
export function nextSlot({
  key,
  delaySeconds,
  nowMs,
  afterDueAt,
}: {
  readonly key: string;
  readonly delaySeconds: number;
  readonly nowMs: number;
  readonly afterDueAt?: number;
}): Slot {
  const delay = Math.max(1, Math.round(delaySeconds));
  const offset = resyncOffset(key, delay);
  const now = nowMs / 1000;
  const earliest = Math.max(now + delay / 2, afterDueAt === undefined ? now + earlySeconds : afterDueAt + 1);
  const number = Math.ceil((earliest - offset) / delay);
  return { dueAt: offset + number * delay, slot: `${delay}/${number}` };
}

/**
 * Finds the slot of a time: the first second that is not before it, later than the due time of the current message, and
 * of one that another reconcile may have received early: SQS drops a second message of its slot. Any number of requests
 * for one time are one message. A time that is more than a year ahead is in a year: the timers refuse a later one.
 */
export function slotAt({
  atMs,
  nowMs,
  afterDueAt = 0,
}: {
  readonly atMs: number;
  readonly nowMs: number;
  readonly afterDueAt?: number;
}): Slot {
  const wanted = Math.min(atMs, nowMs + maxRequeueSeconds * 1000);
  const dueAt = Math.ceil(Math.max(wanted / 1000, nowMs / 1000 + earlySeconds, afterDueAt + 1));
  return { dueAt, slot: `1/${dueAt}` };
}

/**
 * Calculates the delay of a message on the timers queue: until it is due, or until its next hop, if the wait is longer
 * than SQS allows. Hops lie on a grid as well, so that equal messages are received in one batch.
 */
export function timerDelaySeconds({
  key,
  nowMs,
  dueAt,
}: {
  readonly key: string;
  readonly nowMs: number;
  readonly dueAt: number;
}): { readonly delaySeconds: number; readonly hops: boolean } {
  const now = nowMs / 1000;
  const remaining = Math.ceil(dueAt - now);
  if (remaining <= maxDelaySeconds) return { delaySeconds: Math.max(0, remaining), hops: false };
  const offset = resyncOffset(key, maxDelaySeconds);
  const hopAt = offset + (Math.floor((now - offset) / maxDelaySeconds) + 1) * maxDelaySeconds;
  return { delaySeconds: Math.min(maxDelaySeconds, Math.ceil(hopAt - now)), hops: true };
}

/**
 * Calculates the time by the clock of SQS, in milliseconds: when SQS delivered the record, plus the monotonic time
 * since then. The time of a redelivered record is that of its first delivery. For such a record the time is that of the
 * offset, which was learned from another record. Without one, it is at most one visibility timeout later for each
 * earlier delivery, or the delay with which it was returned if that is longer. The local clock decides within these
 * limits, because a record that was returned early would otherwise wait for minutes. A local time outside of them is
 * wrong, and the latest possible time is used: a clock that is hours ahead would delay a retry by hours.
 * @param visibilitySeconds the visibility timeout of the record's queue
 * @param offsetMs the clock of SQS minus the monotonic clock, learned from a record that was received once
 * @param localMs milliseconds since 1970 by the local clock, which may be wrong
 */
export function sqsNow(
  { firstReceivedAt, receiveCount }: { readonly firstReceivedAt: number; readonly receiveCount: number },
  {
    receivedMonotonicMs,
    monotonicMs,
    offsetMs,
    localMs,
    visibilitySeconds = visibilitySecondsOf(functionLimits.timeoutSeconds.default),
  }: {
    readonly receivedMonotonicMs: number;
    readonly monotonicMs: number;
    readonly offsetMs?: number | undefined;
    readonly localMs?: number | undefined;
    readonly visibilitySeconds?: number;
  },
): number {
  const bySqs = firstReceivedAt + (monotonicMs - receivedMonotonicMs);
  if (receiveCount <= 1) return bySqs;
  if (offsetMs !== undefined) return Math.max(bySqs, offsetMs + monotonicMs);
  const deliveries = Array.from({ length: receiveCount - 1 }, (_, index) => index + 1);
  const seconds = deliveries.map((count) => Math.max(visibilitySeconds, returnDelaySeconds(count, 1)));
  const latest = bySqs + seconds.reduce((sum, one) => sum + one, 0) * 1000;
  return localMs !== undefined && localMs >= bySqs && localMs < latest ? localMs : latest;
}

/**
 * Returns a key's offset in a period: a whole number in [0, period), always the same for a key, and evenly spread over
 * keys.
 */
export function resyncOffset(key: string, period: number): number {
  // 48 bits are far more than any period, and still an exact number.
  return Number.parseInt(hashOf(key).slice(0, 12), 16) % period;
}
