// How fast keys may go on: at once while a bucket has tokens, then at the rate at which it fills. All clusters share a
// controller's queue, and a FIFO queue lets nobody pass: what a flood brings there is what everybody else waits behind.

/** A rate and a burst, as client-go (qps, burst) and API Gateway (rate, burst) have them. */
export type Pace = {
  /** Tokens that come each second. */
  readonly perSecond: number;
  /** Tokens that a full bucket has; at least 1. */
  readonly burst: number;
};

/** A bucket. Times are milliseconds of one clock. */
export type TokenBucket = {
  /** Whole tokens that are there. */
  free(nowMs: number): number;
  /** When so many tokens are there, or a burst of them if that is fewer; a time that has passed when they are. */
  freeAt(tokens: number, nowMs: number): number;
  /** Takes tokens, more than there are included: the next ones come later for it. */
  spend(tokens: number, nowMs: number): void;
};

/** A token that is short of so many milliseconds is there: a time since 1970 has no digits for less than a quarter of a thousandth. */
const roundingMs = 0.002;

/** Creates a full bucket. */
export function createTokenBucket({ perSecond, burst }: Pace): TokenBucket {
  const tokenMs = 1000 / perSecond;
  /** When it is full again, which says everything. */
  let fullAt = Number.NEGATIVE_INFINITY;
  const missing = (nowMs: number) => Math.max(0, fullAt - nowMs - roundingMs) / tokenMs;

  return {
    free: (nowMs) => Math.max(0, Math.floor(burst - missing(nowMs))),
    freeAt: (tokens, nowMs) => {
      // A clock that was set back costs no more than a bucket takes to fill.
      fullAt = Math.min(fullAt, nowMs + burst * tokenMs);
      return Math.ceil(fullAt - Math.max(0, burst - tokens) * tokenMs - roundingMs / 2);
    },
    spend: (tokens, nowMs) => {
      fullAt = Math.max(fullAt, nowMs) + tokens * tokenMs;
    },
  };
}
