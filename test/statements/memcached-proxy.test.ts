// The life of a MemcachedProxy: what it creates (M1, M5), what it lacks (M13, M14), what changes (M6, M7a, M17, M19), its deletion (M22),
// and much to read (M29, M29a). Where the servers come from, configurations and roll-outs are test/controllers/memcached-proxy, drift is
// drift.test.ts, wake-ups memcached-proxy-wake.test.ts, and what holds for every controller every-controller.test.ts and
// generation.test.ts.

import { describe, expect, it } from 'vitest';
import { MemcachedProxy as proxies } from '../../src/controllers/memcached-proxy/kind.ts';
import { ConfigMap, Deployment, ReplicaSet, Service } from '../../src/kubernetes.ts';
import { useApiServer } from '../harness/api-server.ts';
import { useSystem } from './harness.ts';
import { createMemcached, mcrouter as deploymentName, name, service, three } from './memcached.ts';
import { conditionOf } from './user.ts';

const { connect } = await useApiServer();
const system = useSystem(connect);
const memcached = createMemcached(system);
const reconcile = async () => await system.reconcile(proxies, name);
const proxy = async () => proxies.read(await system.read(proxies, name));
const condition = async (type: string) => conditionOf(await system.read(proxies, name), type);
const reads = () => system.requests.filter((request) => request.startsWith('GET'));
const front = async () => Service.read(await system.read(Service, service));
/** The servers that mcrouter would have now. */
const servers = async () =>
  [...JSON.stringify(await memcached.config(name)).matchAll(/"([0-9.]+):11211"/g)].map(([, address]) => address);
/** Its ConfigMaps and Deployments by name. */
const children = async () => [
  ...(await memcached.configMaps(name)),
  ...(await system.list(Deployment)).map(({ metadata }) => metadata.name),
];
/** Makes the Service, its endpoints and the proxy, and reconciles it. */
async function started(): Promise<void> {
  await memcached.service('sharded-memcached');
  await memcached.endpoints('sharded-memcached', three);
  await memcached.proxy(name);
  await reconcile();
}
/** Changes the endpoints, and reconciles the proxy. */
async function becomes(addresses: readonly string[]): Promise<void> {
  await memcached.endpoints('sharded-memcached', addresses);
  await reconcile();
}

describe('MemcachedProxy', () => {
  it('M1: a ConfigMap, a Deployment that mounts it and a Service are made, each owned, with one Event each', async () => {
    await started();
    const { metadata } = await proxy();
    const mounted = await memcached.mounted(name);
    const deployment = await memcached.deployment(name);
    const { apiVersion, kind } = proxies;
    const owner = { apiVersion, kind, name, uid: metadata.uid, controller: true, blockOwnerDeletion: true };
    for (const one of [await system.read(ConfigMap, mounted), deployment, await front()]) {
      expect(one.metadata).toMatchObject({ ownerReferences: [owner] });
    }
    const selector = deployment.spec?.selector.matchLabels ?? {};
    expect(selector).toEqual({
      'memcached-operator': 'true',
      mcrouter: expect.stringMatching(/^sharded-example-\w{5}$/),
    });
    expect(deployment.spec?.template.metadata?.labels).toMatchObject(selector);
    expect(deployment.spec?.replicas).toBe(1);
    expect(deployment.spec?.template.spec).toMatchObject({
      containers: [
        {
          name: 'mcrouter',
          image: 'ianmlewis/mcrouter:v0.36.0-2',
          command: ['mcrouter'],
          args: [
            ...['-p', '11211', '--config-file=/etc/mcrouter/config.json', '--asynclog-disable'],
            '--stats-root=/var/mcrouter/stats',
          ],
          ports: [{ name: 'mcrouter', containerPort: 11_211 }],
          securityContext: {
            runAsNonRoot: true,
            readOnlyRootFilesystem: true,
            allowPrivilegeEscalation: false,
            capabilities: { drop: ['ALL'] },
          },
          volumeMounts: [
            { name: 'config', mountPath: '/etc/mcrouter' },
            { name: 'stats', mountPath: '/var/mcrouter/stats' },
          ],
        },
      ],
      volumes: [
        { name: 'config', configMap: { name: mounted } },
        { name: 'stats', emptyDir: {} },
      ],
    });
    expect((await front()).spec).toMatchObject({
      type: 'ClusterIP',
      selector,
      ports: [{ name: 'mcrouter', protocol: 'TCP', port: 11_211, targetPort: 11_211 }],
    });
    expect(await system.read(ConfigMap, mounted)).toMatchObject({ immutable: true });
    expect(await system.events()).toEqual(
      [`ConfigMap "${mounted}"`, `Deployment "${deploymentName}"`, `Service "${service}"`].map(
        (what) => `1 x Normal SuccessfulCreate: create ${what} for MemcachedProxy "${name}" successful`,
      ),
    );
    expect((await proxy()).status).toMatchObject({
      configMapName: mounted,
      deploymentName: deploymentName,
      serviceName: service,
      pools: [{ service: 'sharded-memcached', port: '11211', servers: 3 }],
    });
  });

  it('M5: a second reconcile writes nothing, says nothing, and reads each owned and each named kind once', async () => {
    await started();
    // Its Deployment has no Pods yet.
    expect(await condition('Ready')).not.toMatchObject({ status: 'True' });
    await memcached.rollOut(name);
    await reconcile();
    expect(await condition('Ready')).toMatchObject({ status: 'True' });
    const events = await system.events();
    system.requests.length = 0;
    await reconcile();
    expect(system.writes()).toEqual([]);
    // Itself, the Service that it names and its slices, then three kinds of children, and the ReplicaSets between them.
    const read = system.requests.map((request) => request.slice(request.lastIndexOf(system.namespace)).split('/')[1]);
    const kinds = ['services', 'endpointslices', 'configmaps', 'deployments', 'replicasets', 'services'];
    expect(read).toEqual(['memcachedproxies', ...kinds]);
    expect(await system.events()).toEqual(events);
  });

  it('M13: without the Service nothing is made, one Warning names it, and when it goes what runs stays as it is', async () => {
    await memcached.proxy(name);
    await reconcile();
    await reconcile();
    expect(await children()).toEqual([]);
    expect(await condition('ResolvedRefs')).toMatchObject({ status: 'False', reason: 'ServiceNotFound' });
    expect(await condition('Ready')).toMatchObject({ status: 'False', reason: 'ServiceNotFound' });
    const where = `${system.namespace}/sharded-memcached`;
    expect(await system.events()).toEqual([
      expect.stringMatching(new RegExp(`^1 x Warning ServiceNotFound: .*${where}`)),
    ]);

    await started();
    const before = await memcached.deployment(name);
    await system.delete(Service, 'sharded-memcached');
    system.requests.length = 0;
    await reconcile();
    expect(await memcached.deployment(name)).toEqual(before);
    expect(system.writes().filter((request) => !request.includes('/status') && !request.includes('/events'))).toEqual(
      [],
    );
    expect((await proxy()).status).toMatchObject({ serviceName: service });
  });

  it('M14: the last servers are kept if none is ready later, and the reason is NoEndpoints', async () => {
    await started();
    const before = await memcached.mounted(name);
    await becomes([]);
    expect(await memcached.mounted(name)).toBe(before);
    expect(await condition('ConfigReady')).toMatchObject({ status: 'False', reason: 'NoEndpoints' });
    expect((await proxy()).status).toMatchObject({ pools: [{ servers: 3 }] });
    await becomes(three.slice(1));
    expect(await memcached.mounted(name)).not.toBe(before);
    expect(await condition('ConfigReady')).toMatchObject({ status: 'True' });
  });

  it('M6, M19: an endpoint less is a new ConfigMap, mounted; nothing else of the pods differs, the Service and a user’s scale are untouched', async () => {
    await started();
    await system.patch(Deployment, deploymentName, { spec: { replicas: 3 } });
    const [before, frontBefore] = [await memcached.deployment(name), await front()];
    const first = await memcached.mounted(name);
    const { data } = ConfigMap.read(await system.read(ConfigMap, first));
    await becomes(three.slice(0, 2));
    const second = await memcached.mounted(name);
    expect(second).not.toBe(first);
    expect(await servers()).toEqual(three.slice(0, 2));
    expect(ConfigMap.read(await system.read(ConfigMap, first)).data).toEqual(data);
    expect(await front()).toEqual(frontBefore);
    const after = JSON.stringify((await memcached.deployment(name)).spec);
    expect(after.replace(second, first)).toBe(JSON.stringify(before.spec));
    expect((await memcached.deployment(name)).spec?.replicas).toBe(3);
    expect(await system.events('SuccessfulUpdate')).toHaveLength(1);
  });

  it('M7a: flapping ends at the last state, with one ConfigMap for each of the states', async () => {
    await started();
    for (const state of [three.slice(1), three, three.slice(1), three, three.slice(1)]) await becomes(state);
    expect(await servers()).toEqual(three.slice(1));
    expect(await memcached.configMaps(name)).toHaveLength(2);
  });

  it('M17: port, image, resources and stats root reach the pods, the port the Service too', async () => {
    await started();
    const resources = { requests: { cpu: 1, memory: '64Mi' } };
    const mcrouter = { port: 11_300, image: 'example.com/m:1', statsRoot: '/stats', resources };
    await memcached.proxy(name, undefined, { mcrouter });
    await reconcile();
    const [container] = (await memcached.deployment(name)).spec?.template.spec?.containers ?? [];
    expect(container).toMatchObject({
      image: 'example.com/m:1',
      args: ['-p', '11300', expect.anything(), expect.anything(), '--stats-root=/stats'],
      resources: { requests: { cpu: '1', memory: '64Mi' } },
    });
    expect(container?.ports).toEqual([{ name: 'mcrouter', containerPort: 11_300, protocol: 'TCP' }]);
    expect(container?.volumeMounts?.map(({ mountPath }) => mountPath)).toEqual(['/etc/mcrouter', '/stats']);
    const { ports } = (await front()).spec ?? {};
    expect(ports).toEqual([{ name: 'mcrouter', protocol: 'TCP', port: 11_300, targetPort: 11_300 }]);
    system.requests.length = 0;
    await reconcile();
    expect(system.writes()).toEqual([]);
  });

  it('M22: all its children and their ReplicaSets go with it', async () => {
    await started();
    await memcached.rollOut(name);
    await system.delete(proxies, name);
    await expect.poll(children).toEqual([]);
    await expect.poll(async () => await system.list(ReplicaSet)).toEqual([]);
    expect(await system.get(Service, service)).toBeUndefined();
  });

  it('M29: 500 endpoints in six slices are one ConfigMap below 1 MiB, by as many reads as one would be', async () => {
    await memcached.service('sharded-memcached');
    const all = Array.from({ length: 500 }, (_, index) => `10.1.${Math.floor(index / 250)}.${(index % 250) + 1}`);
    for (const index of [0, 1, 2, 3, 4, 5]) {
      const part = all.slice(index * 84, (index + 1) * 84);
      await memcached.endpoints('sharded-memcached', part, { slice: `slice-${index}` });
    }
    await memcached.proxy(name);
    system.requests.length = 0;
    await reconcile();
    expect(reads().length).toBeLessThanOrEqual(11);
    const config = JSON.stringify(await memcached.config(name));
    expect(config.match(/:11211"/g)).toHaveLength(500);
    expect(config.length).toBeLessThan(2 ** 20);
    expect(await memcached.configMaps(name)).toHaveLength(1);
  });

  it('M29a: rules that name 256 Services are one list of Services and one of slices', async () => {
    const names = Array.from({ length: 256 }, (_, index) => `pool-${index}`);
    for (const [index, pool] of names.entries()) {
      await memcached.service(pool);
      if (index !== 3) await memcached.endpoints(pool, [`10.1.${Math.floor(index / 128)}.${(index % 128) + 1}`]);
    }
    const leaf = (pool: string) => ({ service: { name: pool, port: 11_211 } });
    const children = Array.from({ length: 16 }, (_, group) => ({
      children: names.slice(group * 16, (group + 1) * 16).map(leaf),
    }));
    await memcached.proxy(name, { children });
    system.requests.length = 0;
    await reconcile();
    expect(reads().length).toBeLessThanOrEqual(12);
    expect(JSON.stringify(await memcached.config(name)).match(/:11211"/g)).toHaveLength(255);
    const { status } = await proxy();
    expect(status?.pools).toHaveLength(256);
    expect(status?.pools.filter(({ servers }) => servers === 0)).toMatchObject([{ service: 'pool-3' }]);
  });
});
