// Ownership of children, for every controller (X15): decided by the uid of the controller reference alone. A foreign object is left alone and
// reported; an own child is corrected, whatever was changed.
import { expect, it } from 'vitest';
import { isRecord } from '../../src/core/json.ts';
import { controllerLabel, fieldManagerOf } from '../../src/core/names.ts';
import { applyObject } from '../../src/kube/apply/apply.ts';
import { ownedFields } from '../../src/kube/apply/managed-fields.ts';
import { isInvalid, isNotFound } from '../../src/kube/client/errors.ts';
import { type ParsedOwnerReference, parseObject } from '../../src/kube/client/object.ts';
import { collectionPath } from '../../src/kube/client/path.ts';
import { type Child, childrenOf, isAbout } from './children.ts';
import type { Harness } from './harness.ts';
import type { Fixture } from './system.ts';
import { edgesOf } from './variants.ts';
import { isWrite, lineOf } from './wire.ts';

const missingUid = '00000000-0000-4000-8000-000000000000';
const hold = 'example.com/hold';

/** The controllers with children. */
const parentsOf = ({ registry }: Harness) => registry.filter(({ declaration }) => declaration.owns.length > 0);

/** Declares X15 for names that are taken, and for controllers without children, which write only their own objects. */
export function takenCases(harness: Harness): void {
  it.each(
    parentsOf(harness),
  )('X15, B20, B21, F7, F8, M20, M23, V7: $name: a foreign object with a child’s name stays unchanged, the status has NotOwned, and its deletion heals', async (controller) => {
    await using system = await harness.settled(controller);
    const other = await createOwner(system);
    for (const kind of controller.declaration.owns) {
      const children = await childrenOf(system);
      const child = children.find((one) => one.kind === kind);
      if (child === undefined) throw new Error(`no ${kind.kind}`);
      await system.delete(system.kind, system.name);
      for (const one of children) await system.delete(one.kind, one.name).catch(unlessGone);
      await system.settle();
      const from = system.calls.length;
      const { metadata: _, ...content } = child.owned;
      const { namespace } = system;
      const { name } = child;
      const taken = {
        apiVersion: kind.apiVersion,
        kind: kind.kind,
        ...content,
        // The finalizer keeps the garbage collector from removing it while its owner is one that is gone.
        metadata: { name, namespace, labels: { 'example.com/whose': 'mine' }, finalizers: [hold] },
      };
      await applyObject(system.client, kind, taken, { fieldManager: 'another-manager' });
      await system.create();
      await system.rest();
      await untouched(system, child, from);

      // Any other owner is foreign: a controller of another kind, or a deleted object of the same name.
      const { kind: ownKind, apiVersion } = system.kind;
      for (const reference of [other, { apiVersion, kind: ownKind, name: system.name, uid: missingUid }]) {
        await giveTo(system, child, reference);
        await system.reconcileOnce();
        await untouched(system, child, from);
      }
      await system.patch(kind, name, { metadata: { finalizers: null } }).catch(() => undefined);
      await system.delete(kind, name).catch(unlessGone);
      await system.settle();
      expect((await childrenOf(system)).map((one) => one.path)).toContain(child.path);
    }
  });

  it.each(
    harness.registry.filter((one) => !parentsOf(harness).includes(one)),
  )('X15: $name: has no children, and writes only its own object and Events', async (controller) => {
    await using system = await harness.settled(controller);
    const own = system.calls.filter((call) => call.controller === controller.name && isWrite(call));
    expect(
      own.map(lineOf).filter((line) => !line.includes(`/${system.kind.plural}/`) && !line.includes('/events')),
    ).toEqual([]);
  });
}

/** Declares X15 for children with several owners, and for hostile states of own children. */
export function damageCases(harness: Harness): void {
  it.each(
    parentsOf(harness),
  )('X15: $name: an additional owner of a child that is no controller stays and causes no write, and any drift of a child’s owned fields is corrected by the next reconcile', async (controller) => {
    await using system = await harness.settled(controller);
    const other = await createOwner(system);
    for (const { kind, name, live } of await childrenOf(system)) {
      const { ownerReferences = [] } = live.metadata;
      const two = { metadata: { ownerReferences: [...ownerReferences, { ...other, controller: true }] } };
      await expect(system.patch(kind, name, two)).rejects.toSatisfy(isInvalid);
      await system.patch(kind, name, { metadata: { ownerReferences: [...ownerReferences, other] } });
      expect((await system.reconcileOnce()).filter(isWrite).map(lineOf)).toEqual([]);
      expect((await system.read(kind, name)).metadata.ownerReferences).toHaveLength(2);
      await system.patch(kind, name, { metadata: { ownerReferences } });
    }
    const settled = await system.endState();
    for (const { kind, name, owned } of await childrenOf(system)) {
      // An object with the label of another controller is that controller's: the admission policy refuses the repair.
      const all = edgesOf(withoutReferences(owned));
      const own = all.filter((edited) => !isLabelledAsAnother(edited, controller.name));
      let edits = all.length - own.length;
      for (const edited of own) {
        const before = await system.read(kind, name);
        const accepted = await system.patch(kind, name, Object(edited)).catch((error: unknown) => {
          if (isInvalid(error)) return before;
          throw error;
        });
        if (accepted.metadata.resourceVersion === before.metadata.resourceVersion) continue;
        edits += 1;
        await system.reconcileOnce();
        const after = ownedFields(await system.read(kind, name), fieldManagerOf(controller.name));
        expect(after, JSON.stringify(edited)).toEqual(owned);
      }
      expect(edits, `edits of ${kind.kind} ${name}`).toBeGreaterThan(2);
    }
    await system.settle();
    expect(await system.endState()).toEqual(settled);
  });
}

/** Declares X15 for children that others take. That a deleted one is created again is X3. */
export function releaseCases(harness: Harness): void {
  it.each(parentsOf(harness))('X15: $name: a child with a new controller reference is released', async (controller) => {
    await using system = await harness.settled(controller);
    const before = await system.endState();
    const other = await createOwner(system);
    for (const kind of controller.declaration.owns) {
      const [child] = (await childrenOf(system)).filter((one) => one.kind === kind);
      if (child === undefined) throw new Error(`no ${kind.kind}`);
      const { ownerReferences } = child.live.metadata;
      await giveTo(system, child, other);
      const from = system.calls.length;
      await system.rest();
      await untouched(system, child, from);
      await system.patch(kind, child.name, { metadata: { ownerReferences } });
      await system.settle();
      expect(await system.endState()).toEqual(before);
    }
  });
}

/** Gives a child to another controller. */
async function giveTo(
  { client }: Fixture,
  { path }: Child,
  reference: Omit<ParsedOwnerReference, 'controller'>,
): Promise<void> {
  const body = { metadata: { ownerReferences: [{ ...reference, controller: true }] } };
  await client.request({ method: 'PATCH', path, contentType: 'application/merge-patch+json', body });
}

function isLabelledAsAnother(edited: unknown, controller: string): boolean {
  const text = JSON.stringify(edited);
  return text.includes(`"${controllerLabel}":"`) && !text.includes(`"${controllerLabel}":"${controller}"`);
}

function unlessGone(error: unknown): void {
  if (!isNotFound(error)) throw error;
}

/** Creates an object that can be an owner, and returns a reference to it. */
async function createOwner({ client, namespace }: Fixture): Promise<Omit<ParsedOwnerReference, 'controller'>> {
  const path = collectionPath({ group: '', version: 'v1', plural: 'configmaps', namespaced: true }, namespace);
  const { body } = await client.request({ method: 'POST', path, body: { metadata: { name: 'another-owner' } } });
  const { uid = '' } = parseObject(body).metadata;
  return { apiVersion: 'v1', kind: 'ConfigMap', name: 'another-owner', uid };
}

/** No controller has written to the object, none owns it, and the subject's status reports it. */
async function untouched(system: Fixture, child: Child, from: number): Promise<void> {
  const own = system.calls.slice(from).filter((call) => call.controller === system.controller.name);
  expect(own.filter((call) => isWrite(call) && isAbout(child)(call)).map(lineOf)).toEqual([]);
  const { uid } = (await system.subject()).metadata;
  const live = await system.read(child.kind, child.name);
  expect(live.metadata.ownerReferences?.map((one) => one.uid) ?? []).not.toContain(uid);
  const { status } = await system.subject();
  expect(status).toMatchObject({
    conditions: expect.arrayContaining([expect.objectContaining({ reason: 'NotOwned' })]),
  });
}

/** The fields that a controller applies to a child, without the owner reference: without it the child would be foreign. */
export function withoutReferences(owned: Child['owned']): Child['owned'] {
  const { ownerReferences: _, ...metadata } = isRecord(owned.metadata) ? owned.metadata : {};
  return { ...owned, metadata };
}
