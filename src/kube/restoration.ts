// What the watches of one server tell each other: that one of them has found it restored from a backup. A watch can tell by itself
// only until the restored server has come up to its version again; the first of many to come back is early enough for all.

/** News of restores. */
export interface Restoration {
  /** How often one was found so far. */
  count(): number;
  /** Aborts when the next one is found. */
  next(): AbortSignal;
  /** Says that one was found. */
  tell(): void;
}

/** Creates the news of a server of which none are known. */
export function createRestoration(): Restoration {
  let count = 0;
  let next = new AbortController();
  return {
    count: () => count,
    next: () => next.signal,
    tell: () => {
      const told = next;
      count += 1;
      next = new AbortController();
      told.abort();
    },
  };
}
