// Calculates due times, and the cells that keep one chain of requeues an object. A cell is a span of time on a key's
// own grid, at most as wide as the wait. Of the messages of a key that are due in one cell, the first one is
// reconciled: SQS drops the others by their deduplication id, and of a wide cell they meet at its beginning on the
// timers queue. However often an object is triggered, it has one chain.
//
// Guarantee: the time that the last reconcile asked for is kept. A cell begins after the request, so a message that
// takes its place is reconciled after it, and that reconcile asks anew; the rest of the wait is shorter, and so is its
// cell. Pure: the time is a parameter. It is the time by the clock of SQS, because a wrong local clock would choose
// cells that the FIFO queue still remembers. SQS would drop such a message as a duplicate, and the chain would end.
import { functionLimits, visibilitySecondsOf } from '../core/controller-options.ts';
import { maxRequeueSeconds } from '../core/time.ts';
import { isWideSlot } from '../sqs/deduplication.ts';
import { hashOf } from '../sqs/message.ts';
import { returnDelaySeconds } from '../sqs/return.ts';

/** The longest DelaySeconds of SQS. A longer wait consists of several hops. */
export const maxDelaySeconds = 900;

/** A message this close to its due time is not early: it is received up to a second before, and clocks differ. */
export const earlySeconds = 2;

/** A due time and its cell. */
export type Slot = {
  /** Seconds since 1970. */
  readonly dueAt: number;
  /** `<width in seconds>/<number>`: the cell on the key's grid of that width. */
  readonly slot: string;
};

/** What a due time depends on. */
type SlotInput = {
  /** The key whose grid is used (formatReconcileKey). */
  readonly key: string;
  readonly nowMs: number;
  /** `dueAt` of the current message. */
  readonly afterDueAt?: number | undefined;
};

/**
 * Finds the due time of a delay: the first point of the key's grid that is at least half the delay from now, and later
 * than the due time of the current message. The first wait is 0.5 to 1.5 times the delay, so that the objects of a
 * fleet are spread; the following waits are exactly the delay.
 * @param delaySeconds whole seconds, at least 1; a smaller value counts as 1
 */
export function nextSlot({ delaySeconds, ...input }: SlotInput & { readonly delaySeconds: number }): Slot {
  const { key, nowMs, afterDueAt } = input;
  const delay = Math.max(1, Math.round(delaySeconds));
  const offset = resyncOffset(key, delay);
  const now = nowMs / 1000;
  const earliest = Math.max(now + delay / 2, afterDueAt === undefined ? now + earlySeconds : afterDueAt + 1);
  const dueAt = offset + Math.ceil((earliest - offset) / delay) * delay;
  return slotOf(dueAt, delay / 2, input);
}

/**
 * Finds the due time of a time: the first second that is not before it, later than the due time of the current message,
 * and two seconds or more from now. A time that is more than a year ahead is in a year: the timers refuse a later one.
 */
export function slotAt({ atMs, ...input }: SlotInput & { readonly atMs: number }): Slot {
  const { nowMs, afterDueAt = 0 } = input;
  const wanted = Math.min(atMs, nowMs + maxRequeueSeconds * 1000);
  const dueAt = Math.ceil(Math.max(wanted / 1000, nowMs / 1000 + earlySeconds, afterDueAt + 1));
  return slotOf(dueAt, dueAt - nowMs / 1000, input);
}

/** Each width of a cell is about so many times the next smaller one. Chains of one wait have one width. */
const widthFactor = 1.1;

function slotOf(dueAt: number, waitSeconds: number, { key, nowMs, afterDueAt = 0 }: SlotInput): Slot {
  // A message that was received early has an id that SQS remembers, and its cell has not begun. A message is early up
  // to two seconds before it is due, so a cell begins later than that.
  const isAfterEarly = afterDueAt > nowMs / 1000 + earlySeconds;
  const widest = isAfterEarly ? 1 : Math.max(1, waitSeconds - earlySeconds);
  const width = Math.floor(widthFactor ** Math.floor(Math.log(widest) / Math.log(widthFactor)));
  return { dueAt, slot: `${width}/${Math.floor((dueAt - resyncOffset(key, width)) / width)}` };
}

/** Returns the width of a slot's cell, in seconds. */
export function widthOf(slot: string): number {
  return Number(slot.split('/')[0]);
}

/** Returns when the messages of a requeue's cell meet on the timers queue; undefined: not before they are due. */
function meetingAt(key: string, slot: string): number | undefined {
  if (!isWideSlot(slot)) return undefined;
  const width = widthOf(slot);
  return resyncOffset(key, width) + Number(slot.split('/')[1]) * width;
}

/**
 * Calculates the delay of a message on the timers queue: until it is due, or until its next hop, if the wait is longer
 * than SQS allows. Hops lie on a grid as well, so that equal messages are received in one batch.
 * @param slot of a requeue: those of a wide cell meet at its beginning
 */
export function timerDelaySeconds({
  key,
  nowMs,
  dueAt,
  slot,
}: {
  readonly key: string;
  readonly nowMs: number;
  readonly dueAt: number;
  readonly slot?: string | undefined;
}): { readonly delaySeconds: number; readonly hops: boolean } {
  const now = nowMs / 1000;
  const meetsAt = slot === undefined ? undefined : meetingAt(key, slot);
  const beforeMeeting = meetsAt === undefined ? 0 : Math.ceil(meetsAt - now);
  if (beforeMeeting > 0 && beforeMeeting <= maxDelaySeconds) return { delaySeconds: beforeMeeting, hops: true };
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
