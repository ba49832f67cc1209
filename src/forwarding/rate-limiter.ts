// Limits how many keys a second the watcher sends to one controller's queue: a token bucket. All clusters share that
// queue, and a FIFO queue delivers in order, so a burst of one cluster would delay every other cluster. The excess
// waits in the watcher, in the work queue, where it is one entry for each object.

/** A rate and a burst, like client-go's qps and burst, and API Gateway's rate and burst. */
export type RateLimit = {
  /** Tokens that are added each second. */
  readonly perSecond: number;
  /** The capacity of the bucket in tokens; at least 1. */
  readonly burst: number;
};

/** A token bucket. Times are milliseconds of one clock. */
export type RateLimiter = {
  /** The number of whole tokens that are available. */
  free(nowMs: number): number;
  /** When this many tokens, but at most a burst, are available. A time in the past if they are available now. */
  freeAt(tokens: number, nowMs: number): number;
  /** Takes tokens. It may take more than are available; the next tokens are then available later. */
  spend(tokens: number, nowMs: number): void;
};

/**
 * A token counts as available this many milliseconds early: a time since 1970 in a double has a resolution of about a
 * quarter of a microsecond.
 */
const roundingMs = 0.002;

/** Creates a full bucket. */
export function createRateLimiter({ perSecond, burst }: RateLimit): RateLimiter {
  const tokenMs = 1000 / perSecond;
  /** When the bucket is full again. This is the whole state. */
  let fullAt = Number.NEGATIVE_INFINITY;
  const missing = (nowMs: number) => Math.max(0, fullAt - nowMs - roundingMs) / tokenMs;

  return {
    free: (nowMs) => Math.max(0, Math.floor(burst - missing(nowMs))),
    freeAt: (tokens, nowMs) => {
      // If the clock is set back, the wait is at most the time in which the bucket fills.
      fullAt = Math.min(fullAt, nowMs + burst * tokenMs);
      return Math.ceil(fullAt - Math.max(0, burst - tokens) * tokenMs - roundingMs / 2);
    },
    spend: (tokens, nowMs) => {
      fullAt = Math.max(fullAt, nowMs) + tokens * tokenMs;
    },
  };
}
