// Everything that can be seen from outside at one moment: the cluster by plain lists, the worlds by their own word. What is wrong with
// it is decided elsewhere.
import type { PlainApi } from '../chaos/plain-api.ts';
import { collectionOf, listSeen, type Seen } from './objects.ts';

/** What the pantry has for somebody. */
export type Laid = {
  readonly reserved?: object;
  readonly measured?: { readonly amount: number; readonly unit: string };
};
/** A tank of the plant. */
export type Tank = {
  readonly id: string;
  readonly level: number;
  readonly inlet: { readonly open: boolean };
  readonly outlet: { readonly open: boolean };
};

/** The worlds outside the cluster. */
export type Outside = {
  readonly tanks: () => readonly Tank[];
  readonly holding: (uid: string) => Laid;
  /** What is left of an item. */
  readonly stock: (item: string, unit: string) => number;
  /** The addresses that a pod's node was told. */
  readonly added: (pod: string) => readonly string[];
};

/** What was seen. */
export type Snapshot = {
  /** The objects of a kind. */
  readonly of: (plural: Plural) => readonly Seen[];
  readonly outside: Outside;
};

const places = {
  watertanks: 'plant.example.com/v1',
  ingredients: 'kitchen.example.com/v1',
  dinners: 'kitchen.example.com/v1',
  books: 'library.example.com/v1',
  foos: 'samples.example.com/v1',
  memcachedproxies: 'cache.example.com/v1',
  bitcoinnetworks: 'bitcoin.example.com/v1',
  deployments: 'apps/v1',
  statefulsets: 'apps/v1',
  configmaps: 'v1',
  services: 'v1',
  pods: 'v1',
  endpointslices: 'discovery.k8s.io/v1',
} as const;
export type Plural = keyof typeof places;

/** Lists everything. Throws when something cannot be listed. */
export async function takeSnapshot(api: PlainApi, outside: Outside): Promise<Snapshot> {
  const lists = await Promise.all(
    Object.entries(places).map(async ([plural, apiVersion]) => {
      return [plural, await listSeen(api, collectionOf(apiVersion, plural))] as const;
    }),
  );
  const found = new Map<string, readonly Seen[]>(lists);
  return { of: (plural) => found.get(plural) ?? [], outside };
}
