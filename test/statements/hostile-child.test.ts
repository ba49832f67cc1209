// Children in a state that no controller created (V7, F8, M18, M20): with another owner, edited by hand, or created again under
// their name. Each is a condition with a reason, and nothing is done to it. Cases for any API server.
import { beforeEach, describe, expect, it } from 'vitest';
import type { AnyCustomKind } from '../../src/api/custom-kind.ts';
import type { Kind } from '../../src/api/kind.ts';
import { Foo as foos } from '../../src/controllers/foo.ts';
import { MemcachedProxy as proxies } from '../../src/controllers/memcached-proxy/kind.ts';
import { ApiError } from '../../src/kube/client/errors.ts';
import type { KubeObject } from '../../src/kube/client/object.ts';
import { ConfigMap, Deployment, EndpointSlice } from '../../src/kubernetes.ts';
import { useApiServer } from '../harness/api-server.ts';
import { useSystem } from './harness.ts';
import { createMemcached } from './memcached.ts';
import { conditionOf } from './user.ts';

type Family = { readonly id: string; readonly owner: AnyCustomKind; readonly spec: object };
const foo: Family = { id: 'F8', owner: foos, spec: { deploymentName: 'web' } };
const rules = { service: { name: 'memcached', port: 11_211 } };
const proxy: Family = { id: 'M20', owner: proxies, spec: { rules } };

const { connect } = await useApiServer({ controllers: 'none' });
const system = useSystem(connect);
const memcached = createMemcached(system);
beforeEach(async () => {
  await memcached.service('memcached');
  await memcached.endpoints('memcached', ['10.0.2.17', '10.0.2.18']);
});

/** The only child of a kind. */
async function childOf(kind: Kind, owner: KubeObject): Promise<KubeObject> {
  const owned = (await system.list(kind)).filter(({ metadata }) =>
    metadata.ownerReferences?.some(({ uid }) => uid === owner.metadata.uid),
  );
  const [first] = owned;
  if (first === undefined) throw new Error(`it has no ${kind.kind}`);
  return first;
}
/** Makes an object, and returns it with its only child of a kind. */
async function made(
  { owner, spec }: Family,
  child: Kind,
): Promise<{ readonly by: KubeObject; readonly it: KubeObject }> {
  const by = await system.apply(owner, 'a', spec);
  await system.reconcile(owner, 'a');
  return { by, it: await childOf(child, by) };
}
const referenceTo = ({ metadata: { name, uid } }: KubeObject, { apiVersion, kind }: Kind, controller: boolean) => ({
  apiVersion,
  kind,
  name,
  uid,
  controller,
  blockOwnerDeletion: true,
});
/** Requests that changed something beside the owner's status and its Events. */
const actions = () => system.writes().filter((one) => !one.endsWith('/status') && !one.includes('/events'));
const refused = async (change: Promise<unknown>): Promise<ApiError> => {
  const thrown: unknown = await change.catch((error: unknown) => error);
  if (!(thrown instanceof ApiError)) throw new Error(`not refused by the API server: ${thrown}`);
  return thrown;
};

it.each([
  foo,
  proxy,
])("$id: of a $owner.kind, created again with another immutable selector, is left alone, and the status has the API server's error", async (family) => {
  const { by, it: live } = await made(family, Deployment);
  const { name, labels, annotations } = live.metadata;
  await system.delete(Deployment, name);
  const others = { app: 'other' };
  const content = {
    spec: {
      selector: { matchLabels: others },
      template: { metadata: { labels: others }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    },
  };
  const ownerReferences = [referenceTo(by, family.owner, true)];
  await system.put(Deployment, name, content, { labels, annotations, ownerReferences });
  const theirs = Deployment.read(await system.read(Deployment, name));
  await system.reconcile(family.owner, 'a');
  expect(Deployment.read(await system.read(Deployment, name)).spec).toEqual(theirs.spec);
  const said = conditionOf(await system.read(family.owner, 'a'), 'DeploymentAvailable');
  expect(said).toMatchObject({ status: 'False', reason: 'ChildRefused' });
  expect(said?.message).toContain('field is immutable');
  await system.delete(Deployment, name);
  await system.pass(60);
  expect((await childOf(Deployment, by)).metadata.name).toBe(name);
  expect(conditionOf(await system.read(family.owner, 'a'), 'DeploymentAvailable')?.reason).not.toBe('ChildRefused');
});

describe('the ConfigMap of a MemcachedProxy', () => {
  const forged = { data: { 'config.json': '{"pools":{}}' } };

  it('M18a: cannot be edited by hand', async () => {
    const { it: live } = await made(proxy, ConfigMap);
    for (const change of [forged, { immutable: false }, { binaryData: { more: 'AA==' } }]) {
      expect((await refused(system.patch(ConfigMap, live.metadata.name, change))).status).toBe(422);
    }
    expect(await system.read(ConfigMap, live.metadata.name)).toEqual(live);
  });

  it('M18a: a child whose labels were removed gets them back and is the same object', async () => {
    const { it: live } = await made(proxy, ConfigMap);
    const labels = Object.fromEntries(Object.keys(live.metadata.labels ?? {}).map((label) => [label, null]));
    await system.patch(ConfigMap, live.metadata.name, { metadata: { labels } });
    await system.reconcile(proxies, 'a');
    const { metadata } = await system.read(ConfigMap, live.metadata.name);
    expect(metadata).toMatchObject({ uid: live.metadata.uid, labels: live.metadata.labels });
    expect(await memcached.configMaps('a')).toHaveLength(1);
  });

  it.each([
    true,
    false,
  ])('M7, M18a: a ConfigMap created again with other content (immutable: %s) is not mounted: a Warning is recorded and another one is mounted', async (immutable) => {
    const { by, it: live } = await made(proxy, ConfigMap);
    const { name, labels, annotations } = live.metadata;
    await system.delete(ConfigMap, name);
    const ownerReferences = [referenceTo(by, proxies, true)];
    await system.put(ConfigMap, name, { ...forged, immutable }, { labels, annotations, ownerReferences });
    await system.reconcile(proxies, 'a');
    expect(ConfigMap.read(await system.read(ConfigMap, name)).data).toEqual(forged.data);
    expect(await memcached.mounted('a')).not.toBe(name);
    expect(JSON.stringify(await memcached.config('a'))).toContain('10.0.2.17:11211');
    expect(await system.events('NameCollision')).toHaveLength(1);
  });
});

describe('the endpoints of a MemcachedProxy', () => {
  const ports = [{ name: '', port: 11_211 }];
  it('M3: that come to have a name change nothing of what runs, and a condition names them', async () => {
    const { it: live } = await made(proxy, Deployment);
    await system.put(
      EndpointSlice,
      'memcached-by-name',
      { addressType: 'FQDN', endpoints: [{ addresses: ['evil.example.com'], conditions: { ready: true } }], ports },
      { labels: { 'kubernetes.io/service-name': 'memcached' } },
    );
    system.requests.length = 0;
    await system.reconcile(proxies, 'a');
    expect(actions()).toEqual([]);
    const said = conditionOf(await system.read(proxies, 'a'), 'ConfigReady');
    expect(said).toMatchObject({ status: 'False', reason: 'AddressNotIP' });
    expect(said?.message).toContain('evil.example.com');
    expect(await system.read(Deployment, live.metadata.name)).toEqual(live);
    await system.delete(EndpointSlice, 'memcached-by-name');
    await system.reconcile(proxies, 'a');
    expect(conditionOf(await system.read(proxies, 'a'), 'ConfigReady')).toMatchObject({ status: 'True' });
  });
});
