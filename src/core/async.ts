// Promises under control: a bounded number of calls at the same time, and a wait that an AbortSignal ends.

/**
 * Calls `work` for each item, with at most `limit` calls in flight. Rejects with the first failure; calls that were
 * already started are not cancelled.
 */
export async function forEachConcurrently<T>(
  limit: number,
  items: Iterable<T>,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const remaining = [...items];
  const worker = async () => {
    for (let item = remaining.shift(); item !== undefined; item = remaining.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: limit }, worker));
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
