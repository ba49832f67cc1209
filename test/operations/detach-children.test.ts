// Detaching controllers from the children that they created, and from copies of children. Cases for any API server.
import { expect, inject, it } from 'vitest';
import { foreignKind } from '../../src/api/foreign-kind.ts';
import { dinner } from '../../src/controllers/dinner.ts';
import { Ingredient } from '../../src/controllers/ingredient.ts';
import { applyObject } from '../../src/kube/apply/apply.ts';
import { parseObject } from '../../src/kube/client/object.ts';
import { ConfigMap } from '../../src/kubernetes.ts';
import type { DetachTarget } from '../../src/operations/detach.ts';
import { useApiServer } from '../harness/api-server.ts';
import { detachFixture, managersOf } from './detach-fixture.ts';

const Dinner = dinner.declaration.resource;
const childrenOfDinners = (orphan: boolean): DetachTarget => ({
  resource: Ingredient,
  scope: { controllers: new Set([dinner.name]), as: 'child', orphan },
});

const { connect } = await useApiServer();
const fixture = detachFixture(connect);
const { detachFrom } = fixture;
async function aDinner(): Promise<void> {
  const { system } = fixture;
  await system.apply(Dinner, 'soup', { ingredients: [{ name: 'leek', item: 'leek', amount: 1, unit: 'g' }] });
  await system.reconcile(Dinner, 'soup');
  await system.reconcile(Ingredient, 'soup-leek');
}

it('detach removes labels, annotations and field ownership of children, and keeps their owner', async () => {
  await aDinner();
  const before = await fixture.system.read(Ingredient, 'soup-leek');
  expect(await detachFrom(childrenOfDinners(false))).toMatchObject({ affected: 1, finalizers: 0, metadata: 3 });
  const after = await fixture.system.read(Ingredient, 'soup-leek');
  expect(managersOf(after)).not.toContain('outrigger-dinner');
  expect(JSON.stringify([after.metadata.labels ?? {}, after.metadata.annotations ?? {}])).not.toContain('outrigger');
  expect(after.metadata.ownerReferences).toEqual(before.metadata.ownerReferences);
  // The child also has a controller of its own, which still runs.
  expect(after.metadata.finalizers).toEqual(['outrigger.dev/ingredient']);
  expect(managersOf(after)).toContain('outrigger-ingredient');
});

it('detach with `orphan` removes the owner references of children', async () => {
  await aDinner();
  await detachFrom(childrenOfDinners(true));
  expect((await fixture.system.read(Ingredient, 'soup-leek')).metadata).not.toHaveProperty('ownerReferences');
});

it('detach removes the managed fields of a child whose only manager was the controller', async () => {
  const labels = { 'outrigger.dev/controller': 'former', 'outrigger.dev/owner-uid': 'gone' };
  const metadata = { name: 'left', namespace: fixture.system.namespace, labels };
  const made = parseObject({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { a: 'b' } });
  await applyObject(fixture.system.client, ConfigMap, made, { fieldManager: 'outrigger-former' });
  await detachFrom({ resource: ConfigMap, scope: { controllers: new Set(['former']), as: 'child' } });
  const after = await fixture.system.read(ConfigMap, 'left');
  expect(after.metadata).not.toHaveProperty('managedFields');
  expect(after.data).toEqual({ a: 'b' });
});

it('detach of a former controller keeps the labels of the child’s new controller', async () => {
  await aDinner();
  const labels = { 'outrigger.dev/controller': 'other' };
  await fixture.system.patch(Ingredient, 'soup-leek', { metadata: { labels } });
  const counts = { objects: 1, affected: 1, managers: 1, metadata: 0 };
  expect(await detachFrom(childrenOfDinners(true))).toMatchObject(counts);
  const { metadata } = await fixture.system.read(Ingredient, 'soup-leek');
  expect(metadata.labels).toMatchObject(labels);
  expect(metadata.ownerReferences).toHaveLength(1);
  expect(await detachFrom(childrenOfDinners(true))).toMatchObject({ objects: 1, affected: 0 });
});

it.runIf(inject('apiServer') === 'memory')(
  'detach of copies removes the annotation after the original has none',
  async () => {
    const meta = (name: string) => ({
      name,
      namespace: fixture.system.namespace,
      annotations: { 'outrigger.dev/owner': 'shop/one', foreign: 'x' },
    });
    const selector = { matchLabels: { a: 'b' } };
    const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'c' }] } };
    const apps = (kind: string) => foreignKind({ group: 'apps', version: 'v1', kind });
    const create = async (kind: string, metadata: object) => {
      const object = parseObject({ apiVersion: 'apps/v1', kind, metadata, spec: { replicas: 0, selector, template } });
      return await applyObject(fixture.system.client, apps(kind), object, { fieldManager: 'test' });
    };
    const { metadata: deployment } = await create('Deployment', meta('web'));
    const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: deployment.uid, controller: true };
    await create('ReplicaSet', { ...meta('web-1'), ownerReferences: [owner] });
    const copies: DetachTarget = {
      resource: apps('ReplicaSet'),
      scope: { controllers: new Set(['former']), as: 'copy' },
    };
    expect(await detachFrom(copies)).toMatchObject({ affected: 0 });
    await fixture.system.patch(apps('Deployment'), 'web', {
      metadata: { annotations: { 'outrigger.dev/owner': null } },
    });
    expect(await detachFrom(copies)).toMatchObject({ affected: 1, metadata: 1 });
    expect((await fixture.system.read(apps('ReplicaSet'), 'web-1')).metadata.annotations).toEqual({ foreign: 'x' });
  },
);
