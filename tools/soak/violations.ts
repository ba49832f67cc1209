// The violations in a snapshot, one line each; none if no change was lost. It uses no product code: it compares the
// cluster with its users' last writes, and the simulators with the cluster.
import { findPantryViolations } from './expect-pantry.ts';
import { findPlantViolations } from './expect-plant.ts';
import { findWorkloadViolations } from './expect-workloads.ts';
import { describeUnconverged } from './objects.ts';
import type { Plural, Snapshot } from './snapshot.ts';
import type { LastWrite } from './users.ts';

const controlled = ['watertanks', 'ingredients', 'dinners', 'foos', 'memcachedproxies', 'bitcoinnetworks'] as const;

/** Lists the violations. `knownHolders` are the uids of all Ingredients so far. */
export function findViolations(
  snapshot: Snapshot,
  { lastWrites, knownHolders }: { readonly lastWrites: readonly LastWrite[]; readonly knownHolders: readonly string[] },
): readonly string[] {
  const unconverged = controlled.flatMap((plural) =>
    snapshot.list(plural).flatMap((object) => {
      const reason = describeUnconverged(object);
      return reason === undefined ? [] : [`${object.metadata.name} ${reason}`];
    }),
  );
  const lostWrites = lastWrites.flatMap((lastWrite) => compareLastWrite(snapshot, lastWrite));
  if (unconverged.length + lostWrites.length > 0) return [...unconverged, ...lostWrites];
  return [
    ...findPlantViolations(snapshot),
    ...findPantryViolations(snapshot, knownHolders),
    ...findWorkloadViolations(snapshot),
  ];
}

const pluralOf: Readonly<Record<string, Plural>> = {
  WaterTank: 'watertanks',
  Ingredient: 'ingredients',
  Dinner: 'dinners',
  Book: 'books',
  Foo: 'foos',
  MemcachedProxy: 'memcachedproxies',
  BitcoinNetwork: 'bitcoinnetworks',
};

function compareLastWrite({ list }: Snapshot, { subject, name, uid, spec }: LastWrite): readonly string[] {
  const found = list(pluralOf[subject.kind] ?? 'books').find(({ metadata }) => metadata.uid === uid);
  if (spec === undefined) return found === undefined ? [] : [`${name} exists, but was deleted by a user`];
  if (found === undefined) return [`${name} does not exist, and was not deleted by a user`];
  return contains(found.spec, spec) ? [] : [`${name}: its spec differs from the last write of its user`];
}

/** Returns whether `live` contains all of `written`; it may have further defaults. */
export function contains(live: unknown, written: unknown): boolean {
  if (Array.isArray(written)) {
    return (
      Array.isArray(live) && live.length === written.length && written.every((one, index) => contains(live[index], one))
    );
  }
  if (typeof written !== 'object' || written === null) return live === written;
  if (typeof live !== 'object' || live === null) return false;
  const liveFields = new Map(Object.entries(live));
  return Object.entries(written).every(([field, value]) => contains(liveFields.get(field), value));
}
