// A reconciler that still runs some time after its deadline. It cannot be stopped inside this process, so its failure
// is reported as that of any other attempt, and then the process ends (batch.ts).
import { IgnoredSignalError } from '../core/errors.ts';
import type { Wait } from '../core/time.ts';

/** How long a reconciler may run after its signal was aborted. */
export const graceSeconds = 1;
/** The time for its status and its Event. The function's own deadline is near. */
export const reportSeconds = 1;
/** The time for its follow-up and for the deletion of finished messages. */
export const followUpSeconds = 0.5;

/** Waits for a function of the author. Rejects with an IgnoredSignalError if it still runs after its grace period. */
export async function unlessSignalIgnored<T>(
  running: Promise<T>,
  { signal, wait }: { readonly signal: AbortSignal; readonly wait: Wait },
): Promise<T> {
  /** Created only when the signal is aborted: most reconciles end before that. */
  let grace: AbortController | undefined;
  let onAbort = () => {};
  const ignored = new Promise<never>((_, reject) => {
    onAbort = () => {
      grace = new AbortController();
      wait(graceSeconds, grace.signal).then(
        () => reject(new IgnoredSignalError(`the reconciler ignored its signal: it ran on for ${graceSeconds} s`)),
        () => undefined,
      );
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([running, ignored]);
  } finally {
    signal.removeEventListener('abort', onAbort);
    grace?.abort('ended');
  }
}
