// What a proxy lacks, its image and its mount, and its mapping function, on objects in memory. Everything else is
// test/statements/memcached-proxy*.ts.
import { describe, expect, it } from 'vitest';
import type { Kind } from '../../src/api/kind.ts';
import { defaultImage, MemcachedProxy } from '../../src/controllers/memcached-proxy/kind.ts';
import { proxiesReferencing } from '../../src/controllers/memcached-proxy/references.ts';
import { memcachedProxy } from '../../src/controllers/memcached-proxy.ts';
import { ConfigMap, Deployment, EndpointSlice, Service } from '../../src/kubernetes.ts';
import { testContext } from '../../src/testing/test-context.ts';

const rules = { service: { name: 'sharded-memcached', port: 11_211 } };
const proxy = MemcachedProxy.object('sharded-example', { rules });
const object = ({ apiVersion, kind }: Kind, name: string, content: object, labels = {}) => ({
  apiVersion,
  kind,
  metadata: { name, namespace: 'default', labels },
  ...content,
});
const serviceAt = (port: number, spec: object = {}) =>
  object(Service, 'sharded-memcached', { spec: { ports: [{ port }], ...spec } });
const service = serviceAt(11_211);
const slice = (...addresses: readonly string[]) =>
  object(
    EndpointSlice,
    'slice',
    {
      addressType: 'IPv4',
      endpoints: addresses.map((address) => ({ addresses: [address] })),
      ports: [{ name: '', port: 11_211, protocol: 'TCP' }],
    },
    { 'kubernetes.io/service-name': 'sharded-memcached' },
  );
const world = (...objects: readonly object[]) => testContext(memcachedProxy, { owner: proxy, objects });
const three = slice('10.0.2.19', '10.0.2.17', '10.0.2.18');

describe('the reconciler', () => {
  const alias = serviceAt(11_211, { type: 'ExternalName', externalName: 'db.example.com' });
  it.each([
    ['M13: a proxy without its Service', 'ServiceNotFound', 'ResolvedRefs', [three]],
    ['M13a: a port that the Service lacks', 'PortNotFound', 'ResolvedRefs', [serviceAt(1), three]],
    ['M14: a first roll-out without endpoints', 'NoEndpoints', 'ConfigReady', [service, slice()]],
    ['M15: a Service that is only another name', 'NoEndpoints', 'ConfigReady', [alias]],
  ])('%s is %s, and has children only where the reference is resolved', async (_, reason, type, objects) => {
    const context = world(...objects);
    const { conditions } = await memcachedProxy.reconcile(proxy, context);
    expect(conditions).toMatchObject({ [type]: { status: 'False', reason } });
    const configs = await context.list(ConfigMap);
    const empty = configs.map(({ data }) => data?.['config.json']?.includes('"servers":[]'));
    expect([empty, await context.list(Deployment)]).toMatchObject(type === 'ConfigReady' ? [[true], [{}]] : [[], []]);
  });

  it('M13: a Service of another namespace is RefNotPermitted, although there is one of that name', async () => {
    const elsewhere = { service: { ...rules.service, namespace: 'kube-system' } };
    const strange = MemcachedProxy.object('sharded-example', { rules: elsewhere });
    const theirs = { ...service, metadata: { ...service.metadata, namespace: 'kube-system' } };
    const context = testContext(memcachedProxy, { owner: strange, objects: [theirs, service, three] });
    const { conditions } = await memcachedProxy.reconcile(strange, context);
    expect(conditions).toMatchObject({ ResolvedRefs: { status: 'False', reason: 'RefNotPermitted' } });
    expect([await context.list(ConfigMap), await context.list(Deployment)]).toEqual([[], []]);
  });

  it('M17: a proxy with an empty image has the default one', async () => {
    const mcrouter = { image: '' };
    const bare = MemcachedProxy.object('sharded-example', { rules, mcrouter });
    const context = testContext(memcachedProxy, { owner: bare, objects: [service, three] });
    await memcachedProxy.reconcile(bare, context);
    const deployment = await context.get(Deployment, { name: 'sharded-example-mcrouter' });
    expect(deployment?.spec?.template.spec?.containers[0]?.image).toBe(defaultImage);
  });

  it('M20: a proxy does not mount a configuration that is not its own, and has its Service all the same', async () => {
    const stranger = object(ConfigMap, 'sharded-example-config-dee2a', { data: {} });
    const context = world(service, three, stranger);
    const result = await memcachedProxy.reconcile(proxy, context);
    expect(result.conditions).toMatchObject({
      ConfigReady: { status: 'False', reason: 'NotOwned' },
      DeploymentAvailable: { status: 'Unknown', reason: 'ConfigNotReady' },
      ServiceReady: { status: 'True' },
    });
    expect(result).toHaveProperty('error', expect.any(Error));
    expect(await context.list(Deployment)).toEqual([]);
  });
});

describe('the mapping function', () => {
  const named = (name: string) => ({ ...proxy, metadata: { ...proxy.metadata, name } });
  const at = (name: string, namespace = 'default') => ({
    type: 'sharded' as const,
    service: { name, namespace, port: 1 },
  });

  it('M27: the mapping of a Service finds every proxy whose rules name it, however deep, once each', () => {
    const proxies = [
      { ...proxy, spec: { rules: at('a') } },
      { ...named('deep'), spec: { rules: { type: 'sharded' as const, children: [at('b'), at('a'), at('a')] } } },
      { ...named('other'), spec: { rules: at('b') } },
    ];
    expect(proxiesReferencing({ namespace: 'default', name: 'a' }, proxies)).toEqual([
      { namespace: 'default', name: 'sharded-example' },
      { namespace: 'default', name: 'deep' },
    ]);
    expect(proxiesReferencing({ namespace: 'default', name: 'none' }, proxies)).toEqual([]);
  });

  it('M27: the mapping of a Service finds no proxy in another namespace', () => {
    expect(proxiesReferencing({ namespace: 'elsewhere', name: 'a' }, [{ ...proxy, spec: { rules: at('a') } }])).toEqual(
      [],
    );
  });
});
