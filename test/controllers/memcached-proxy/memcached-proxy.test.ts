// The proxy's reconciler and its mapping function, called by hand over objects in memory. What an API server makes of them is
// the statements' business.
import { describe, expect, it } from 'vitest';
import type { Kind } from '../../../src/api/kind.ts';
import { defaultImage, MemcachedProxy } from '../../../src/controllers/memcached-proxy/kind.ts';
import { memcachedProxy } from '../../../src/controllers/memcached-proxy/memcached-proxy.ts';
import { proxiesReferencing } from '../../../src/controllers/memcached-proxy/references.ts';
import { ConfigMap, Deployment, EndpointSlice, Service } from '../../../src/kubernetes.ts';
import { testContext } from '../../../src/testing/test-context.ts';

const rules = { service: { name: 'sharded-memcached', port: 11_211 } };
const proxy = MemcachedProxy.object('sharded-example', { rules });
const object = ({ apiVersion, kind }: Kind, name: string, content: object, labels = {}) => ({
  apiVersion,
  kind,
  metadata: { name, namespace: 'default', labels },
  ...content,
});
const service = object(Service, 'sharded-memcached', { spec: { ports: [{ port: 11_211 }] } });
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
  it('M1, M2: makes what the golden values say, and waits for its Deployment', async () => {
    const context = world(service, three);
    const { status, conditions } = await memcachedProxy.reconcile(proxy, context);
    expect(status).toEqual({
      configMapName: 'sharded-example-config-dee2a',
      deploymentName: 'sharded-example-mcrouter',
      serviceName: 'sharded-example-memcached-043e0',
      pools: [{ service: 'sharded-memcached', port: '11211', servers: 3 }],
    });
    expect(conditions).toMatchObject({
      ResolvedRefs: { status: 'True' },
      ConfigReady: { status: 'True' },
      DeploymentAvailable: { status: 'Unknown', reason: 'NotReported' },
      ServiceReady: { status: 'True' },
    });
    expect((await context.list(ConfigMap)).map(({ metadata }) => metadata.name)).toEqual([status.configMapName]);
    expect(context.events).toHaveLength(3);
  });

  it.each([
    [
      { observedGeneration: 1, conditions: [{ type: 'Available', status: 'True', reason: 'Enough' }] },
      'True',
      'Enough',
    ],
    [{ observedGeneration: 1, conditions: [{ type: 'Available', status: 'False', reason: 'Few' }] }, 'False', 'Few'],
    [{ observedGeneration: 0, conditions: [{ type: 'Available', status: 'True' }] }, 'Unknown', 'OutOfDate'],
    [{ observedGeneration: 1 }, 'Unknown', 'NotReported'],
  ])('C6: uses the status of a Deployment only for its latest generation: %j is %s', async (said, status, reason) => {
    const context = world(service, three);
    await memcachedProxy.reconcile(proxy, context);
    context.put(object(Deployment, 'sharded-example-mcrouter', { status: said }));
    const { conditions } = await memcachedProxy.reconcile(proxy, context);
    expect(conditions.DeploymentAvailable).toMatchObject({ status, reason });
  });

  it('M17: takes an empty image for the default one', async () => {
    const mcrouter = { image: '' };
    const bare = MemcachedProxy.object('sharded-example', { rules, mcrouter });
    const context = testContext(memcachedProxy, { owner: bare, objects: [service, three] });
    await memcachedProxy.reconcile(bare, context);
    const deployment = await context.get(Deployment, { name: 'sharded-example-mcrouter' });
    expect(deployment?.spec?.template.spec?.containers[0]?.image).toBe(defaultImage);
  });

  it('M13: says once what is missing, as long as it is the same', async () => {
    const context = world();
    const { conditions } = await memcachedProxy.reconcile(proxy, context);
    expect(conditions.ResolvedRefs).toMatchObject({ reason: 'ServiceNotFound' });
    expect(context.events).toHaveLength(1);
    const standing = [{ type: 'ResolvedRefs', ...conditions.ResolvedRefs }];
    await memcachedProxy.reconcile({ ...proxy, conditions: standing }, context);
    expect(context.events).toHaveLength(1);
  });

  it('M20: does not mount a configuration that is not its own, and makes the Service all the same', async () => {
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

  it('M27: finds every proxy whose rules name the Service, however deep, once each', () => {
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

  it('M27: is not misled by a Service of the same name in another namespace', () => {
    expect(proxiesReferencing({ namespace: 'elsewhere', name: 'a' }, [{ ...proxy, spec: { rules: at('a') } }])).toEqual(
      [],
    );
  });
});
