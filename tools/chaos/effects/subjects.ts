// The subject of each controller: an object that makes it act, a change that makes it act again, and the external state
// that must be equal in every run. They are the samples of the repository, reduced where that saves time.

import type { Simulators } from '@outrigger/cli/simulators/registry';
import * as z from 'zod';

/** An object as plain JSON, and the collection in its namespace. */
export type Plain = { readonly collection: string; readonly body: PlainBody };
type PlainBody = { readonly kind: string; readonly metadata: { readonly name: string } } & Readonly<
  Record<string, unknown>
>;

/** The last known state of the object; without a spec when it does not exist. */
export type LastSeen = { readonly namespace: string; readonly uid: string; readonly spec?: unknown };

/** A controller and the object that it is tested with. */
export type Subject = {
  readonly controller: string;
  /** The function whose process is killed, if it is not the controller's. */
  readonly killed?: string;
  readonly object: Plain;
  /**
   * Objects that exist before and during all runs. A subject that depends on an address must not differ because the
   * address does.
   */
  readonly prerequisites: readonly Plain[];
  /** Merged into the object. */
  readonly change: object;
  /** The state of external systems; equal in every run after the same step. */
  externalState?(simulators: Simulators, seen: LastSeen): unknown;
  /** The number of external effects so far; every run adds the same number. */
  countEffects?(simulators: Simulators): number;
};

const tank = plain('/apis/plant.example.com/v1', 'watertanks', 'WaterTank', 'tank', {
  spec: { targetLevel: 30, capacity: 200, tolerance: 20 },
});
const higherTarget = { spec: { targetLevel: 60 } };
const salt = plain('/apis/kitchen.example.com/v1', 'ingredients', 'Ingredient', 'salt', {
  spec: { item: 'salt', amount: 1, unit: 'tbsp' },
});
const rice = { name: 'rice', item: 'rice', amount: 300, unit: 'g' };
const saffron = { name: 'saffron', item: 'saffron', amount: 1, unit: 'tsp' };
const risotto = plain('/apis/kitchen.example.com/v1', 'dinners', 'Dinner', 'risotto', {
  spec: { ingredients: [rice, saffron] },
});
const foo = plain('/apis/samples.example.com/v1', 'foos', 'Foo', 'example', {
  spec: { deploymentName: 'example-foo', replicas: 1 },
});
const memcached = 'sharded-memcached';
const proxy = plain('/apis/cache.example.com/v1', 'memcachedproxies', 'MemcachedProxy', 'example', {
  spec: { rules: { type: 'sharded', service: { name: memcached, port: 11211 } } },
});
const network = plain('/apis/bitcoin.example.com/v1', 'bitcoinnetworks', 'BitcoinNetwork', 'network', {
  spec: { nodes: 2, secret: 'bitcoin-credentials' },
});
const credentials = plain('/api/v1', 'secrets', 'Secret', 'bitcoin-credentials', {
  stringData: { BC_RPC_USER: 'user', BC_RPC_PASSWORD: 'password' },
});
const labels = { app: memcached };
const memcachedService = plain('/api/v1', 'services', 'Service', memcached, {
  spec: { selector: labels, ports: [{ port: 11211, targetPort: 'memcached' }] },
});
const memcachedDeployment = plain('/apis/apps/v1', 'deployments', 'Deployment', memcached, {
  spec: {
    replicas: 2,
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: {
        containers: [
          { name: 'memcached', image: 'memcached:1.6', ports: [{ name: 'memcached', containerPort: 11211 }] },
        ],
      },
    },
  },
});

/** Moves of goods: an idempotent command that is sent twice moves goods once. */
const movesOfGoods: Subject['countEffects'] = ({ pantry }) => pantry.calls().moves;
const valveState: Subject['externalState'] = ({ plant }, { uid }) => {
  const { inlet, outlet } = plant.tank(uid);
  return { inlet, outlet };
};
/** The number of added nodes of each node. */
const addedNodeCounts: Subject['externalState'] = ({ bitcoin }, { namespace, spec }) => {
  const { nodes } = z.looseObject({ nodes: z.number().default(0) }).parse(spec ?? {});
  const names = Array.from({ length: nodes }, (_, index) => `network-sts-${index}`);
  return names.map((name) => bitcoin.added({ namespace, name }).length);
};

/** Every controller. Subjects in one group share functions or simulators and run one after the other. */
export const subjects: readonly (readonly Subject[])[] = [
  [
    { controller: 'water-tank', object: tank, prerequisites: [], change: higherTarget, externalState: valveState },
    {
      controller: 'water-tank',
      killed: 'timers',
      object: tank,
      prerequisites: [],
      change: higherTarget,
      externalState: valveState,
    },
  ],
  [
    {
      controller: 'ingredient',
      object: salt,
      prerequisites: [],
      change: { spec: { amount: 2 } },
      countEffects: movesOfGoods,
    },
    {
      controller: 'dinner',
      object: risotto,
      prerequisites: [],
      change: { spec: { ingredients: [{ ...rice, amount: 200 }] } },
      countEffects: movesOfGoods,
    },
  ],
  [{ controller: 'foo', object: foo, prerequisites: [], change: { spec: { replicas: 2 } } }],
  [
    {
      controller: 'memcached-proxy',
      object: proxy,
      prerequisites: [memcachedService, memcachedDeployment],
      change: { spec: { rules: { type: 'replicated' } } },
    },
  ],
  [
    {
      controller: 'bitcoin-network',
      object: network,
      prerequisites: [credentials],
      change: { spec: { nodes: 3 } },
      externalState: addedNodeCounts,
    },
    {
      controller: 'bitcoin-peers',
      object: network,
      prerequisites: [credentials],
      change: { spec: { nodes: 3 } },
      externalState: addedNodeCounts,
    },
  ],
];

function plain(base: string, plural: string, kind: string, name: string, rest: object): Plain {
  const apiVersion = base.replace(/^\/apis?\//, '');
  return { collection: `${base} ${plural}`, body: { apiVersion, kind, metadata: { name }, ...rest } };
}
