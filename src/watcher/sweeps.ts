// A list shows what is there, not what was deleted before it. Who lost a child while nobody watched is found by visiting
// every object that could have had one: the collection of the children asks, that of their owners sends.
import { type Hold, holdBack } from '../runtime/progress.ts';

/** Sends a collection for others, once it is known. */
export type Sweeps = {
  /**
   * Asks for all objects, now or as soon as they are known; `held` is held back where it is now until SQS has their keys.
   * @param sinceMs when the list began that may have missed deletions: what was sent in bulk since sees them all. Absent:
   * nothing that was sent before will do.
   */
  ask(controller: string, held: Hold, sinceMs?: number): void;
  /** The collection is known as a whole; `inBulk` when that list sent all of it anyway. */
  complete(inBulk: boolean): void;
  /** Nothing is known any more. */
  reset(): void;
};

/** Creates the sweeps of one collection. `send` sends all its objects for a controller. */
export function createSweeps(
  send: (controller: string, held: Hold) => void,
  { now }: { readonly now: () => number },
): Sweeps {
  let known = false;
  let inBulkAt = Number.NEGATIVE_INFINITY;
  let owed: (() => void)[] = [];

  return {
    ask: (controller, held, sinceMs = Number.POSITIVE_INFINITY) => {
      const answer = (holding: Hold) => {
        if (inBulkAt < sinceMs) send(controller, holding);
      };
      if (known) {
        answer(held);
        return;
      }
      const since = holdBack(held);
      owed.push(() => {
        answer(since);
        since.release();
      });
    },
    complete: (inBulk) => {
      known = true;
      if (inBulk) inBulkAt = now();
      const asked = owed;
      owed = [];
      for (const answer of asked) answer();
    },
    reset: () => {
      known = false;
      inBulkAt = Number.NEGATIVE_INFINITY;
    },
  };
}
