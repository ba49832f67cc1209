// What the users of the soak make: objects of every kind of this service, of every size and shape that the kinds allow and a small
// machine bears. A kind that starts pods is rare.
import type { Dice } from '../chaos/random.ts';
import { collectionOf } from './objects.ts';

/** A kind, as a user knows it. */
export type Subject = {
  readonly kind: string;
  readonly apiVersion: string;
  readonly collection: string;
  /** Of a thousand objects so many are of this kind. */
  readonly share: number;
  /** Draws a spec for the object of that name. */
  spec(dice: Dice, name: string): Readonly<Record<string, unknown>>;
};

/** How many memcached servers' Services there are for proxies to name; users make none. */
export const backends = ['cache-0', 'cache-1', 'cache-2', 'cache-3'] as const;
/** Where memcached listens. */
export const backendPort = 11_211;

const items = Array.from({ length: 40 }, (_, index) => `item-${index}`);
const lines = ['rice', 'butter', 'saffron', 'stock'] as const;
const titles = ['David Copperfield', 'Hard Times', 'Bleak House'] as const;
/** Shelves hold a thousand of each item; quarters are exact, so that sums can be compared. */
const mostQuarters = 20;

const portion = (dice: Dice) => ({
  item: dice.pick(items),
  amount: (1 + dice.below(mostQuarters)) / 4,
  unit: dice.pick(['g', 'mL', 'piece']),
});

/** Every kind there is. */
const subjects: readonly Subject[] = [
  subject('plant.example.com/v1', 'WaterTank', 'watertanks', 120, (dice) => ({
    // Not far from where the water is: it moves slowly here.
    ...{ targetLevel: 4 + dice.below(9), capacity: 100, tolerance: 3 },
  })),
  subject('kitchen.example.com/v1', 'Ingredient', 'ingredients', 300, portion),
  subject('kitchen.example.com/v1', 'Dinner', 'dinners', 130, (dice) => ({
    ingredients: lines
      .filter((_, index) => index === 0 || dice.number() < 0.5)
      .map((name) => ({ name, ...portion(dice) })),
  })),
  subject('library.example.com/v1', 'Book', 'books', 347, (dice) => ({
    ...{ title: dice.pick(titles), author: `Dickens ${dice.below(1000)}` },
  })),
  subject('samples.example.com/v1', 'Foo', 'foos', 80, (dice, name) => ({
    deploymentName: `${name}-${dice.number() < 0.8 ? 'a' : 'b'}`,
    replicas: 1 + dice.below(2),
  })),
  subject('cache.example.com/v1', 'MemcachedProxy', 'memcachedproxies', 20, (dice) => ({
    rules: {
      type: dice.pick(['sharded', 'replicated']),
      service: { name: dice.pick(backends), port: backendPort },
    },
  })),
  subject('bitcoin.example.com/v1', 'BitcoinNetwork', 'bitcoinnetworks', 3, (dice) => ({ nodes: 1 + dice.below(3) })),
];

/** Finds a kind. Throws for one that is not there. */
export function subjectOf(kind: string): Subject {
  const found = subjects.find((one) => one.kind === kind);
  if (found === undefined) throw new Error(`no such kind: ${kind}`);
  return found;
}

/** Names so many objects, each kind by its share and none without any: `foo-12` and its kind. */
export function namesOf(objects: number): readonly { readonly name: string; readonly subject: Subject }[] {
  return subjects.flatMap((one) =>
    Array.from({ length: Math.max(1, Math.round((objects * one.share) / 1000)) }, (_, index) => ({
      ...{ name: `${one.kind.toLowerCase()}-${index}`, subject: one },
    })),
  );
}

function subject(apiVersion: string, kind: string, plural: string, share: number, spec: Subject['spec']): Subject {
  return { kind, apiVersion, share, spec, collection: collectionOf(apiVersion, plural) };
}
