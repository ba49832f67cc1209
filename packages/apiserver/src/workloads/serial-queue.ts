// A queue that processes its keys one after the other. Each key is queued at most once: changes of a queued key are
// covered by its next reconcile, and a change during a reconcile queues the key again.

import { isOutdated, type Wait } from './client.ts';

/** A queue of keys. */
export type SerialQueue = {
  add(key: string): void;
  /** Resolves when the current reconcile has ended; no further one starts. */
  stop(): Promise<void>;
};

const retrySeconds = 1;

/**
 * Creates a queue. A reconcile that ends with a conflict or not-found error is not retried: a watch event for that
 * change follows. Every other error is passed to `onError`, once while it repeats, and the key is retried.
 */
export function createSerialQueue(
  reconcile: (key: string) => Promise<void>,
  {
    signal,
    wait,
    onError,
  }: { readonly signal: AbortSignal; readonly wait: Wait; readonly onError: (key: string, error: unknown) => void },
): SerialQueue {
  const queued = new Set<string>();
  const reported = new Map<string, string>();
  let running: Promise<void> | undefined;
  const add = (key: string): void => {
    if (signal.aborted) return;
    queued.add(key);
    running ??= run();
  };
  const retry = async (key: string): Promise<void> => {
    await wait(retrySeconds, signal).then(
      () => add(key),
      () => undefined,
    );
  };
  async function run(): Promise<void> {
    for (const key of queued) {
      if (signal.aborted) return;
      queued.delete(key);
      try {
        await reconcile(key);
        reported.delete(key);
      } catch (error) {
        if (signal.aborted) return;
        if (isOutdated(error)) continue;
        if (reported.get(key) !== String(error)) onError(key, error);
        reported.set(key, String(error));
        void retry(key);
      }
    }
    running = undefined;
  }
  return { add, stop: async () => running };
}
