// MemcachedProxy whose children others change (M16) or that is deleted (M22), and with much to read (M29, M29a). What holds for
// every controller (M20, M22a, M23, M26, M28) is test/cross, memcached-proxy-wake.test.ts has the wake-ups.

import { describe, expect, it } from 'vitest';
import { MemcachedProxy as proxies } from '../../src/controllers/memcached-proxy/kind.ts';
import { ReplicaSet, Service } from '../../src/kubernetes.ts';
import { useApiServer } from '../harness/api-server.ts';
import { name, proxyFixture, service } from './memcached-proxy-fixture.ts';

const { connect } = await useApiServer();
const { at, children, reconcile, started, writes } = proxyFixture(connect);

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
