// The objects that the soak's users create: every kind of this service, with random valid specs of a size that a small
// machine can handle. Kinds that start pods are rare.
import type { SeededRandom } from '../chaos/random.ts';
import { collectionOf } from './objects.ts';

/** A kind with random specs. */
export type Subject = {
  readonly kind: string;
  readonly apiVersion: string;
  readonly collection: string;
  /** The number of objects of this kind in a thousand. */
  readonly share: number;
  /** Returns a random spec for the object of this name. */
  spec(random: SeededRandom, name: string): Readonly<Record<string, unknown>>;
};

/** The names of the memcached Services that proxies refer to; users do not create them. */
export const backends = ['cache-0', 'cache-1', 'cache-2', 'cache-3'] as const;
/** The port of memcached. */
export const backendPort = 11_211;

const items = Array.from({ length: 40 }, (_, index) => `item-${index}`);
const lines = ['rice', 'butter', 'saffron', 'stock'] as const;
const titles = ['David Copperfield', 'Hard Times', 'Bleak House'] as const;
/** The stock has a thousand of each item. Quarters are exact in floating point, so sums can be compared. */
const maxQuarters = 20;

const portion = (random: SeededRandom) => ({
  item: random.pick(items),
  amount: (1 + random.below(maxQuarters)) / 4,
  unit: random.pick(['g', 'mL', 'piece']),
});

/** Every kind. */
const subjects: readonly Subject[] = [
  subject('plant.example.com/v1', 'WaterTank', 'watertanks', 120, (random) => ({
    // Close to the initial level, because the simulated level changes slowly.
    targetLevel: 4 + random.below(9),
    capacity: 100,
    tolerance: 3,
  })),
  subject('kitchen.example.com/v1', 'Ingredient', 'ingredients', 300, portion),
  subject('kitchen.example.com/v1', 'Dinner', 'dinners', 130, (random) => ({
    ingredients: lines
      .filter((_, index) => index === 0 || random.number() < 0.5)
      .map((name) => ({ name, ...portion(random) })),
  })),
  subject('library.example.com/v1', 'Book', 'books', 347, (random) => ({
    title: random.pick(titles),
    author: `Dickens ${random.below(1000)}`,
  })),
  subject('samples.example.com/v1', 'Foo', 'foos', 80, (random, name) => ({
    deploymentName: `${name}-${random.number() < 0.8 ? 'a' : 'b'}`,
    replicas: 1 + random.below(2),
  })),
  subject('cache.example.com/v1', 'MemcachedProxy', 'memcachedproxies', 20, (random) => ({
    rules: {
      type: random.pick(['sharded', 'replicated']),
      service: { name: random.pick(backends), port: backendPort },
    },
  })),
  subject('bitcoin.example.com/v1', 'BitcoinNetwork', 'bitcoinnetworks', 3, (random) => ({
    nodes: 1 + random.below(3),
  })),
];

/** Finds a kind. Throws when it does not exist. */
export function subjectOf(kind: string): Subject {
  const found = subjects.find((one) => one.kind === kind);
  if (found === undefined) throw new Error(`unknown kind: ${kind}`);
  return found;
}

/** Names this number of objects, each kind by its share and at least one of each: `foo-12` and its kind. */
export function namesOf(objects: number): readonly { readonly name: string; readonly subject: Subject }[] {
  return subjects.flatMap((one) =>
    Array.from({ length: Math.max(1, Math.round((objects * one.share) / 1000)) }, (_, index) => ({
      name: `${one.kind.toLowerCase()}-${index}`,
      subject: one,
    })),
  );
}

function subject(apiVersion: string, kind: string, plural: string, share: number, spec: Subject['spec']): Subject {
  return { kind, apiVersion, share, spec, collection: collectionOf(apiVersion, plural) };
}
