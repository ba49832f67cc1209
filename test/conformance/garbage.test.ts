// Conformance: garbage collection of dependents, of the content of a namespace, and of objects with an absent owner. A
// real control plane needs kube-controller-manager for these cases. The in-memory server has its own collector.
import { expect, it } from 'vitest';
import { gadget, gadgetApiVersion, gadgets, pathOf } from './gadget.ts';
import { useSuite } from './suite.ts';

// The real garbage collector discovers a new kind within 30 s.
const newKindSeconds = 60;

const { wire, namespace } = await useSuite();

const maps = (ns: string, name?: string): string => pathOf(`/api/v1/namespaces/${ns}/configmaps`, name);
const ownedBy = async (path: string, extra: object = {}): Promise<object> => {
  const { apiVersion, kind, metadata } = (await wire.get(path)).body;
  return { apiVersion, kind, name: metadata?.name, uid: metadata?.uid, ...extra };
};
const untilDeleted = async (collection: string, name: string): Promise<void> => {
  await using watch = await wire.watch(collection, { fieldSelector: `metadata.name=${name}` });
  if ((await wire.get(`${collection}/${name}`)).status === 404) return;
  await watch.until(({ type }) => type === 'DELETED');
};

it('a dependent is deleted with its owner, and a dependent with another owner is kept', async () => {
  const ns = await namespace();
  for (const name of ['owner', 'other']) await wire.post(maps(ns), { metadata: { name } });
  const [owner, other] = [await ownedBy(maps(ns, 'owner')), await ownedBy(maps(ns, 'other'))];
  await wire.post(maps(ns), { metadata: { name: 'shared', ownerReferences: [owner, other] } });
  await wire.post(maps(ns), { metadata: { name: 'child', ownerReferences: [owner] } });
  await wire.remove(maps(ns, 'owner'));
  await untilDeleted(maps(ns), 'child');
  await using watch = await wire.watch(maps(ns), { fieldSelector: 'metadata.name=shared' });
  await watch.until(({ object }) => object.metadata?.ownerReferences?.length === 1);
  expect((await wire.get(maps(ns, 'shared'))).body.metadata?.ownerReferences).toEqual([other]);
});

it('a dependent of a former owner is deleted although another object has the same name', async () => {
  const ns = await namespace();
  await wire.post(maps(ns), { metadata: { name: 'owner' } });
  const former = await ownedBy(maps(ns, 'owner'), { uid: '00000000-0000-4000-8000-000000000000' });
  await wire.post(maps(ns), { metadata: { name: 'child', ownerReferences: [former] } });
  await untilDeleted(maps(ns), 'child');
  expect((await wire.get(maps(ns, 'owner'))).status).toBe(200);
});

it('an orphaning deletion keeps the dependent and removes its owner reference', async () => {
  const ns = await namespace();
  await wire.post(maps(ns), { metadata: { name: 'owner' } });
  await wire.post(maps(ns), { metadata: { name: 'child', ownerReferences: [await ownedBy(maps(ns, 'owner'))] } });
  await wire.remove(maps(ns, 'owner'), { propagationPolicy: 'Orphan' });
  await untilDeleted(maps(ns), 'owner');
  const child = await wire.get(maps(ns, 'child'));
  expect(child.status).toBe(200);
  expect(child.body.metadata?.ownerReferences).toBeUndefined();
});

it('a foreground deletion waits for the dependents that block it', async () => {
  const ns = await namespace();
  await wire.post(maps(ns), { metadata: { name: 'owner' } });
  const ownerReferences = [await ownedBy(maps(ns, 'owner'), { blockOwnerDeletion: true })];
  await wire.post(maps(ns), { metadata: { name: 'child', ownerReferences, finalizers: ['example.org/hold'] } });
  const removed = await wire.remove(maps(ns, 'owner'), { propagationPolicy: 'Foreground' });
  expect(removed.body.metadata?.finalizers).toEqual(['foregroundDeletion']);
  await using watch = await wire.watch(maps(ns), { fieldSelector: 'metadata.name=child' });
  await watch.until(({ object }) => object.metadata?.deletionTimestamp !== undefined);
  expect((await wire.get(maps(ns, 'owner'))).status).toBe(200);
  await wire.mergePatch(maps(ns, 'child'), { metadata: { finalizers: null } });
  await untilDeleted(maps(ns), 'owner');
});

it('a foreground deletion does not wait for a dependent that another owner keeps', async () => {
  const ns = await namespace();
  for (const name of ['owner', 'other']) await wire.post(maps(ns), { metadata: { name } });
  const other = await ownedBy(maps(ns, 'other'));
  const ownerReferences = [await ownedBy(maps(ns, 'owner'), { blockOwnerDeletion: true }), other];
  await wire.post(maps(ns), { metadata: { name: 'child', ownerReferences } });
  await wire.remove(maps(ns, 'owner'), { propagationPolicy: 'Foreground' });
  await untilDeleted(maps(ns), 'owner');
  expect((await wire.get(maps(ns, 'child'))).body.metadata?.ownerReferences).toEqual([other]);
});

it('a foreground deletion ends although two objects own and block each other', async () => {
  const ns = await namespace();
  await wire.post(maps(ns), { metadata: { name: 'one' } });
  await wire.post(maps(ns), { metadata: { name: 'two', finalizers: ['example.org/hold'] } });
  for (const [name, owner] of [
    ['one', 'two'],
    ['two', 'one'],
  ] as const) {
    const ownerReferences = [await ownedBy(maps(ns, owner), { blockOwnerDeletion: true })];
    await wire.mergePatch(maps(ns, name), { metadata: { ownerReferences } });
  }
  await wire.remove(maps(ns, 'one'), { propagationPolicy: 'Foreground' });
  // The collector stops the block first. Whether `two` is then deleted before `one` is gone or after it is a race.
  await using watch = await wire.watch(maps(ns), { fieldSelector: 'metadata.name=two' });
  await watch.until(({ object }) => object.metadata?.deletionTimestamp !== undefined);
  const two = await wire.get(maps(ns, 'two'));
  expect(two.body.metadata?.ownerReferences).toMatchObject([{ name: 'one', blockOwnerDeletion: false }]);
  const rest = { op: 'remove', path: '/metadata/finalizers/0' };
  const hold = { op: 'test', path: '/metadata/finalizers/0', value: 'example.org/hold' };
  expect((await wire.jsonPatch(maps(ns, 'two'), [hold, rest])).status).toBe(200);
  for (const name of ['one', 'two']) await untilDeleted(maps(ns), name);
});

/** Waits until the collector has deleted the dependents of an owner that is made and deleted now. */
const collected = async (ns: string): Promise<void> => {
  await wire.post(maps(ns), { metadata: { name: 'last' } });
  await wire.post(maps(ns), { metadata: { name: 'marker', ownerReferences: [await ownedBy(maps(ns, 'last'))] } });
  await wire.remove(maps(ns, 'last'));
  await untilDeleted(maps(ns), 'marker');
};

it('a dependent stays if its reference names a kind that is not served, or in a cluster-scoped object one of a namespace', async () => {
  const ns = await namespace();
  const made = await wire.post(maps(ns), { metadata: { name: 'owner' } });
  const { uid } = made.body.metadata ?? {};
  const misspelt = { apiVersion: 'v1', kind: 'Gadget', name: 'owner', uid };
  await wire.post(maps(ns), { metadata: { name: 'child', ownerReferences: [misspelt] } });
  const roles = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
  const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid }];
  expect((await wire.post(roles, { metadata: { name: ns, ownerReferences }, rules: [] })).status).toBe(201);
  await collected(ns);
  expect((await wire.get(`${roles}/${ns}`)).status).toBe(200);
  await wire.remove(maps(ns, 'owner'));
  await collected(ns);
  expect((await wire.get(maps(ns, 'child'))).status).toBe(200);
  expect((await wire.get(`${roles}/${ns}`)).status).toBe(200);
  await wire.remove(`${roles}/${ns}`);
});

it('a dependent is deleted if its reference has the uid of an owner and another name', async () => {
  const ns = await namespace();
  await wire.post(maps(ns), { metadata: { name: 'owner' } });
  const ownerReferences = [await ownedBy(maps(ns, 'owner'), { name: 'another' })];
  await wire.post(maps(ns), { metadata: { name: 'child', ownerReferences } });
  await untilDeleted(maps(ns), 'child');
  expect((await wire.get(maps(ns, 'owner'))).status).toBe(200);
});

it(
  'a dependent of a custom resource is deleted after the finalizers of its owner are removed',
  async () => {
    const ns = await namespace();
    await wire.post(gadgets(ns), gadget('owner', { size: 1 }, { finalizers: ['example.org/hold'] }));
    const owner = await ownedBy(gadgets(ns, 'owner'), { controller: true, blockOwnerDeletion: true });
    expect(owner).toMatchObject({ apiVersion: gadgetApiVersion, kind: 'Gadget' });
    await wire.post(maps(ns), { metadata: { name: 'child', ownerReferences: [owner] } });
    await wire.remove(gadgets(ns, 'owner'));
    expect((await wire.get(maps(ns, 'child'))).body.metadata?.deletionTimestamp).toBeUndefined();
    await wire.mergePatch(gadgets(ns, 'owner'), { metadata: { finalizers: null } });
    await untilDeleted(maps(ns), 'child');
  },
  newKindSeconds * 1000,
);

it(
  'a deletion of a namespace deletes all objects in it',
  async () => {
    const ns = await namespace();
    await wire.post(gadgets(ns), gadget('one'));
    await wire.post(maps(ns), { metadata: { name: 'map' } });
    await wire.remove(`/api/v1/namespaces/${ns}`);
    await untilDeleted('/api/v1/namespaces', ns);
    expect((await wire.get(gadgets(ns, 'one'))).status).toBe(404);
    expect((await wire.get(maps(ns, 'map'))).status).toBe(404);
  },
  newKindSeconds * 1000,
);
