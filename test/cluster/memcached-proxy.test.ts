// MemcachedProxy among Kubernetes' own controllers (M4, M6 to M8, M22): real Deployments, ReplicaSets, EndpointSlices
// and garbage collection. Only a kubelet is missing, so the test says which pods are ready.
import { beforeEach, expect, it } from 'vitest';
import { MemcachedProxy as proxies } from '../../src/controllers/memcached-proxy/kind.ts';
import { applyObject } from '../../src/kube/apply/apply.ts';
import { ConfigMap, Node, Pod, ReplicaSet, Service } from '../../src/kubernetes.ts';
import { useApiServer } from '../harness/api-server.ts';
import { createMemcached } from '../statements/memcached.ts';
import { conditionOf } from '../statements/user.ts';
import { useWatchedSystem } from '../statements/watch.ts';

const name = 'sharded-example';
const front = 'sharded-example-memcached-043e0';
/** A pod whose node is not there is in no slice. */
const nodeName = 'memcached-proxy-node';
const three = ['10.0.2.9', '10.0.2.17', '10.0.2.18'];

const { connect } = await useApiServer();
const { system, until: untilDelivered, watch } = useWatchedSystem(connect);
const memcached = createMemcached(system);
beforeEach(async () => {
  watch();
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: nodeName } };
  await applyObject(system.client, Node, node, { fieldManager: 'statements' });
});

const setReady = async (pod: string, podIP: string, isReady = true) =>
  await system.patch(
    Pod,
    pod,
    {
      status: {
        phase: 'Running',
        podIP,
        podIPs: [{ ip: podIP }],
        conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }],
      },
    },
    'status',
  );
const podOf = (address: string) => `memcached-${address.replaceAll('.', '-')}`;
/** Runs memcached: pods that a Service selects. */
async function runMemcached(): Promise<void> {
  const ports = [{ port: 11_211, targetPort: 'cache' }];
  await system.apply(Service, 'sharded-memcached', { selector: { app: 'memcached' }, ports });
  for (const address of three) {
    const containers = [{ name: 'c', image: 'memcached', ports: [{ name: 'cache', containerPort: 11_211 }] }];
    await system.apply(Pod, podOf(address), { nodeName, containers }, { labels: { app: 'memcached' } });
    await setReady(podOf(address), address);
  }
}
/** Does what a kubelet does for the proxy's own pods. */
async function startPods(): Promise<void> {
  for (const one of await system.list(Pod)) {
    const { metadata, status } = Pod.read(one);
    const isReported = status?.conditions?.some(({ type }) => type === 'Ready') === true;
    if (!isReported) await setReady(metadata.name, '10.0.3.1').catch(() => undefined);
  }
}
/** Delivers, and runs new pods, from one forwarded key to the next, until the condition holds. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  await untilDelivered(async () => {
    await startPods();
    return await holds();
  });
}
const isReady = async () => conditionOf(await system.get(proxies, name), 'Ready')?.status === 'True';
/** The configuration has these servers, and what mounts it is available. */
async function serves(addresses: readonly string[]): Promise<boolean> {
  if (!(await isReady())) return false;
  const config = JSON.stringify(await memcached.config(name));
  return config.includes(`{"servers":${JSON.stringify(addresses.map((address) => `${address}:11211`))}}`);
}
const sets = async () => await system.list(ReplicaSet);

it('M4, M6, M6a, M7, M8, M22: a pod that is not ready, and then is, rolls out one ReplicaSet for each set of servers; a deleted ReplicaSet takes its ConfigMap along, the proxy everything', async () => {
  await runMemcached();
  await memcached.proxy(name);
  await until(() => serves(three));
  const [first, service] = [await memcached.mounted(name), await system.read(Service, front)];
  await setReady(podOf('10.0.2.18'), '10.0.2.18', false);
  await until(() => serves(three.slice(0, 2)));
  const second = await memcached.mounted(name);
  expect(second).not.toBe(first);
  expect(await system.get(ConfigMap, first)).toBeDefined();
  expect(await sets()).toHaveLength(2);
  await setReady(podOf('10.0.2.18'), '10.0.2.18');
  await until(() => serves(three));
  expect(await memcached.mounted(name)).toBe(first);
  expect(await sets()).toHaveLength(2);
  expect(await system.read(Service, front)).toEqual(service);

  const old = (await sets()).find((set) => JSON.stringify(set).includes(second));
  await system.delete(ReplicaSet, old?.metadata.name ?? '');
  await until(async () => (await system.get(ConfigMap, second)) === undefined);
  expect(await memcached.configMaps(name)).toEqual([first]);

  await system.delete(proxies, name);
  const left = async () => [
    ...(await memcached.configMaps(name)),
    ...[...(await sets()), ...(await system.list(Service)), ...(await system.list(Pod))]
      .map(({ metadata }) => metadata.name)
      .filter((one) => one.startsWith(name)),
  ];
  await expect.poll(left, { timeout: 30_000 }).toEqual([]);
});
