// Promises under control: a bounded number of calls at the same time, and a wait that an AbortSignal ends.

/**
 * Calls `work` for each item, with at most `limit` calls in flight. After a failure no further call is started. Rejects
 * with the first failure when the started calls have ended, so that nothing runs on beside a retry: give `work` what
 * hangs only with a signal.
 * @throws TypeError for a limit below 1
 * @example await forEachConcurrently(5, spec.hosts, async (host) => await dns.upsert(host, signal));
 */
export async function forEachConcurrently<T>(
  limit: number,
  items: Iterable<T>,
  work: (item: T) => Promise<void>,
): Promise<void> {
  if (!(limit >= 1)) throw new TypeError(`forEachConcurrently: the limit is ${limit}, and must be at least 1`);
  const all = [...items];
  // One iterator for all workers.
  const remaining = all.values();
  const failures: unknown[] = [];
  const worker = async () => {
    for (const item of remaining) {
      if (failures.length > 0) return;
      try {
        await work(item);
      } catch (error) {
        failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, all.length) }, worker));
  if (failures.length > 0) throw failures[0];
}

/** Waits for a promise until the signal aborts, then rejects with the signal's reason. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    const ended = () => signal.removeEventListener('abort', abort);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort);
    promise.then(
      (value) => {
        ended();
        resolve(value);
      },
      (error: unknown) => {
        ended();
        reject(error);
      },
    );
  });
}

/**
 * Makes a read that several callers share: one that began less than `milliseconds` ago is used again, also if it
 * failed. After `forget` the next call reads again.
 */
export function sharedRead<Args extends readonly unknown[], T>(
  milliseconds: number,
  read: (...args: Args) => Promise<T>,
): { get(...args: Args): Promise<T>; forget(): void } {
  let latest: { readonly at: number; readonly result: Promise<T> } | undefined;
  return {
    get: (...args) => {
      if (latest === undefined || Date.now() - latest.at > milliseconds)
        latest = { at: Date.now(), result: read(...args) };
      return latest.result;
    },
    forget: () => {
      latest = undefined;
    },
  };
}
