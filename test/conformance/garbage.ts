// Conformance: what happens to the owned when the owner goes. Needs a garbage collector: kube-controller-manager on the real
// control plane, our own in the in-memory server.
import { expect, it } from 'vitest';
import { API_VERSION, gadget, gadgets } from './gadget.ts';
import type { Suite } from './suite.ts';

// The real collector learns of a new kind within 30 s.
const NEW_KIND_SECONDS = 60;

/** Declares the cases. */
export function garbageCases({ wire, namespace }: Suite): void {
  const maps = (ns: string, name?: string): string =>
    [`/api/v1/namespaces/${ns}/configmaps`, name].filter((part) => part !== undefined).join('/');
  const ownedBy = async (path: string, extra: object = {}): Promise<object> => {
    const { apiVersion, kind, metadata } = (await wire.get(path)).body;
    return { apiVersion, kind, name: metadata?.name, uid: metadata?.uid, ...extra };
  };
  const deleted = async (collection: string, name: string): Promise<void> => {
    await using watch = await wire.watch(collection, { fieldSelector: `metadata.name=${name}` });
    if ((await wire.get(`${collection}/${name}`)).status === 404) return;
    await watch.until(({ type }) => type === 'DELETED');
  };

  it('what was owned goes with its owner, and what has another owner left stays', async () => {
    const ns = await namespace();
    for (const name of ['owner', 'other']) await wire.post(maps(ns), { metadata: { name } });
    const [owner, other] = [await ownedBy(maps(ns, 'owner')), await ownedBy(maps(ns, 'other'))];
    await wire.post(maps(ns), { metadata: { name: 'shared', ownerReferences: [owner, other] } });
    await wire.post(maps(ns), { metadata: { name: 'child', ownerReferences: [owner] } });
    await wire.remove(maps(ns, 'owner'));
    await deleted(maps(ns), 'child');
    await using watch = await wire.watch(maps(ns), { fieldSelector: 'metadata.name=shared' });
    await watch.until(({ object }) => object.metadata?.ownerReferences?.length === 1);
    expect((await wire.get(maps(ns, 'shared'))).body.metadata?.ownerReferences).toEqual([other]);
  });

  it('what names an owner that was re-created under the same name goes', async () => {
    const ns = await namespace();
    await wire.post(maps(ns), { metadata: { name: 'owner' } });
    const former = await ownedBy(maps(ns, 'owner'), { uid: '00000000-0000-4000-8000-000000000000' });
    await wire.post(maps(ns), { metadata: { name: 'child', ownerReferences: [former] } });
    await deleted(maps(ns), 'child');
    expect((await wire.get(maps(ns, 'owner'))).status).toBe(200);
  });

  it('a deletion that orphans lets the owned live, without the reference', async () => {
    const ns = await namespace();
    await wire.post(maps(ns), { metadata: { name: 'owner' } });
    await wire.post(maps(ns), { metadata: { name: 'child', ownerReferences: [await ownedBy(maps(ns, 'owner'))] } });
    await wire.remove(maps(ns, 'owner'), { propagationPolicy: 'Orphan' });
    await deleted(maps(ns), 'owner');
    const child = await wire.get(maps(ns, 'child'));
    expect(child.status).toBe(200);
    expect(child.body.metadata?.ownerReferences).toBeUndefined();
  });

  it('a foreground deletion waits for what blocks it', async () => {
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
    await deleted(maps(ns), 'owner');
  });

  it(
    'a custom resource owns as well, and what it owns outlives its finalizers',
    async () => {
      const ns = await namespace();
      await wire.post(gadgets(ns), gadget('owner', { size: 1 }, { finalizers: ['example.org/hold'] }));
      const owner = await ownedBy(gadgets(ns, 'owner'), { controller: true, blockOwnerDeletion: true });
      expect(owner).toMatchObject({ apiVersion: API_VERSION, kind: 'Gadget' });
      await wire.post(maps(ns), { metadata: { name: 'child', ownerReferences: [owner] } });
      await wire.remove(gadgets(ns, 'owner'));
      expect((await wire.get(maps(ns, 'child'))).body.metadata?.deletionTimestamp).toBeUndefined();
      await wire.mergePatch(gadgets(ns, 'owner'), { metadata: { finalizers: null } });
      await deleted(maps(ns), 'child');
    },
    NEW_KIND_SECONDS * 1000,
  );

  it(
    'a namespace goes with everything in it',
    async () => {
      const ns = await namespace();
      await wire.post(gadgets(ns), gadget('one'));
      await wire.post(maps(ns), { metadata: { name: 'map' } });
      await wire.remove(`/api/v1/namespaces/${ns}`);
      await deleted('/api/v1/namespaces', ns);
      expect((await wire.get(gadgets(ns, 'one'))).status).toBe(404);
      expect((await wire.get(maps(ns, 'map'))).status).toBe(404);
    },
    NEW_KIND_SECONDS * 1000,
  );
}
