// What is wrong in a world at rest, as lines for a person; nothing when nothing was lost. Nothing of the product is in it: it holds
// the cluster to its users' last word, and the worlds to the cluster.
import { wrongInKitchen } from './expect-kitchen.ts';
import { wrongInPlant } from './expect-plant.ts';
import { wrongWithWorkloads } from '../../tools/soak/expect-workloads.ts';
import { unsettled } from '../../tools/soak/objects.ts';
import type { Plural, Snapshot } from '../../tools/soak/snapshot.ts';
import type { Word } from './users.ts';

const controlled = ['watertanks', 'ingredients', 'dinners', 'foos', 'memcachedproxies', 'bitcoinnetworks'] as const;

/** Lists what is wrong. `gone` are the uids of all Ingredients that were ever seen. */
export function whatIsWrong(
  snapshot: Snapshot,
  { words, everSeen }: { readonly words: readonly Word[]; readonly everSeen: readonly string[] },
): readonly string[] {
  const restless = controlled.flatMap((plural) =>
    snapshot.of(plural).flatMap((object) => {
      const why = unsettled(object);
      return why === undefined ? [] : [`${object.metadata.name} ${why}`];
    }),
  );
  const unheard = words.flatMap((word) => unlikeWord(snapshot, word));
  if (restless.length + unheard.length > 0) return [...restless, ...unheard];
  return [...wrongInPlant(snapshot), ...wrongInKitchen(snapshot, everSeen), ...wrongWithWorkloads(snapshot)];
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

function unlikeWord({ of }: Snapshot, { subject, name, uid, spec }: Word): readonly string[] {
  const found = of(pluralOf[subject.kind] ?? 'books').find(({ metadata }) => metadata.uid === uid);
  if (spec === undefined) return found === undefined ? [] : [`${name} is there, and was deleted`];
  if (found === undefined) return [`${name} is not there, and nobody deleted it`];
  return contains(found.spec, spec) ? [] : [`${name}: its spec is not what its user wrote last`];
}

/** Tells whether all of `said` is in `live`, which may have defaults beside it. */
export function contains(live: unknown, said: unknown): boolean {
  if (Array.isArray(said)) {
    return Array.isArray(live) && live.length === said.length && said.every((one, index) => contains(live[index], one));
  }
  if (typeof said !== 'object' || said === null) return live === said;
  if (typeof live !== 'object' || live === null) return false;
  const there = new Map(Object.entries(live));
  return Object.entries(said).every(([field, value]) => contains(there.get(field), value));
}
