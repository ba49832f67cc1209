// The queue that the official client does not come with: each object at once, and each once at a time.

const retryMilliseconds = 1000;

/**
 * Returns what to call with the key of an object that may have changed. `reconcile` runs for different keys side by side; a key that is
 * given again meanwhile runs once more afterwards, and one that fails is tried again, until `signal` is aborted.
 */
export function createQueue(
  reconcile: (key: string) => Promise<void>,
  onError: (error: unknown) => void,
  signal: AbortSignal,
): (key: string) => void {
  const running = new Map<string, { again: boolean }>();

  const run = async (key: string): Promise<void> => {
    const state = { again: true };
    running.set(key, state);
    while (state.again && !signal.aborted) {
      state.again = false;
      try {
        await reconcile(key);
      } catch (error) {
        onError(error);
        state.again = true;
        await new Promise((resolve) => setTimeout(resolve, retryMilliseconds));
      }
    }
    running.delete(key);
  };

  return (key) => {
    const state = running.get(key);
    if (state === undefined) void run(key);
    else state.again = true;
  };
}
