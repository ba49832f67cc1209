// Restore detection, shared by all watches of one API server. A watch detects that etcd was restored from a backup only
// until the server's resourceVersion has passed the watch's own. The first watch that detects it reports it to the
// others.
/** Counts restores of one API server and reports them to its watches. */
export type RestoreDetection = {
  /** Returns the number of restores so far. */
  count(): number;
  /** Returns a signal that aborts at the next restore. */
  next(): AbortSignal;
  /** Reports a restore. */
  report(): void;
};

/** Creates the restore detection of one API server. */
export function createRestoreDetection(): RestoreDetection {
  let count = 0;
  let next = new AbortController();
  return {
    count: () => count,
    next: () => next.signal,
    report: () => {
      const current = next;
      count += 1;
      next = new AbortController();
      current.abort();
    },
  };
}
