// One dead cluster must not hold the functions of the others: after some failures in a row its keys are put off without
// being tried, except for a probe now and then.

/** Knows which clusters were unreachable of late; an instance's own memory, lost with it. */
export type Breaker = {
  /** Tells whether to try: always while closed; when open, once every `probeSeconds`. */
  mayTry(cluster: string): boolean;
  reached(cluster: string): void;
  unreachable(cluster: string): void;
};

/** Creates a breaker. `now` is in milliseconds, of any origin. */
export function createBreaker(now: () => number, { failures = 5, probeSeconds = 10 } = {}): Breaker {
  const inRow = new Map<string, { readonly failures: number; readonly probedAt: number }>();
  return {
    mayTry: (cluster) => {
      const state = inRow.get(cluster);
      if (state === undefined || state.failures < failures) return true;
      if (now() - state.probedAt < probeSeconds * 1000) return false;
      inRow.set(cluster, { ...state, probedAt: now() });
      return true;
    },
    reached: (cluster) => void inRow.delete(cluster),
    unreachable: (cluster) => {
      inRow.set(cluster, { failures: (inRow.get(cluster)?.failures ?? 0) + 1, probedAt: now() });
    },
  };
}
