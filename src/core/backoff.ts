// Every backoff policy of the framework, as a named constant, and the one function that computes a delay from it. The
// watcher and the reconcilers add their own conditions where they use it (Retry-After, an error that needs no wait).

import { defaultRetry, type RetryPolicy } from './controller-options.ts';

/** Exponential backoff: delays that grow from `firstSeconds` to `maxSeconds`. */
export type Backoff = {
  readonly firstSeconds: number;
  readonly maxSeconds: number;
  /** Each delay is this multiple of the one before. 2 if left out. */
  readonly factor?: number;
  /** The delay is multiplied by a factor from this range. The result never exceeds `maxSeconds`. */
  readonly jitter: readonly [min: number, max: number];
  /** Rounds the delay to whole seconds, at least one. */
  readonly wholeSeconds?: true;
};

/** Returns the backoff after failed reconciles of a controller. */
export function retryBackoffOf({ firstSeconds, maxSeconds }: RetryPolicy): Backoff {
  return { firstSeconds, maxSeconds, jitter: [1, 1.5], wholeSeconds: true };
}

/** After a failed reconcile, and a failed finalize, of a controller that declares no other. */
export const retryBackoff: Backoff = retryBackoffOf(defaultRetry);
/** After a conflict that fresh reads did not resolve. */
export const conflictBackoff: Backoff = { firstSeconds: 5, maxSeconds: 900, jitter: [1, 1.5], wholeSeconds: true };
/**
 * After a reconciler has asked to come back later. A wait is one to two times as long as it asked for, by the key, so
 * that many objects of one slow system do not come back together, and the range grows until they fit. The first wait of
 * a key's grid is half of it or more, so it is twice as long here.
 */
export function laterBackoffOf(seconds: number): Backoff {
  return {
    firstSeconds: 2 * seconds,
    maxSeconds: Math.max(900, 4 * seconds),
    factor: 1.5,
    jitter: [1, 2],
    wholeSeconds: true,
  };
}
const postponementFactor = 1.5;
/**
 * While a cluster is unreachable. Its keys wait in SQS, from where they cannot be called back when it responds again.
 * With this factor the last wait is at most about as long as the outage, and with 2 it was up to twice as long.
 */
export const unreachableBackoff: Backoff = { ...conflictBackoff, factor: postponementFactor };
/** The number of postponements from which the wait for a cluster no longer grows. */
export const mostPostponements =
  1 +
  Math.ceil(Math.log(unreachableBackoff.maxSeconds / unreachableBackoff.firstSeconds) / Math.log(postponementFactor));
/** After a list or a watch failed. The first delay is 0.8 to 1.6 s, the longest 15 to 30 s. */
export const watchBackoff: Backoff = { firstSeconds: 1.6, maxSeconds: 30, jitter: [0.5, 1] };
/** After SQS rejected a single key of the watcher. The first delay is 0.25 to 0.5 s, the longest 15 to 30 s. */
export const keyBackoff: Backoff = { firstSeconds: 0.5, maxSeconds: 30, jitter: [0.5, 1] };

/**
 * Returns the delay in seconds after a number of failures. For the same `fraction`, it never decreases as `failures`
 * grows.
 * @param failures failed attempts so far, from 1
 * @param fraction in [0, 1), selects the jitter. For a reconcile it is derived from the key, so that duplicates of a
 *   message get the same delay and are deduplicated
 */
export function backoffSeconds(
  { firstSeconds, maxSeconds, factor = 2, jitter: [min, max], wholeSeconds }: Backoff,
  failures: number,
  fraction: number,
): number {
  const grown = Math.min(maxSeconds, firstSeconds * factor ** Math.min(Math.max(failures - 1, 0), 30));
  const delay = Math.min(maxSeconds, grown * (min + fraction * (max - min)));
  return wholeSeconds === true ? Math.max(1, Math.round(delay)) : delay;
}
