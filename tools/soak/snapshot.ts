// The state at one moment: the cluster by plain lists, and the simulators' state. The checks are in violations.ts.
import type { PlainApi } from '../chaos/plain-api.ts';
import { collectionOf, listObjects, type ObservedObject } from './objects.ts';

/** The portion that the pantry has for a holder. */
export type Holding = {
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

/** The simulators. */
export type SimulatorState = {
  readonly tanks: () => readonly Tank[];
  readonly holding: (uid: string) => Holding;
  /** The stock of an item. */
  readonly stock: (item: string, unit: string) => number;
  /** The addresses that were added to a pod's node. */
  readonly added: (pod: string) => readonly string[];
};

/** The observed state. */
export type Snapshot = {
  /** The objects of a kind. */
  readonly list: (plural: Plural) => readonly ObservedObject[];
  readonly simulators: SimulatorState;
};

const apiVersions = {
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
export type Plural = keyof typeof apiVersions;

/** Lists everything. Throws when a collection cannot be listed. */
export async function takeSnapshot(api: PlainApi, simulators: SimulatorState): Promise<Snapshot> {
  const lists = await Promise.all(
    Object.entries(apiVersions).map(async ([plural, apiVersion]) => {
      return [plural, await listObjects(api, collectionOf(apiVersion, plural))] as const;
    }),
  );
  const found = new Map<string, readonly ObservedObject[]>(lists);
  return { list: (plural) => found.get(plural) ?? [], simulators };
}
