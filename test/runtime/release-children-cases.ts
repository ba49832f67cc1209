// What a release leaves on what controllers have made, and on the copies that others made of that; cases for any API server.
import { describe, expect, it } from 'vitest';
import { dinner } from '../../src/controllers/dinner.ts';
import { ingredientKind } from '../../src/controllers/ingredient.ts';
import { existingKind } from '../../src/core/kind.ts';
import { applyObject } from '../../src/kube/apply/apply.ts';
import { parseObject } from '../../src/kube/client/object.ts';
import type { ReleaseTarget } from '../../src/runtime/release.ts';
import { managersOf, type ReleaseScene } from '../operations/detach-fixture.ts';

const configMapKind = existingKind<object>({ group: '', version: 'v1', kind: 'ConfigMap' });
const dinnerKind = dinner.declares.resource;
const childrenOfDinners = (orphan: boolean): ReleaseTarget => ({
  resource: ingredientKind,
  traces: { controllers: new Set([dinner.name]), as: 'child', orphan },
});

/** Declares the cases; `withCopies`: the case of copies is among them. */
export function releaseChildrenCases(
  scene: ReleaseScene,
  { withCopies = true }: { readonly withCopies?: boolean } = {},
): void {
  const { releaseOf } = scene;
  async function aDinner(): Promise<void> {
    const { system } = scene;
    await system.apply(dinnerKind, 'soup', { ingredients: [{ name: 'leek', item: 'leek', amount: 1, unit: 'g' }] });
    await system.reconcile(dinnerKind, 'soup');
    await system.reconcile(ingredientKind, 'soup-leek');
  }

  describe('a release of children', () => {
    it('leaves no label, annotation or field owner of their maker, and what they are to others: objects with an owner', async () => {
      await aDinner();
      const before = await scene.system.read(ingredientKind, 'soup-leek');
      expect(await releaseOf(childrenOfDinners(false))).toMatchObject({ ours: 1, finalizers: 0, marks: 3 });
      const after = await scene.system.read(ingredientKind, 'soup-leek');
      expect(managersOf(after)).not.toContain('outrigger-dinner');
      expect(JSON.stringify([after.metadata.labels ?? {}, after.metadata.annotations ?? {}])).not.toContain(
        'outrigger',
      );
      expect(after.metadata.ownerReferences).toEqual(before.metadata.ownerReferences);
      // It has a controller of its own, which goes on.
      expect(after.metadata.finalizers).toEqual(['outrigger.dev/ingredient']);
      expect(managersOf(after)).toContain('outrigger-ingredient');
    });

    it('makes orphans of them where that is asked for', async () => {
      await aDinner();
      await releaseOf(childrenOfDinners(true));
      expect((await scene.system.read(ingredientKind, 'soup-leek')).metadata).not.toHaveProperty('ownerReferences');
    });

    it('leaves nobody as the owner of fields that its maker alone had owned', async () => {
      const labels = { 'outrigger.dev/controller': 'former', 'outrigger.dev/owner-uid': 'gone' };
      const metadata = { name: 'left', namespace: scene.system.namespace, labels };
      const made = parseObject({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { a: 'b' } });
      await applyObject(scene.system.client, configMapKind, made, { fieldManager: 'outrigger-former' });
      await releaseOf({ resource: configMapKind, traces: { controllers: new Set(['former']), as: 'child' } });
      const after = await scene.system.read(configMapKind, 'left');
      expect(after.metadata).not.toHaveProperty('managedFields');
      expect(after.data).toEqual({ a: 'b' });
    });

    it('of another controller by now takes the fields off that the former still owns, and leaves the other’s marks', async () => {
      await aDinner();
      const labels = { 'outrigger.dev/controller': 'other' };
      await scene.system.patch(ingredientKind, 'soup-leek', { metadata: { labels } });
      expect(await releaseOf(childrenOfDinners(true))).toMatchObject({ objects: 1, ours: 1, managers: 1, marks: 0 });
      const { metadata } = await scene.system.read(ingredientKind, 'soup-leek');
      expect(metadata.labels).toMatchObject(labels);
      expect(metadata.ownerReferences).toHaveLength(1);
      expect(await releaseOf(childrenOfDinners(true))).toMatchObject({ objects: 1, ours: 0 });
    });
  });

  it.runIf(withCopies)('a release of copies takes our annotation off, once the original has none', async () => {
    const meta = (name: string) => ({
      name,
      namespace: scene.system.namespace,
      annotations: { 'outrigger.dev/owner': 'shop/one', theirs: 'x' },
    });
    const selector = { matchLabels: { a: 'b' } };
    const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'c' }] } };
    const apps = (kind: string) => existingKind<object>({ group: 'apps', version: 'v1', kind });
    const create = async (kind: string, metadata: object) => {
      const object = parseObject({ apiVersion: 'apps/v1', kind, metadata, spec: { replicas: 0, selector, template } });
      return await applyObject(scene.system.client, apps(kind), object, { fieldManager: 'test' });
    };
    const { metadata: deployment } = await create('Deployment', meta('web'));
    const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: deployment.uid, controller: true };
    await create('ReplicaSet', { ...meta('web-1'), ownerReferences: [owner] });
    const copies: ReleaseTarget = {
      resource: apps('ReplicaSet'),
      traces: { controllers: new Set(['former']), as: 'copy' },
    };
    expect(await releaseOf(copies)).toMatchObject({ ours: 0 });
    await scene.system.patch(apps('Deployment'), 'web', { metadata: { annotations: { 'outrigger.dev/owner': null } } });
    expect(await releaseOf(copies)).toMatchObject({ ours: 1, marks: 1 });
    expect((await scene.system.read(apps('ReplicaSet'), 'web-1')).metadata.annotations).toEqual({ theirs: 'x' });
  });
}
