// A list shows what is there, not what was deleted before it. Who lost a child while nobody watched is found by visiting
// every object that could have had one: the collection of the children asks, that of their owners sends.
import type { Progress } from '../runtime/progress.ts';

/** Sends a collection for others, once it is known. */
export type Sweeps = {
  /**
   * Asks for all objects, now or as soon as they are known; until then `held` is held back.
   * @param sinceMs when the list began that may have missed deletions: what was sent in bulk since sees them all. Absent:
   * nothing that was sent before will do.
   */
  ask(controller: string, held: Progress, sinceMs?: number): void;
  /** The collection is known as a whole; `inBulk` when that list sent all of it anyway. */
  complete(inBulk: boolean): void;
  /** Nothing is known any more. */
  reset(): void;
};

/** Creates the sweeps of one collection. `send` sends all its objects for a controller. */
export function createSweeps(
  send: (controller: string, held: Progress) => void,
  { now }: { readonly now: () => number },
): Sweeps {
  let known = false;
  let inBulkAt = Number.NEGATIVE_INFINITY;
  let owed: (() => void)[] = [];

  return {
    ask: (controller, held, sinceMs = Number.POSITIVE_INFINITY) => {
      const answer = () => {
        if (inBulkAt < sinceMs) send(controller, held);
      };
      if (known) {
        answer();
        return;
      }
      const ticket = held.open();
      owed.push(() => {
        answer();
        held.close(ticket);
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
