// What is asked of MemcachedProxy as long as nothing is broken: its objects (M1 to M5), what a change behind the Services does
// (M6 to M8), rules (M10, M11), what it leaves alone, and its own changes (M17). Broken worlds are
// memcached-proxy-damage-cases.ts, its schema bad-input-cases.ts.
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  configMapKind as configMaps,
  deploymentKind as deployments,
  replicaSetKind as replicaSets,
  serviceKind as services,
} from '../../src/controllers/memcached-proxy/children.ts';
import { memcachedProxyKind as proxies } from '../../src/controllers/memcached-proxy/kind.ts';
import type { Connection } from '../../src/kube/connection.ts';
import { install, type System, startSystem } from './harness.ts';
import { createMemcached } from './memcached.ts';
import { conditionOf } from './user.ts';

const three = ['10.0.2.17', '10.0.2.18', '10.0.2.19'];
const name = 'sharded-example';
const service = 'sharded-example-memcached-043e0';

/** Declares the statements. */
export function memcachedProxyCases(connect: () => Connection): void {
  let system: System;
  let memcached: ReturnType<typeof createMemcached>;
  beforeAll(() => install(connect()));
  beforeEach(async () => {
    system = await startSystem(connect());
    memcached = createMemcached(system);
  });
  afterEach(async ({ task }) => await system.end({ failed: task.result?.state === 'fail' }));

  const proxy = async (of = name) => await system.read(proxies, of);
  const writes = () => system.requests.filter((request) => !request.startsWith('GET'));
  const servers = async (of = name) => {
    const config = JSON.stringify(await memcached.config(of));
    return [...config.matchAll(/"([0-9.]+):11211"/g)].map(([, address]) => address);
  };
  async function started(addresses = three): Promise<void> {
    await memcached.service('sharded-memcached');
    await memcached.endpoints('sharded-memcached', addresses);
    await memcached.proxy(name);
    await system.reconcile(proxies, name);
  }
  async function becomes(addresses: readonly string[]): Promise<void> {
    await memcached.endpoints('sharded-memcached', addresses);
    await system.reconcile(proxies, name);
  }

  describe('MemcachedProxy: objects', () => {
    it('M1: a ConfigMap, a Deployment that mounts it and a Service are made, each owned, with one Event each', async () => {
      await started();
      const { metadata } = await proxy();
      const mounted = await memcached.mounted(name);
      const deployment = await memcached.deployment(name);
      const front = services.read(await system.read(services, service));
      for (const one of [await system.read(configMaps, mounted), deployment, front]) {
        expect(one.metadata).toMatchObject({
          ownerReferences: [
            {
              apiVersion: 'cache.example.com/v1',
              kind: 'MemcachedProxy',
              name,
              uid: metadata.uid,
              controller: true,
              blockOwnerDeletion: true,
            },
          ],
        });
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
            securityContext: { runAsNonRoot: true, readOnlyRootFilesystem: true },
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
      expect(front.spec).toMatchObject({
        type: 'ClusterIP',
        selector,
        ports: [{ name: 'mcrouter', protocol: 'TCP', port: 11_211, targetPort: 11_211 }],
      });
      expect(await system.read(configMaps, mounted)).toMatchObject({ immutable: true });
      expect(await memcached.events()).toEqual(
        [`ConfigMap "${mounted}"`, `Deployment "${name}-mcrouter"`, `Service "${service}"`].map(
          (what) => `SuccessfulCreate x1: create ${what} for MemcachedProxy "${name}" successful`,
        ),
      );
      expect((await proxy()).status).toMatchObject({
        configMapName: mounted,
        deploymentName: `${name}-mcrouter`,
        serviceName: service,
        pools: [{ service: 'sharded-memcached', port: '11211', servers: 3 }],
      });
    });

    it('M2, M3: the configuration has the ready addresses, sorted, once each, from however many slices', async () => {
      await memcached.endpoints('sharded-memcached', ['10.0.2.19', '10.0.2.9'], { slice: 'b' });
      await memcached.endpoints('sharded-memcached', ['10.0.2.17', '10.0.2.19'], { slice: 'a' });
      await memcached.endpoints('other', ['10.0.9.9']);
      await memcached.service('sharded-memcached');
      await memcached.proxy(name);
      await system.reconcile(proxies, name);
      const { pools, route } = JSON.parse(JSON.stringify(await memcached.config(name)));
      const [pool = ''] = Object.keys(pools);
      expect(pools).toEqual({ [pool]: { servers: ['10.0.2.9:11211', '10.0.2.17:11211', '10.0.2.19:11211'] } });
      expect(route).toBe(`PoolRoute|${pool}`);
    });

    it('M4: who is not ready is not in it', async () => {
      await started(three.slice(0, 1));
      await memcached.endpoints('sharded-memcached', ['10.0.2.18'], { slice: 'x', conditions: { ready: false } });
      const draining = { ready: false, serving: true, terminating: true };
      await memcached.endpoints('sharded-memcached', ['10.0.2.19'], { slice: 'y', conditions: draining });
      await memcached.endpoints('sharded-memcached', ['10.0.2.20'], { slice: 'z', conditions: {} });
      await system.reconcile(proxies, name);
      expect(await servers()).toEqual(['10.0.2.17', '10.0.2.20']);
    });

    it('M5: a second reconcile writes nothing, says nothing, and reads each owned and each named kind once', async () => {
      await started();
      await memcached.rollOut(name);
      await system.reconcile(proxies, name);
      expect(conditionOf(await proxy(), 'Ready')?.status).toBe('True');
      const events = await memcached.events();
      system.requests.length = 0;
      await system.reconcile(proxies, name);
      expect(writes()).toEqual([]);
      // Itself, the Service that it names and its slices, then three kinds of children, and the ReplicaSets between them.
      const read = system.requests.map((request) => request.slice(request.lastIndexOf(system.namespace)).split('/')[1]);
      const kinds = ['services', 'endpointslices', 'configmaps', 'deployments', 'replicasets', 'services'];
      expect(read).toEqual(['memcachedproxies', ...kinds]);
      expect(await memcached.events()).toEqual(events);
    });

    it('M24: the observed generation follows the spec, and our own writes do not raise it', async () => {
      await started();
      await memcached.proxy(name, undefined, { mcrouter: { port: 11_300 } });
      await system.reconcile(proxies, name);
      await system.reconcile(proxies, name);
      expect((await proxy()).metadata.generation).toBe(2);
      expect((await proxy()).status).toMatchObject({ observedGeneration: 2 });
    });

    it('M25: labels and annotations of the proxy change no child', async () => {
      await started();
      await system.patch(proxies, name, { metadata: { labels: { a: 'b' }, annotations: { c: 'd' } } });
      system.requests.length = 0;
      await system.reconcile(proxies, name);
      expect(writes()).toEqual([]);
    });

    it('M30: each kind is written by this controller alone', async () => {
      await started();
      await becomes(three.slice(1));
      const children = [...(await system.list(configMaps)), await memcached.deployment(name)];
      for (const { metadata } of [...children, await system.read(services, service)]) {
        const managers = 'managedFields' in metadata ? metadata.managedFields : [];
        expect(managers).toMatchObject([{ manager: 'outrigger-memcached-proxy', operation: 'Apply' }]);
      }
    });
  });

  describe('MemcachedProxy: what changes behind it', () => {
    it('M6: an endpoint less is a new ConfigMap, mounted; nothing else of the pods differs, the Service is untouched', async () => {
      await started();
      const [before, front] = [await memcached.deployment(name), await system.read(services, service)];
      const first = await memcached.mounted(name);
      const { data } = configMaps.read(await system.read(configMaps, first));
      await becomes(three.slice(0, 2));
      const second = await memcached.mounted(name);
      expect(second).not.toBe(first);
      expect(await servers()).toEqual(three.slice(0, 2));
      expect(configMaps.read(await system.read(configMaps, first)).data).toEqual(data);
      expect(await system.read(services, service)).toEqual(front);
      const after = JSON.stringify((await memcached.deployment(name)).spec);
      expect(after.replace(second, first)).toBe(JSON.stringify(before.spec));
      expect(await memcached.events('SuccessfulUpdate')).toHaveLength(1);
    });

    it('M7: the same endpoints again are the first ConfigMap again', async () => {
      await started();
      const first = await memcached.mounted(name);
      await becomes(three.slice(0, 2));
      await becomes(three);
      expect(await memcached.mounted(name)).toBe(first);
      expect(await memcached.configMaps(name)).toHaveLength(2);
    });

    it('M7: a name that other content has is left alone, with a Warning and a longer name instead', async () => {
      await started();
      const first = await memcached.mounted(name);
      // What a collision of 20 bits would be: our ConfigMap of that name, with another configuration.
      const { metadata } = await system.read(configMaps, first);
      await system.delete(configMaps, first);
      const { labels, annotations, ownerReferences } = metadata;
      const other = { data: { 'config.json': '{}' }, immutable: true };
      await memcached.put(configMaps, first, other, { labels, annotations, ownerReferences });
      await system.reconcile(proxies, name);
      const longer = await memcached.mounted(name);
      expect(longer).toMatch(new RegExp(`^${first}[0-9a-f]{5}$`));
      expect(await servers()).toEqual(three);
      expect(await memcached.events('NameCollision')).toHaveLength(1);
      await system.reconcile(proxies, name);
      expect(await memcached.events('NameCollision')).toEqual([expect.stringContaining('x1:')]);
    });

    it('M7a: flapping ends at the last state, with one ConfigMap for each of the states', async () => {
      await started();
      for (const state of [three.slice(1), three, three.slice(1), three, three.slice(1)]) await becomes(state);
      expect(await servers()).toEqual(three.slice(1));
      expect(await memcached.configMaps(name)).toHaveLength(2);
    });

    it('M8: a ConfigMap stays while a ReplicaSet names it, and goes with the last one', async () => {
      await started();
      const first = await memcached.mounted(name);
      const old = await memcached.rollOut(name);
      await becomes(three.slice(1));
      const second = await memcached.mounted(name);
      await memcached.rollOut(name);
      await becomes(three.slice(2));
      await memcached.rollOut(name);
      await system.reconcile(proxies, name);
      expect(await memcached.configMaps(name)).toHaveLength(3);
      await system.delete(replicaSets, old);
      await system.reconcile(proxies, name);
      expect((await memcached.configMaps(name)).toSorted()).toEqual([second, await memcached.mounted(name)].toSorted());
      expect(await system.get(configMaps, first)).toBeUndefined();
      expect(await memcached.events('SuccessfulDelete')).toHaveLength(1);
    });

    it('M8: nothing is pruned before the Deployment has been seen by its controller: a ReplicaSet may still come', async () => {
      await started();
      const first = await memcached.mounted(name);
      await becomes(three.slice(1));
      await becomes(three.slice(2));
      expect(await system.get(configMaps, first)).toBeDefined();
      await memcached.rollOut(name);
      await system.reconcile(proxies, name);
      expect(await memcached.configMaps(name)).toEqual([await memcached.mounted(name)]);
    });

    it('M17: port, image, resources, stats root and security context reach the pods, the port the Service too', async () => {
      await started();
      const resources = { requests: { cpu: 1, memory: '64Mi' } };
      const mcrouter = { port: 11_300, image: 'example.com/m:1', statsRoot: '/stats', resources };
      await memcached.proxy(name, undefined, { mcrouter: { ...mcrouter, securityContext: { runAsUser: 7 } } });
      await system.reconcile(proxies, name);
      const [container] = (await memcached.deployment(name)).spec?.template.spec?.containers ?? [];
      expect(container).toMatchObject({
        image: 'example.com/m:1',
        args: ['-p', '11300', expect.anything(), expect.anything(), '--stats-root=/stats'],
        securityContext: { runAsUser: 7 },
        resources: { requests: { cpu: '1', memory: '64Mi' } },
      });
      expect(container?.ports).toEqual([{ name: 'mcrouter', containerPort: 11_300, protocol: 'TCP' }]);
      expect(container?.volumeMounts?.map(({ mountPath }) => mountPath)).toEqual(['/etc/mcrouter', '/stats']);
      const { ports } = services.read(await system.read(services, service)).spec ?? {};
      expect(ports).toEqual([{ name: 'mcrouter', protocol: 'TCP', port: 11_300, targetPort: 11_300 }]);
      system.requests.length = 0;
      await system.reconcile(proxies, name);
      expect(writes()).toEqual([]);
    });

    it('M19: whoever scales the Deployment is left alone', async () => {
      await started();
      await system.patch(deployments, `${name}-mcrouter`, { spec: { replicas: 3 } });
      await becomes(three.slice(1));
      expect((await memcached.deployment(name)).spec?.replicas).toBe(3);
    });
  });
}
