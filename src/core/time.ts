// Time as a dependency: code that waits or reads the clock gets both from its caller, so tests control them.

/** The longest requeueAfterSeconds: a year. */
export const maxRequeueSeconds = 31_536_000;

/** Resolves after some seconds. Rejects when the signal aborts. */
export type Wait = (seconds: number, signal: AbortSignal) => Promise<void>;

/** The longest timer of Node, 24 days: a longer one ends at once. */
const maxTimerMilliseconds = 2_147_483_647;

/**
 * Waits in real time, for 24 days at most. Rejects with the signal's reason. Node's own timer creates an error with a
 * stack for each abort, and a watch aborts a wait for each chunk that it receives.
 */
export function sleep(seconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const abort = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(
      () => {
        signal.removeEventListener('abort', abort);
        resolve();
      },
      Math.min(seconds * 1000, maxTimerMilliseconds),
    );
    signal.addEventListener('abort', abort, { once: true });
  });
}

/** Returns milliseconds since 1970 from the monotonic clock: changes of the system clock do not affect it. */
export function monotonicNow(): number {
  return Math.round(performance.timeOrigin + performance.now());
}
