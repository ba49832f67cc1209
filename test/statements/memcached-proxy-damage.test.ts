// MemcachedProxy with broken or foreign children (M16 to M23), and with functions that crash, run
// twice or have much to read (M26, M28, M29, M29a). memcached-proxy-wake.test.ts has the wake-ups.

import { describe, expect, it } from 'vitest';
import { MemcachedProxy as proxies } from '../../src/controllers/memcached-proxy/kind.ts';
import { ConfigMap, Deployment, ReplicaSet, Service } from '../../src/kubernetes.ts';
import { useApiServer } from '../harness/api-server.ts';
import { mcrouter, name, proxyFixture, service, three } from './memcached-proxy-fixture.ts';

/** A finalizer that only the test removes. */
const held = { metadata: { finalizers: ['example.com/held'] } };

const { connect } = await useApiServer();
const { at, children, condition, reconcile, started, writes } = proxyFixture(connect);

describe('MemcachedProxy: drift and damage', () => {
  it('M16: drift of selector and ports is corrected, and the address is kept', async () => {
    await started();
    const front = Service.read(await at.system.read(Service, service));
    const ports = [{ name: 'mcrouter', port: 9999, targetPort: 9999 }];
    await at.system.patch(Service, service, { spec: { selector: { app: 'other', mcrouter: null }, ports } });
    await reconcile();
    expect(Service.read(await at.system.read(Service, service)).spec).toEqual(front.spec);
    const more = [...ports.map((port) => ({ ...port, name: 'second' })), { name: 'mcrouter', port: 11_211 }];
    await at.system.patch(Service, service, { spec: { ports: more } });
    await reconcile();
    expect(Service.read(await at.system.read(Service, service)).spec).toEqual(front.spec);
    at.system.requests.length = 0;
    await reconcile();
    expect(writes()).toEqual([]);
  });

  it.each([
    ['Service', Service, service, { spec: { ports: [{ port: 1 }] } }, 'ServiceReady'],
    ['ConfigMap', ConfigMap, 'the configuration', { data: { 'config.json': '{}' } }, 'ConfigReady'],
    [
      'Deployment',
      Deployment,
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
    const taken = kind === ConfigMap ? await at.memcached.mounted(name) : given;
    await at.system.delete(proxies, name);
    await expect.poll(async () => await at.system.get(kind, taken)).toBeUndefined();
    const stranger = await at.memcached.put(kind, taken, content);
    await at.memcached.proxy(name);
    await reconcile();
    await reconcile();
    expect(await at.system.read(kind, taken)).toEqual(stranger);
    expect(await condition(type)).toMatchObject({ status: 'False', reason: 'NotOwned' });
    expect(await condition('Ready')).toMatchObject({ status: 'False' });
    expect(await at.memcached.events('ErrResourceExists')).toEqual([expect.stringContaining('x1:')]);
    if (kind !== Service) expect(await at.system.get(Service, service)).toBeDefined();
    // No event of a stranger wakes the proxy: it comes back by itself.
    await at.system.delete(kind, taken);
    await at.system.pass(60);
    expect((await condition(type))?.reason).not.toBe('NotOwned');
    expect((await at.system.read(kind, taken)).metadata.ownerReferences).toMatchObject([{ name }]);
  });
});

describe('MemcachedProxy: life and death', () => {
  it('M22: everything goes with the proxy', async () => {
    await started();
    await at.memcached.rollOut(name);
    await at.system.delete(proxies, name);
    await expect.poll(children).toEqual([]);
    await expect.poll(async () => await at.system.list(ReplicaSet)).toEqual([]);
    expect(await at.system.get(Service, service)).toBeUndefined();
  });

  it('M22a: a proxy that is being deleted is written to no more', async () => {
    await started();
    await at.system.patch(proxies, name, { metadata: { finalizers: ['example.com/other'] } });
    await at.system.delete(proxies, name);
    await at.memcached.endpoints('sharded-memcached', three.slice(1));
    at.system.requests.length = 0;
    await reconcile();
    expect(writes()).toEqual([]);
  });

  it('M23: a proxy that is made again adopts no child of the one before', async () => {
    await started();
    const orphan = await at.system.read(Service, service);
    await at.system.client.request({
      method: 'DELETE',
      path: `/apis/cache.example.com/v1/namespaces/${at.system.namespace}/memcachedproxies/${name}`,
      body: { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Orphan' },
    });
    await expect.poll(async () => await at.system.get(proxies, name)).toBeUndefined();
    await at.memcached.proxy(name);
    const before = await at.system.read(Service, service);
    await reconcile();
    expect(await at.system.read(Service, service)).toEqual(before);
    expect(before.metadata.uid).toBe(orphan.metadata.uid);
    expect(await condition('ServiceReady')).toMatchObject({ status: 'False', reason: 'NotOwned' });
  });

  it('M23: while a child of the one before is still going it is NotOwned, and when it has gone there is a new one', async () => {
    await started();
    const { uid } = (await at.system.patch(Service, service, held)).metadata;
    await at.system.delete(proxies, name);
    await expect.poll(async () => await at.system.get(proxies, name)).toBeUndefined();
    await at.memcached.proxy(name);
    await reconcile();
    expect((await at.system.read(Service, service)).metadata.uid).toBe(uid);
    expect(await condition('ServiceReady')).toMatchObject({ status: 'False', reason: 'NotOwned' });
    await at.system.patch(Service, service, { metadata: { finalizers: null } }).catch(() => undefined);
    await at.system.delete(Service, service).catch(() => undefined);
    await expect.poll(async () => (await at.system.get(Service, service))?.metadata.uid).not.toBe(uid);
    await at.system.pass(60);
    expect(await condition('ServiceReady')).toMatchObject({ status: 'True' });
  });

  it('M26: ten messages, and two functions at once, make one of each', async () => {
    await at.memcached.service('sharded-memcached');
    await at.memcached.endpoints('sharded-memcached', three);
    await at.memcached.proxy(name);
    await at.system.reconcileAtOnce(proxies, name, 2);
    await at.system.reconcile(proxies, ...Array.from({ length: 10 }, () => name));
    expect(await children()).toEqual([await at.memcached.mounted(name), mcrouter]);
    expect((await at.memcached.deployment(name)).metadata.generation).toBe(1);
  });

  it.each([
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
  ])('M28: a function that dies after %i requests is finished by the next, with one ConfigMap', async (lives) => {
    await at.memcached.service('sharded-memcached');
    await at.memcached.endpoints('sharded-memcached', three);
    await at.memcached.proxy(name);
    let made = 0;
    at.system.dieAt(() => {
      made += 1;
      return made > lives;
    });
    await reconcile();
    at.system.revive();
    await reconcile();
    expect(await children()).toEqual([await at.memcached.mounted(name), mcrouter]);
    expect(await at.system.get(Service, service)).toBeDefined();
    expect(await condition('ConfigReady')).toMatchObject({ status: 'True' });
  });

  it('M29: 500 endpoints in six slices are one ConfigMap below 1 MiB, by as many reads as one would be', async () => {
    await at.memcached.service('sharded-memcached');
    const all = Array.from({ length: 500 }, (_, index) => `10.1.${Math.floor(index / 250)}.${(index % 250) + 1}`);
    for (const index of [0, 1, 2, 3, 4, 5]) {
      const part = all.slice(index * 84, (index + 1) * 84);
      await at.memcached.endpoints('sharded-memcached', part, { slice: `slice-${index}` });
    }
    await at.memcached.proxy(name);
    at.system.requests.length = 0;
    await reconcile();
    expect(at.system.requests.filter((request) => request.startsWith('GET')).length).toBeLessThanOrEqual(11);
    const config = JSON.stringify(await at.memcached.config(name));
    expect(config.match(/:11211"/g)).toHaveLength(500);
    expect(config.length).toBeLessThan(2 ** 20);
    expect(await at.memcached.configMaps(name)).toHaveLength(1);
  });

  it('M29a: rules that name 256 Services are one list of Services and one of slices', async () => {
    const names = Array.from({ length: 256 }, (_, index) => `pool-${index}`);
    for (const [index, pool] of names.entries()) {
      await at.memcached.service(pool);
      if (index !== 3) await at.memcached.endpoints(pool, [`10.1.${Math.floor(index / 128)}.${(index % 128) + 1}`]);
    }
    const leaf = (pool: string) => ({ service: { name: pool, port: 11_211 } });
    const children = Array.from({ length: 16 }, (_, group) => ({
      children: names.slice(group * 16, (group + 1) * 16).map(leaf),
    }));
    await at.memcached.proxy(name, { children });
    at.system.requests.length = 0;
    await reconcile();
    expect(at.system.requests.filter((request) => request.startsWith('GET')).length).toBeLessThanOrEqual(12);
    expect(JSON.stringify(await at.memcached.config(name)).match(/:11211"/g)).toHaveLength(255);
    const { status } = proxies.read(await at.system.read(proxies, name));
    expect(status?.pools).toHaveLength(256);
    expect(status?.pools.filter(({ servers }) => servers === 0)).toMatchObject([{ service: 'pool-3' }]);
  });
});
