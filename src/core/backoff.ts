// How long to wait after an error. Jitter comes from the key, not from chance: the same attempt of the same key always
// waits equally long, so that duplicates agree on it and collapse.

/** The waits of retries: doubling from `firstSeconds` up to `maxSeconds`, for at most `attempts` reconciles. */
export type Backoff = { readonly firstSeconds: number; readonly maxSeconds: number };

/** After an error of a reconcile. */
export const retryBackoff: Backoff = { firstSeconds: 2, maxSeconds: 900 };
/** While a cluster cannot be reached. */
export const deferralBackoff: Backoff = { firstSeconds: 5, maxSeconds: 900 };
/** How many reconciles a message gets before it is a dead letter. */
export const maxAttempts = 10;

/**
 * The wait in whole seconds before try number `count + 1`; monotone in `count`.
 * @param count failed tries so far, from 1
 * @param fraction the key's own jitter, in [0, 1): the wait is 1 to 1.5 times the doubled one, never above the maximum
 */
export function backoffSeconds({ firstSeconds, maxSeconds }: Backoff, count: number, fraction: number): number {
  const doubled = firstSeconds * 2 ** Math.min(Math.max(count - 1, 0), 30);
  return Math.max(1, Math.min(maxSeconds, Math.round(doubled * (1 + fraction / 2))));
}
