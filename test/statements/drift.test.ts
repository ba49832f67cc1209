// A child that another client changes or deletes (C3, F3, F5, B16 to B18, M16, M18, M18a, M18b, M21): the event of the child wakes its
// owner, and the owner's controller restores it. No test enqueues a key: only the watcher does.
import { it } from 'vitest';
import type { Kind } from '../../src/api/kind.ts';
import { Foo } from '../../src/controllers/foo.ts';
import { isRecord } from '../../src/core/json.ts';
import type { KubeObject } from '../../src/kube/client/object.ts';
import { ConfigMap, Deployment, Service, StatefulSet } from '../../src/kubernetes.ts';
import { useApiServer } from '../harness/api-server.ts';
import { createBitcoin, name as network, service as networkService, set } from './bitcoin.ts';
import { createMemcached, mcrouter, name as proxy, service as proxyService, three } from './memcached.ts';
import { useWatchedSystem } from './watch.ts';

const { connect } = await useApiServer({ controllers: 'none' });
const { seen, system, until } = useWatchedSystem(connect);
const bitcoin = createBitcoin(system);
const memcached = createMemcached(system);

/** The owners, each with all that it needs to create its children. */
const owners = {
  foo: async () => await system.apply(Foo, 'a', { deploymentName: 'example-foo', replicas: 2 }),
  network: async () => await bitcoin.network(network),
  proxy: async () => {
    await memcached.service('sharded-memcached');
    await memcached.endpoints('sharded-memcached', three);
    await memcached.proxy(proxy);
  },
};
const stranger = { metadata: { labels: { 'bitcoin.example.com/network': 'other' } } };
const foreignPort = { name: 'second', port: 9999, targetPort: 9999 };
const otherImage = (more: object = {}) => ({ spec: { containers: [{ name: `${set}-ctr`, image: 'other', ...more }] } });
const otherProbe = { readinessProbe: { exec: { command: ['true'] }, periodSeconds: 60 } };

type Row = {
  readonly id: string;
  readonly owner: keyof typeof owners;
  readonly kind: Kind;
  readonly child: string;
  /** The patch that the owner's controller must undo. */
  readonly patch: object;
  /** The Event that it records. */
  readonly event?: string;
};
const foo = { owner: 'foo', kind: Deployment, child: 'example-foo' } as const;
const ofNetwork = { owner: 'network', kind: StatefulSet, child: set } as const;
const changes: readonly Row[] = [
  { id: 'F3', ...foo, patch: { spec: { replicas: 5 } } },
  {
    id: 'B16',
    ...ofNetwork,
    patch: { spec: { replicas: 5 } },
    event: '1 x Normal Scaled: Adjusting number of replicas to 3',
  },
  { id: 'B16', ...ofNetwork, patch: { spec: { template: { ...stranger, ...otherImage() } } } },
  { id: 'B16', ...ofNetwork, patch: { spec: { template: otherImage(otherProbe) } } },
  {
    id: 'B16',
    owner: 'network',
    kind: Service,
    child: networkService,
    patch: { spec: { selector: { app: 'other' } } },
  },
  ...[[{ ...foreignPort, name: 'mcrouter' }], [foreignPort, { name: 'mcrouter', port: 11_211 }]].map((ports) => ({
    ...({ id: 'M16', owner: 'proxy', kind: Service, child: proxyService } as const),
    patch: { spec: { selector: { app: 'other', mcrouter: null }, ports } },
  })),
];
const deletions = [
  { id: 'C3, F5', ...foo },
  { id: 'B17', ...ofNetwork },
  { id: 'B18', owner: 'network', kind: Service, child: networkService },
  { id: 'M18', owner: 'proxy', kind: Deployment, child: mcrouter },
  { id: 'M18a', owner: 'proxy', kind: ConfigMap, child: undefined },
  { id: 'M18b', owner: 'proxy', kind: Service, child: proxyService },
] as const;

/** Creates the owner, and waits for the child. Without a name, the child is the ConfigMap that the proxy mounts. */
async function childOf(owner: keyof typeof owners, kind: Kind, child: string | undefined): Promise<KubeObject> {
  await owners[owner]();
  await until(async () => (await system.get(kind, child ?? (await mountedConfig()))) !== undefined);
  const name = child ?? (await mountedConfig());
  await seen(kind, name);
  return await system.read(kind, name);
}
const mountedConfig = async () =>
  (await system.get(Deployment, mcrouter)) === undefined ? 'no-proxy-yet' : await memcached.mounted(proxy);
/** The order of fields has no meaning: a field that is restored may come after the others. */
const inOrder = (_: string, value: unknown): unknown =>
  isRecord(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value;
/** The declared content of an object, as text: for a Service, its address too. */
const contentOf = (object: KubeObject) =>
  JSON.stringify([object.spec, 'data' in object ? object.data : undefined], inOrder);

it.each(
  changes,
)('$id: a $kind.kind that another client changed ($patch) is restored by that event alone', async (row) => {
  const { child, event, kind, owner, patch } = row;
  const before = await childOf(owner, kind, child);
  const changed = await system.patch(kind, child, patch);
  if (contentOf(changed) === contentOf(before)) throw new Error('the patch changed nothing');
  await until(async () => contentOf(await system.read(kind, child)) === contentOf(before));
  if (event !== undefined) await until(async () => (await system.events('Scaled')).includes(event));
});

it.each(
  deletions,
)('$id: a $kind.kind that another client deleted is created again by that event alone', async (row) => {
  const { child, kind, owner } = row;
  const before = await childOf(owner, kind, child);
  const { name, uid } = before.metadata;
  const mounted = owner === 'proxy' ? await memcached.mounted(proxy) : '';
  await system.delete(kind, name);
  await until(async () => ((await system.get(kind, name))?.metadata.uid ?? uid) !== uid);
  if (kind !== Service && contentOf(await system.read(kind, name)) !== contentOf(before)) {
    throw new Error(`${name} was created with other content`);
  }
  if (owner === 'proxy' && (await memcached.mounted(proxy)) !== mounted)
    throw new Error('another ConfigMap is mounted');
});

it('M21: a second Deployment that a proxy controls is deleted by its event alone, with an Event', async () => {
  const { metadata, spec } = await childOf('proxy', Deployment, mcrouter);
  const { labels, annotations, ownerReferences } = metadata;
  const second = `${mcrouter}-x7k2p`;
  await system.put(Deployment, second, { spec }, { labels, annotations, ownerReferences });
  await until(async () => (await system.get(Deployment, second)) === undefined);
  await until(async () => (await system.events('SuccessfulDelete')).some((line) => line.includes(second)));
  await system.read(Deployment, mcrouter);
});
