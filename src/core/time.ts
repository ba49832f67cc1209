// Waiting as a dependency, so that tests of watches and retries move time themselves.

/** Resolves after some seconds; rejects when the signal aborts. */
export type Wait = (seconds: number, signal: AbortSignal) => Promise<void>;

/** Waits in real time. Rejects with the signal's reason: Node's own makes an error with its stack, here for each chunk of a watch. */
export function waitReally(seconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const abort = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', abort);
      resolve();
    }, seconds * 1000);
    signal.addEventListener('abort', abort, { once: true });
  });
}
