// A reconcile for callers without a queue: a dry run and the battery.
import type { Reconcile } from './reconcile.ts';

/** An object whose finalizer is removed again and again is held no more often than this. */
const maxHolds = 3;

/** Makes a reconcile after which an object that was held is reconciled at once, as by the next message. */
export function withoutQueue(reconcile: Reconcile): Reconcile {
  return async (input) => {
    for (let holds = 1; ; holds += 1) {
      const report = await reconcile(input);
      const { outcome } = report;
      const isHeld = outcome.type === 'nothing' && outcome.reason === 'held';
      if (!isHeld || holds === maxHolds) return report;
    }
  };
}
