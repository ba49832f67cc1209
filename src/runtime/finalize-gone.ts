// Finalizing an object that is not there any more: no event and no later visit will ask for it again, so what elsewhere would be a
// message later is waited for here, for as long as the key has time.
import { backoffSeconds, retryBackoff } from '../core/backoff.ts';
import { TerminalError } from '../core/errors.ts';
import type { Finalized } from '../core/result.ts';
import type { Wait } from '../core/time.ts';

/** Of a finalize that throws. */
const mostFailures = 3;

/**
 * Finalizes until it is done. Rejects with what finalize threw in the end, or when the signal aborts before it is done.
 * @param finalize one call; what it asks to wait for is waited for
 */
export async function finalizeUntilDone(
  finalize: () => Promise<Finalized>,
  { wait, signal }: { readonly wait: Wait; readonly signal: AbortSignal },
): Promise<void> {
  let failures = 0;
  const once = async (): Promise<Finalized> => {
    try {
      return await finalize();
    } catch (error) {
      failures += 1;
      if (error instanceof TerminalError || failures === mostFailures || signal.aborted) throw error;
      return { requeueAfterSeconds: backoffSeconds(retryBackoff, failures, 0), reason: String(error) };
    }
  };
  for (let finalized = await once(); finalized !== 'done'; finalized = await once()) {
    const { requeueAfterSeconds, reason } = finalized;
    await wait(Math.max(1, requeueAfterSeconds), signal).catch(() => {
      throw new Error(`no time left to finalize it: ${reason}`);
    });
  }
}
