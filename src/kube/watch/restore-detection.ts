// Restore detection, shared by all watches of one API server. A watch detects that etcd was restored from a backup only
// until the server's resourceVersion has passed the watch's own. The first watch that detects it, or the watch
// checkpoint, reports it to all watches.
/** Whether an API server still serves the cluster that it served before, without a restore in between. */
export type ClusterIdentity = 'same' | 'restored' | 'other cluster';

/** Counts restores of one API server and reports them to its watches. */
export type RestoreDetection = {
  /** Returns the number of restores so far. */
  count(): number;
  /** Returns a signal that aborts at the next restore. */
  next(): AbortSignal;
  /** Reports a restore. */
  report(): void;
  /**
   * Checks, after a lost connection, whether the server still serves the same cluster, and reports a restore if not.
   * Watches that reconnect at the same time share one check. Rejects if the server does not respond.
   */
  check(signal: AbortSignal): Promise<void>;
};

/**
 * Creates the restore detection of one API server.
 * @param verify compares the cluster with the one before; default: the watches compare their versions alone
 */
export function createRestoreDetection(
  verify: (signal: AbortSignal) => Promise<ClusterIdentity> = async () => 'same',
): RestoreDetection {
  let count = 0;
  let next = new AbortController();
  let checking: Promise<void> | undefined;

  function report(): void {
    const current = next;
    count += 1;
    next = new AbortController();
    current.abort();
  }

  async function verifyOnce(signal: AbortSignal): Promise<void> {
    const before = count;
    try {
      // A watch may have reported the same restore in the meantime.
      if ((await verify(signal)) !== 'same' && count === before) report();
    } finally {
      checking = undefined;
    }
  }

  return {
    count: () => count,
    next: () => next.signal,
    report,
    check: async (signal) => {
      checking ??= verifyOnce(signal);
      await checking;
    },
  };
}
