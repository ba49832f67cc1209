// Tells versions of before a restore from those after it. A restored etcd gives the same version to another change of the same object,
// and SQS would take its message for the one that it had minutes ago. So for as long as SQS remembers, and the keys that still
// wait are sent, an era is part of what a message is known by. Each watcher makes its own: meanwhile two of them send twice.
import { rememberedSeconds, type Source } from '../queue/deduplication.ts';

/** The eras of one collection. */
export type Eras = {
  /** Versions begin anew; `name` was never used before. */
  begin(name: string): void;
  /** Says of which era a source is. */
  of(source: Source): Source;
};

/** Twice what SQS remembers: what waited during the restore is sent a little later than that. */
const eraMs = 2 * rememberedSeconds * 1000;

/** Creates the eras of a collection that was never restored. `now`: milliseconds of a clock that is never set back. */
export function createEras({ now }: { readonly now: () => number }): Eras {
  let era: { readonly name: string; readonly untilMs: number } | undefined;
  return {
    begin: (name) => {
      era = { name, untilMs: now() + eraMs };
    },
    of: (source) => {
      if (era !== undefined && now() >= era.untilMs) era = undefined;
      return era === undefined ? source : { ...source, era: era.name };
    },
  };
}
