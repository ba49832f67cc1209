// What is asked of MemcachedProxy when something that it needs is missing, empty or not its to have (M13 to M15).

import { describe, expect, it } from 'vitest';
import { MemcachedProxy as proxies } from '../../src/controllers/memcached-proxy/kind.ts';
import { Service } from '../../src/kubernetes.ts';
import { useApiServer } from '../harness/api-server.ts';
import { name, proxyFixture, service, three } from './memcached-proxy-fixture.ts';

const { connect } = await useApiServer();
const { at, children, condition, reconcile, started, writes } = proxyFixture(connect);

describe('MemcachedProxy: what is missing', () => {
  it('M13: without the Service nothing is made, and one Warning names it', async () => {
    await at.memcached.proxy(name);
    await reconcile();
    await reconcile();
    expect(await children()).toEqual([]);
    expect(await condition('ResolvedRefs')).toMatchObject({ status: 'False', reason: 'ServiceNotFound' });
    expect(await condition('Ready')).toMatchObject({ status: 'False', reason: 'ServiceNotFound' });
    const where = `${at.system.namespace}/sharded-memcached`;
    expect(await at.memcached.events()).toEqual([expect.stringMatching(new RegExp(`^ServiceNotFound x1: .*${where}`))]);
  });

  it('M13: a Service that goes leaves what runs as it is', async () => {
    await started();
    const before = await at.memcached.deployment(name);
    await at.system.delete(Service, 'sharded-memcached');
    at.system.requests.length = 0;
    await reconcile();
    expect(await at.memcached.deployment(name)).toEqual(before);
    expect(writes().filter((request) => !request.includes('/status') && !request.includes('/events'))).toEqual([]);
    expect((await at.system.read(proxies, name)).status).toMatchObject({ serviceName: service });
  });

  it('M13a: a port that the Service does not have is PortNotFound, until it has it', async () => {
    await at.memcached.service('sharded-memcached', [{ port: 1 }]);
    await at.memcached.endpoints('sharded-memcached', three);
    await at.memcached.proxy(name);
    await reconcile();
    expect(await condition('ResolvedRefs')).toMatchObject({ status: 'False', reason: 'PortNotFound' });
    expect(await children()).toEqual([]);
    await at.memcached.service('sharded-memcached');
    await reconcile();
    expect(await condition('ResolvedRefs')).toMatchObject({ status: 'True' });
    expect(await children()).toHaveLength(2);
  });

  it('M14: the first roll-out without endpoints is an empty pool, said to be NoEndpoints', async () => {
    await started([]);
    expect(JSON.stringify(await at.memcached.config(name))).toContain('"servers":[]');
    expect(await condition('ConfigReady')).toMatchObject({ status: 'False', reason: 'NoEndpoints' });
    expect(await condition('Ready')).toMatchObject({ status: 'False', reason: 'NoEndpoints' });
  });

  it('M14: the last servers are kept if none is ready later, and the reason is NoEndpoints', async () => {
    await started();
    const before = await at.memcached.mounted(name);
    await at.memcached.endpoints('sharded-memcached', []);
    await reconcile();
    expect(await at.memcached.mounted(name)).toBe(before);
    expect(await condition('ConfigReady')).toMatchObject({ status: 'False', reason: 'NoEndpoints' });
    expect((await at.system.read(proxies, name)).status).toMatchObject({ pools: [{ servers: 3 }] });
    await at.memcached.endpoints('sharded-memcached', three.slice(1));
    await reconcile();
    expect(await at.memcached.mounted(name)).not.toBe(before);
    expect(await condition('ConfigReady')).toMatchObject({ status: 'True' });
  });

  it('M15: a Service that is only another name, or has no slices, is one without endpoints', async () => {
    const ports = [{ port: 11_211 }];
    await at.system.apply(Service, 'sharded-memcached', {
      type: 'ExternalName',
      externalName: 'db.example.com',
      ports,
    });
    await at.memcached.proxy(name);
    await reconcile();
    expect(await condition('ConfigReady')).toMatchObject({ status: 'False', reason: 'NoEndpoints' });
    expect(await children()).toHaveLength(2);
  });

  it('M: service.namespace other than ns is RefNotPermitted, and its endpoints are not read', async () => {
    await at.memcached.proxy(name, {
      service: { name: 'sharded-memcached', namespace: 'kube-system', port: 11_211 },
    });
    at.system.requests.length = 0;
    await reconcile();
    expect(await condition('ResolvedRefs')).toMatchObject({ status: 'False', reason: 'RefNotPermitted' });
    expect(await children()).toEqual([]);
    expect(at.system.requests.filter((request) => request.includes('kube-system'))).toEqual([]);
  });
});
