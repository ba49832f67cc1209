// Where a collection's loop goes on, asked until there is an answer: to begin without one would forward everything there is.
import type { Wait } from '../core/time.ts';
import type { WatchEvent } from '../kube/watch.ts';
import { backoffSeconds } from '../kube/watch-state.ts';
import type { Cursor } from './cursor.ts';

/** What asking takes. */
export type ReadStartParts = {
  readonly cursor: Pick<Cursor, 'start'>;
  readonly wait: Wait;
  /** In [0, 1), for jitter. */
  readonly random: () => number;
  readonly onTrouble: (trouble: WatchEvent & { type: 'trouble' }) => void;
};

/** Reads where to go on; undefined for a cursor that does not know. Rejects when the signal aborts. */
export async function readStart(
  { cursor, wait, random, onTrouble }: ReadStartParts,
  name: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  for (let failures = 1; ; failures += 1) {
    try {
      return await cursor.start(name, { signal });
    } catch (error) {
      signal.throwIfAborted();
      const retryInSeconds = backoffSeconds(failures, error, random());
      onTrouble({ type: 'trouble', error, retryInSeconds });
      await wait(retryInSeconds, signal);
    }
  }
}
