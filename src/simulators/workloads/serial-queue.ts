// Takes keys one after the other, each at most once in line: what happens to a key while it waits is seen when it is looked at, and
// what happens while it is looked at brings it back into line.
import { isConflict, isNamespaceTerminating, isNotFound } from '../../kube/client/errors.ts';
import type { Wait } from '../../core/time.ts';

/** A line of keys. */
export type Turns = {
  add(key: string): void;
  /** Resolves when the look that is under way is over; no other begins. */
  stop(): Promise<void>;
};

const retrySeconds = 1;

/**
 * Creates a line. A look that meets a newer version, or what is gone, is not repeated: the change it met is itself on its way
 * to us. Every other error is told, and the key tried again.
 */
export function createTurns(
  look: (key: string) => Promise<void>,
  {
    signal,
    wait,
    onError,
  }: { readonly signal: AbortSignal; readonly wait: Wait; readonly onError: (key: string, error: unknown) => void },
): Turns {
  const line = new Set<string>();
  let running: Promise<void> | undefined;
  const add = (key: string): void => {
    if (signal.aborted) return;
    line.add(key);
    running ??= run();
  };
  const again = async (key: string): Promise<void> => {
    await wait(retrySeconds, signal).then(
      () => add(key),
      () => undefined,
    );
  };
  async function run(): Promise<void> {
    for (const key of line) {
      if (signal.aborted) return;
      line.delete(key);
      try {
        await look(key);
      } catch (error) {
        if (signal.aborted) return;
        if (isConflict(error) || isNotFound(error) || isNamespaceTerminating(error)) continue;
        onError(key, error);
        void again(key);
      }
    }
    running = undefined;
  }
  return { add, stop: async () => running };
}
