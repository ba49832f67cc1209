// When "in 30 seconds" is. Due times lie on a grid of the key, so that any number of events that each ask for the same delay
// become one chain instead of one chain each. Pure: the clock is handed in, and it is SQS's, because a wrong local clock
// would choose slots that FIFO still remembers, and the chain would end there.
import { hashOf } from './message.ts';

/** SQS's longest DelaySeconds; longer waits hop. */
const maxDelaySeconds = 900;

/** A due time on a key's grid. */
export type Slot = {
  /** Seconds since 1970. */
  readonly dueAt: number;
  /** `<delay in seconds>/<number>`: which slot of which grid. */
  readonly slot: string;
};

/**
 * Finds the slot for a wait: the first one at least half the delay from now, and later than that of the message in hand.
 * The first wait is 0.5 to 1.5 times the delay, from then on exactly the delay.
 * @param target the key whose grid it is (formatTarget)
 * @param delaySeconds whole seconds; less than 1 is taken as 1
 * @param afterDueAt `dueAt` of the message in hand, whatever grid it was on
 */
export function nextSlot({
  target,
  delaySeconds,
  nowMs,
  afterDueAt = 0,
}: {
  readonly target: string;
  readonly delaySeconds: number;
  readonly nowMs: number;
  readonly afterDueAt?: number;
}): Slot {
  const delay = Math.max(1, Math.round(delaySeconds));
  const phase = phaseOf(target, delay);
  const earliest = Math.max(nowMs / 1000 + delay / 2, afterDueAt + 1);
  const number = Math.ceil((earliest - phase) / delay);
  return { dueAt: phase + number * delay, slot: `${delay}/${number}` };
}

/**
 * Finds how long a message waits in the timers queue now: until it is due, or until its next hop where that is more than
 * SQS allows. Hops lie on a grid too, so that equal messages meet again in one batch.
 */
export function hopDelay({
  target,
  nowMs,
  dueAt,
}: {
  readonly target: string;
  readonly nowMs: number;
  readonly dueAt: number;
}): { readonly delaySeconds: number; readonly hops: boolean } {
  const now = nowMs / 1000;
  const left = Math.ceil(dueAt - now);
  if (left <= maxDelaySeconds) return { delaySeconds: Math.max(0, left), hops: false };
  const phase = phaseOf(target, maxDelaySeconds);
  const hopAt = phase + (Math.floor((now - phase) / maxDelaySeconds) + 1) * maxDelaySeconds;
  return { delaySeconds: Math.min(maxDelaySeconds, Math.ceil(hopAt - now)), hops: true };
}

/**
 * Tells SQS's time, in milliseconds: when SQS handed the record out, plus what has passed since by a clock that nobody sets.
 * A record that was received before was handed out later than it says; then ours is asked too.
 */
export function sqsNow(
  { firstReceivedAt, receiveCount }: { readonly firstReceivedAt: number; readonly receiveCount: number },
  {
    receivedMonotonicMs,
    monotonicMs,
    localMs,
  }: { readonly receivedMonotonicMs: number; readonly monotonicMs: number; readonly localMs: number },
): number {
  const bySqs = firstReceivedAt + (monotonicMs - receivedMonotonicMs);
  return receiveCount > 1 ? Math.max(bySqs, localMs) : bySqs;
}

/** A key's place in a period: evenly spread over keys, always the same for one. Whole, in [0, period). */
export function phaseOf(target: string, period: number): number {
  // 48 bits are far more than any period and still an exact number.
  return Number.parseInt(hashOf(target).slice(0, 12), 16) % period;
}
