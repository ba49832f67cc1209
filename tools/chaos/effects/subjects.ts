// What each controller is made to do: an object that it brings about, a change that makes it act again, and what must be alike outside
// the cluster in every life. The samples of the repository, made smaller where that saves time.
import * as z from 'zod';
import type { SampleWorlds } from '../../../src/local/worlds/sample-worlds.ts';

/** An object as plain JSON, and the collection in its namespace that takes it. */
export type Plain = { readonly collection: string; readonly body: PlainBody };
type PlainBody = { readonly kind: string; readonly metadata: { readonly name: string } } & Readonly<
  Record<string, unknown>
>;

/** The object as it was last seen; without a spec when it is gone. */
export type Seen = { readonly namespace: string; readonly uid: string; readonly spec?: unknown };

/** Whose effects are counted, and over what. */
export type Subject = {
  readonly controller: string;
  /** Whose process dies, if not the controller's. */
  readonly dies?: string;
  readonly object: Plain;
  /** There before, and through all lives: what depends on an address must not differ because that does. */
  readonly beside: readonly Plain[];
  /** Merged into the object. */
  readonly change: object;
  /** What somebody outside the cluster sees, the same in every life at the same point of it. */
  outside?(worlds: SampleWorlds, seen: Seen): unknown;
  /** Effects outside so far; as many more in every life. */
  counted?(worlds: SampleWorlds): number;
};

const tank = plain('/apis/plant.example.com/v1', 'watertanks', 'WaterTank', 'tank', {
  spec: { targetLevel: 30, capacity: 200, tolerance: 20 },
});
const higher = { spec: { targetLevel: 60 } };
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

/** Goods that moved: an idempotent command that is given twice moves them once. */
const counted: Subject['counted'] = ({ pantry }) => pantry.calls().moves;
const valves: Subject['outside'] = ({ plant }, { uid }) => {
  const { inlet, outlet } = plant.tank(uid);
  return { inlet, outlet };
};
/** How many others each node that there is was told of. */
const added: Subject['outside'] = ({ bitcoin }, { namespace, spec }) => {
  const { nodes } = z.looseObject({ nodes: z.number().default(0) }).parse(spec ?? {});
  const names = Array.from({ length: nodes }, (_, index) => `network-sts-${index}`);
  return names.map((name) => bitcoin.added({ namespace, name }).length);
};

/** Every controller; those in one line share functions or worlds, and take turns. */
export const subjects: readonly (readonly Subject[])[] = [
  [
    { controller: 'water-tank', object: tank, beside: [], change: higher, outside: valves },
    { controller: 'water-tank', dies: 'timers', object: tank, beside: [], change: higher, outside: valves },
  ],
  [
    { controller: 'ingredient', object: salt, beside: [], change: { spec: { amount: 2 } }, counted },
    {
      controller: 'dinner',
      object: risotto,
      beside: [],
      change: { spec: { ingredients: [{ ...rice, amount: 200 }] } },
      counted,
    },
  ],
  [{ controller: 'foo', object: foo, beside: [], change: { spec: { replicas: 2 } } }],
  [
    {
      controller: 'memcached-proxy',
      object: proxy,
      beside: [memcachedService, memcachedDeployment],
      change: { spec: { rules: { type: 'replicated' } } },
    },
  ],
  [
    {
      controller: 'bitcoin-network',
      object: network,
      beside: [credentials],
      change: { spec: { nodes: 3 } },
      outside: added,
    },
    {
      controller: 'bitcoin-peers',
      object: network,
      beside: [credentials],
      change: { spec: { nodes: 3 } },
      outside: added,
    },
  ],
];

function plain(base: string, plural: string, kind: string, name: string, rest: object): Plain {
  const apiVersion = base.replace(/^\/apis?\//, '');
  return { collection: `${base} ${plural}`, body: { apiVersion, kind, metadata: { name }, ...rest } };
}
