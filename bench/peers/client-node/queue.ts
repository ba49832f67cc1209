// The queue that the official client does not include: keys are reconciled at once, each key by one reconcile at a
// time.

const retryMilliseconds = 1000;

/**
 * Returns the function to call with the key of an object that may have changed. `reconcile` runs for different keys
 * concurrently. A key that is added during its reconcile runs once more afterwards, and one that fails is retried,
 * until `signal` aborts.
 */
export function createQueue(
  reconcile: (key: string) => Promise<void>,
  onError: (error: unknown) => void,
  signal: AbortSignal,
): (key: string) => void {
  const running = new Map<string, { isQueued: boolean }>();

  const run = async (key: string): Promise<void> => {
    const state = { isQueued: true };
    running.set(key, state);
    while (state.isQueued && !signal.aborted) {
      state.isQueued = false;
      try {
        await reconcile(key);
      } catch (error) {
        onError(error);
        state.isQueued = true;
        await new Promise((resolve) => setTimeout(resolve, retryMilliseconds));
      }
    }
    running.delete(key);
  };

  return (key) => {
    const state = running.get(key);
    if (state === undefined) void run(key);
    else state.isQueued = true;
  };
}
