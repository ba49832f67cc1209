// What is asked of MemcachedProxy when something is missing, empty, broken or somebody else's (M13 to M23), and when
// functions die, run twice or have much to read (M26, M28, M29). Who wakes whom is memcached-proxy-wake-cases.ts.
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
const mcrouter = `${name}-mcrouter`;

/** Declares the statements. */
export function memcachedProxyDamageCases(connect: () => Connection): void {
  let system: System;
  let memcached: ReturnType<typeof createMemcached>;
  beforeAll(() => install(connect()));
  beforeEach(async () => {
    system = await startSystem(connect());
    memcached = createMemcached(system);
  });
  afterEach(async ({ task }) => await system.end({ failed: task.result?.state === 'fail' }));

  const reconcile = async () => await system.reconcile(proxies, name);
  const condition = async (type: string, of = name) => conditionOf(await system.read(proxies, of), type);
  const writes = () => system.requests.filter((request) => !request.startsWith('GET'));
  const children = async () => [
    ...(await memcached.configMaps(name)),
    ...(await system.list(deployments)).map(({ metadata }) => metadata.name),
  ];
  async function started(addresses: readonly string[] = three): Promise<void> {
    await memcached.service('sharded-memcached');
    await memcached.endpoints('sharded-memcached', addresses);
    await memcached.proxy(name);
    await reconcile();
  }

  describe('MemcachedProxy: what is missing', () => {
    it('M13: without the Service nothing is made, and one Warning names it', async () => {
      await memcached.proxy(name);
      await reconcile();
      await reconcile();
      expect(await children()).toEqual([]);
      expect(await condition('ResolvedRefs')).toMatchObject({ status: 'False', reason: 'ServiceNotFound' });
      expect(await condition('Ready')).toMatchObject({ status: 'False', reason: 'ServiceNotFound' });
      const where = `${system.namespace}/sharded-memcached`;
      expect(await memcached.events()).toEqual([expect.stringMatching(new RegExp(`^ServiceNotFound x1: .*${where}`))]);
    });

    it('M13: a Service that goes leaves what runs as it is', async () => {
      await started();
      const before = await memcached.deployment(name);
      await system.delete(services, 'sharded-memcached');
      system.requests.length = 0;
      await reconcile();
      expect(await memcached.deployment(name)).toEqual(before);
      expect(writes().filter((request) => !request.includes('/status') && !request.includes('/events'))).toEqual([]);
      expect((await system.read(proxies, name)).status).toMatchObject({ serviceName: service });
    });

    it('M13a: a port that the Service does not have is PortNotFound, until it has it', async () => {
      await memcached.service('sharded-memcached', [{ port: 1 }]);
      await memcached.endpoints('sharded-memcached', three);
      await memcached.proxy(name);
      await reconcile();
      expect(await condition('ResolvedRefs')).toMatchObject({ status: 'False', reason: 'PortNotFound' });
      expect(await children()).toEqual([]);
      await memcached.service('sharded-memcached');
      await reconcile();
      expect(await condition('ResolvedRefs')).toMatchObject({ status: 'True' });
      expect(await children()).toHaveLength(2);
    });

    it('M14: the first roll-out without endpoints is an empty pool, said to be NoEndpoints', async () => {
      await started([]);
      expect(JSON.stringify(await memcached.config(name))).toContain('"servers":[]');
      expect(await condition('ConfigReady')).toMatchObject({ status: 'False', reason: 'NoEndpoints' });
      expect(await condition('Ready')).toMatchObject({ status: 'False', reason: 'NoEndpoints' });
    });

    it('M14: later, the last servers are kept when none is ready, and NoEndpoints says so', async () => {
      await started();
      const before = await memcached.mounted(name);
      await memcached.endpoints('sharded-memcached', []);
      await reconcile();
      expect(await memcached.mounted(name)).toBe(before);
      expect(await condition('ConfigReady')).toMatchObject({ status: 'False', reason: 'NoEndpoints' });
      expect((await system.read(proxies, name)).status).toMatchObject({ pools: [{ servers: 3 }] });
      await memcached.endpoints('sharded-memcached', three.slice(1));
      await reconcile();
      expect(await memcached.mounted(name)).not.toBe(before);
      expect(await condition('ConfigReady')).toMatchObject({ status: 'True' });
    });

    it('M15: a Service that is only another name, or has no slices, is one without endpoints', async () => {
      const ports = [{ port: 11_211 }];
      await system.apply(services, 'sharded-memcached', {
        type: 'ExternalName',
        externalName: 'db.example.com',
        ports,
      });
      await memcached.proxy(name);
      await reconcile();
      expect(await condition('ConfigReady')).toMatchObject({ status: 'False', reason: 'NoEndpoints' });
      expect(await children()).toHaveLength(2);
    });

    it('M: service.namespace other than ns is RefNotPermitted, and its endpoints are not read', async () => {
      await memcached.proxy(name, { service: { name: 'sharded-memcached', namespace: 'kube-system', port: 11_211 } });
      system.requests.length = 0;
      await reconcile();
      expect(await condition('ResolvedRefs')).toMatchObject({ status: 'False', reason: 'RefNotPermitted' });
      expect(await children()).toEqual([]);
      expect(system.requests.filter((request) => request.includes('kube-system'))).toEqual([]);
    });
  });

  describe('MemcachedProxy: drift and damage', () => {
    it('M16: selector and ports that somebody edits are put right, and the address is kept', async () => {
      await started();
      const front = services.read(await system.read(services, service));
      const ports = [{ name: 'mcrouter', port: 9999, targetPort: 9999 }];
      await system.patch(services, service, { spec: { selector: { app: 'other', mcrouter: null }, ports } });
      await reconcile();
      expect(services.read(await system.read(services, service)).spec).toEqual(front.spec);
      const more = [...ports.map((port) => ({ ...port, name: 'second' })), { name: 'mcrouter', port: 11_211 }];
      await system.patch(services, service, { spec: { ports: more } });
      await reconcile();
      expect(services.read(await system.read(services, service)).spec).toEqual(front.spec);
      system.requests.length = 0;
      await reconcile();
      expect(writes()).toEqual([]);
    });

    it('M18: a Deployment that is deleted is made again, mounting the right ConfigMap', async () => {
      await started();
      const mounted = await memcached.mounted(name);
      await system.delete(deployments, mcrouter);
      await reconcile();
      expect(await memcached.mounted(name)).toBe(mounted);
    });

    it('M18a: the ConfigMap in use is made again, with its name and content', async () => {
      await started();
      const mounted = await memcached.mounted(name);
      const { data } = configMaps.read(await system.read(configMaps, mounted));
      await system.delete(configMaps, mounted);
      await reconcile();
      expect(configMaps.read(await system.read(configMaps, mounted)).data).toEqual(data);
    });

    it('M18b: a Service that is deleted is made again', async () => {
      await started();
      await system.delete(services, service);
      await reconcile();
      expect(await system.get(services, service)).toBeDefined();
    });

    it.each([
      ['Service', services, service, { spec: { ports: [{ port: 1 }] } }, 'ServiceReady'],
      ['ConfigMap', configMaps, 'the configuration', { data: { 'config.json': '{}' } }, 'ConfigReady'],
      [
        'Deployment',
        deployments,
        mcrouter,
        {
          spec: {
            selector: { matchLabels: { a: 'b' } },
            template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
          },
        },
        'DeploymentAvailable',
      ],
    ])('M20: a %s of our name that is not ours is left alone: NotOwned, with one Warning', async (_, kind, given, content, type) => {
      // Only who knows the content knows the name of its ConfigMap.
      await started();
      const taken = kind === configMaps ? await memcached.mounted(name) : given;
      await system.delete(proxies, name);
      await expect.poll(async () => await system.get(kind, taken)).toBeUndefined();
      const stranger = await memcached.put(kind, taken, content);
      await memcached.proxy(name);
      await reconcile();
      await reconcile();
      expect(await system.read(kind, taken)).toEqual(stranger);
      expect(await condition(type)).toMatchObject({ status: 'False', reason: 'NotOwned' });
      expect(await condition('Ready')).toMatchObject({ status: 'False' });
      expect(await memcached.events('ErrResourceExists')).toEqual([expect.stringContaining('x1:')]);
      if (kind !== services) expect(await system.get(services, service)).toBeDefined();
    });

    it('M21: of the Deployments that an older version left, none stays beside ours, and an Event says so', async () => {
      await started();
      const { metadata, spec } = await system.read(deployments, mcrouter);
      const { labels, annotations, ownerReferences } = metadata;
      await memcached.put(deployments, `${mcrouter}-x7k2p`, { spec }, { labels, annotations, ownerReferences });
      await reconcile();
      expect((await system.list(deployments)).map((one) => one.metadata.name)).toEqual([mcrouter]);
      expect(await memcached.events('SuccessfulDelete')).toEqual([expect.stringContaining(`${mcrouter}-x7k2p`)]);
    });
  });

  describe('MemcachedProxy: life and death', () => {
    it('M22: everything goes with the proxy', async () => {
      await started();
      await memcached.rollOut(name);
      await system.delete(proxies, name);
      await expect.poll(children).toEqual([]);
      await expect.poll(async () => await system.list(replicaSets)).toEqual([]);
      expect(await system.get(services, service)).toBeUndefined();
    });

    it('M22a: a proxy that is being deleted is written to no more', async () => {
      await started();
      await system.patch(proxies, name, { metadata: { finalizers: ['example.com/other'] } });
      await system.delete(proxies, name);
      await memcached.endpoints('sharded-memcached', three.slice(1));
      system.requests.length = 0;
      await reconcile();
      expect(writes()).toEqual([]);
    });

    it('M23: a proxy that is made again adopts no child of the one before', async () => {
      await started();
      const orphan = await system.read(services, service);
      await system.client.request({
        method: 'DELETE',
        path: `/apis/cache.example.com/v1/namespaces/${system.namespace}/memcachedproxies/${name}`,
        body: { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Orphan' },
      });
      await expect.poll(async () => await system.get(proxies, name)).toBeUndefined();
      await memcached.proxy(name);
      const before = await system.read(services, service);
      await reconcile();
      expect(await system.read(services, service)).toEqual(before);
      expect(before.metadata.uid).toBe(orphan.metadata.uid);
      expect(await condition('ServiceReady')).toMatchObject({ status: 'False', reason: 'NotOwned' });
    });

    it('M26: ten messages, and two functions at once, make one of each', async () => {
      await memcached.service('sharded-memcached');
      await memcached.endpoints('sharded-memcached', three);
      await memcached.proxy(name);
      await system.reconcileAtOnce(proxies, name, 2);
      await system.reconcile(proxies, ...Array.from({ length: 10 }, () => name));
      expect(await children()).toEqual([await memcached.mounted(name), mcrouter]);
      expect((await memcached.deployment(name)).metadata.generation).toBe(1);
    });

    it.each([
      1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
    ])('M28: a function that dies after %i requests is finished by the next, with one ConfigMap', async (lives) => {
      await memcached.service('sharded-memcached');
      await memcached.endpoints('sharded-memcached', three);
      await memcached.proxy(name);
      let made = 0;
      system.dieAt(() => {
        made += 1;
        return made > lives;
      });
      await reconcile();
      system.revive();
      await reconcile();
      expect(await children()).toEqual([await memcached.mounted(name), mcrouter]);
      expect(await system.get(services, service)).toBeDefined();
      expect(await condition('ConfigReady')).toMatchObject({ status: 'True' });
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
      expect(system.requests.filter((request) => request.startsWith('GET')).length).toBeLessThanOrEqual(11);
      const config = JSON.stringify(await memcached.config(name));
      expect(config.match(/:11211"/g)).toHaveLength(500);
      expect(config.length).toBeLessThan(2 ** 20);
      expect(await memcached.configMaps(name)).toHaveLength(1);
    });
  });
}
