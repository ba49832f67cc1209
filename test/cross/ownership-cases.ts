// Whose a child is, for every controller (X15): by the uid of its controller reference and by nothing else. What is not its own is
// left as it is and said to be so; what is its own is made so again, whatever was done to it.
import { expect, it } from 'vitest';
import { fieldManagerOf } from '../../src/core/names.ts';
import { applyObject } from '../../src/kube/apply/apply.ts';
import { isInvalid, isNotFound } from '../../src/kube/client/errors.ts';
import { ownedBy } from '../../src/kube/apply/managed-fields.ts';
import { type OwnerReference, parseObject } from '../../src/kube/client/object.ts';
import { collectionPath } from '../../src/kube/client/path.ts';
import { isRecord } from '../../src/kube/record.ts';
import { type Child, childrenOf, isAbout } from './children.ts';
import { alike } from './end-state.ts';
import type { Stage } from './system.ts';
import type { Theatre } from './theatre.ts';
import { edgesOf } from './variants.ts';
import { isWrite, lineOf } from './wire.ts';

const nobody = '00000000-0000-4000-8000-000000000000';

/** Declares X15: names that are taken. */
export function takenCases(theatre: Theatre): void {
  const everyOne = it.each(theatre.registry);

  everyOne(
    'X15: $name: an object of somebody else under a child’s name stays as it is, NotOwned is said, and its end heals',
    async (controller) => {
      for (const kind of controller.declares.owns) {
        await using stage = await theatre.settled(controller);
        const children = await childrenOf(stage);
        const child = children.find((one) => one.kind === kind);
        if (child === undefined) throw new Error(`no ${kind.kind}`);
        await stage.delete(stage.kind, stage.name);
        for (const one of children) await stage.delete(one.kind, one.name).catch(unlessGone);
        await stage.settle();
        const from = stage.calls.length;
        const { metadata: _, ...content } = child.owned;
        const { namespace } = stage;
        const { name } = child;
        const taken = {
          apiVersion: kind.apiVersion,
          kind: kind.kind,
          ...content,
          metadata: { name, namespace, labels: { 'example.com/whose': 'mine' } },
        };
        await applyObject(stage.client, kind, taken, { fieldManager: 'somebody' });
        await stage.create();
        await stage.rest();
        await untouched(stage, child, from);

        // Other owners are no difference: a controller of another kind, or an object of the same name that is no more.
        const other = await somebody(stage);
        const { kind: ownKind, apiVersion } = stage.kind;
        for (const reference of [other, { apiVersion, kind: ownKind, name: stage.name, uid: nobody }]) {
          await giveTo(stage, child, reference);
          // A garbage collector takes what belongs to nobody that is; that is no business of ours.
          if ((await stage.get(kind, name)) === undefined) break;
          await stage.visit();
          await untouched(stage, child, from);
        }
        await stage.delete(kind, name).catch(unlessGone);
        await stage.settle();
        expect((await childrenOf(stage)).map((one) => one.path)).toContain(child.path);
      }
      // Who owns nothing writes nothing but its own object.
      if (controller.declares.owns.length === 0) {
        await using stage = await theatre.settled(controller);
        const own = stage.calls.filter((call) => call.controller === controller.name && isWrite(call));
        expect(
          own.map(lineOf).filter((line) => !line.includes(`/${stage.kind.plural}/`) && !line.includes('/events')),
        ).toEqual([]);
      }
    },
  );
}

/** Declares X15: children with several owners. */
export function ownersCases(theatre: Theatre): void {
  const everyOne = it.each(theatre.registry);

  everyOne(
    'X15: $name: a child has one controller; another owner that is none stays, and costs nothing',
    async (controller) => {
      await using stage = await theatre.settled(controller);
      const other = await somebody(stage);
      for (const { kind, name, live } of await childrenOf(stage)) {
        const { ownerReferences = [] } = live.metadata;
        const two = { metadata: { ownerReferences: [...ownerReferences, { ...other, controller: true }] } };
        await expect(stage.patch(kind, name, two)).rejects.toSatisfy(isInvalid);
        await stage.patch(kind, name, { metadata: { ownerReferences: [...ownerReferences, other] } });
        expect((await stage.visit()).filter(isWrite).map(lineOf)).toEqual([]);
        expect((await stage.read(kind, name)).metadata.ownerReferences).toHaveLength(2);
      }
    },
  );
}

/** Declares what the issue calls hostile states of children that are its own. */
export function damageCases(theatre: Theatre): void {
  const everyOne = it.each(theatre.registry);

  everyOne(
    'X15: $name: whatever a hand changes of what is the controller’s in a child is put right by the next run',
    async (controller) => {
      await using stage = await theatre.settled(controller);
      const settled = await stage.endState();
      for (const { kind, name, owned } of await childrenOf(stage)) {
        let edits = 0;
        for (const edited of edgesOf(withoutReferences(owned))) {
          const before = await stage.read(kind, name);
          const accepted = await stage.patch(kind, name, Object(edited)).catch((error: unknown) => {
            if (isInvalid(error)) return before;
            throw error;
          });
          if (accepted.metadata.resourceVersion === before.metadata.resourceVersion) continue;
          edits += 1;
          await stage.visit();
          const after = ownedBy(await stage.read(kind, name), fieldManagerOf(controller.name));
          expect(after, JSON.stringify(edited)).toEqual(owned);
        }
        expect(edits, `edits of ${kind.kind} ${name}`).toBeGreaterThan(2);
      }
      await stage.settle();
      expect(await stage.endState()).toEqual(settled);
    },
  );
}

/** Declares X15: children that come and go otherwise. */
export function lossCases(theatre: Theatre): void {
  const everyOne = it.each(theatre.registry);

  everyOne('X15: $name: a child that was handed to another controller is let go', async (controller) => {
    for (const kind of controller.declares.owns) {
      await using stage = await theatre.settled(controller);
      const before = await stage.endState();
      const [child] = (await childrenOf(stage)).filter((one) => one.kind === kind);
      if (child === undefined) throw new Error(`no ${kind.kind}`);
      const { ownerReferences } = child.live.metadata;
      const other = await somebody(stage);
      await giveTo(stage, child, other);
      const from = stage.calls.length;
      await stage.rest();
      await untouched(stage, child, from);
      await stage.patch(kind, child.name, { metadata: { ownerReferences } });
      await stage.settle();
      expect(await stage.endState()).toEqual(before);
    }
  });

  everyOne('X15: $name: a child that is deleted is made again, as it was', async (controller) => {
    await using stage = await theatre.settled(controller);
    const settled = await stage.endState();
    for (const { kind, name, live } of await childrenOf(stage)) {
      await stage.delete(kind, name);
      await stage.settle();
      expect((await stage.read(kind, name)).metadata.uid).not.toBe(live.metadata.uid);
    }
    // Another pod has another address, and some say so.
    expect(alike(await stage.endState())).toEqual(alike(settled));
    expect(await stage.deadLetters(controller.name)).toEqual([]);
  });
}

/** Gives a child to another controller. */
async function giveTo(
  { client }: Stage,
  { path }: Child,
  reference: Omit<OwnerReference, 'controller'>,
): Promise<void> {
  const body = { metadata: { ownerReferences: [{ ...reference, controller: true }] } };
  await client.request({ method: 'PATCH', path, contentType: 'application/merge-patch+json', body });
}

function unlessGone(error: unknown): void {
  if (!isNotFound(error)) throw error;
}

/** Makes an object that can be an owner, and returns a reference to it. */
async function somebody({ client, namespace }: Stage): Promise<Omit<OwnerReference, 'controller'>> {
  const path = collectionPath({ group: '', version: 'v1', plural: 'configmaps', namespaced: true }, namespace);
  const { body } = await client.request({ method: 'POST', path, body: { metadata: { name: 'somebody' } } });
  const { uid = '' } = parseObject(body).metadata;
  return { apiVersion: 'v1', kind: 'ConfigMap', name: 'somebody', uid };
}

/** Nobody of ours has written to it, it is nobody's of ours, and the subject says so. */
async function untouched(stage: Stage, child: Child, from: number): Promise<void> {
  const own = stage.calls.slice(from).filter((call) => call.controller === stage.controller.name);
  expect(own.filter((call) => isWrite(call) && isAbout(child)(call)).map(lineOf)).toEqual([]);
  const { uid } = (await stage.subject()).metadata;
  const live = await stage.read(child.kind, child.name);
  expect(live.metadata.ownerReferences?.map((one) => one.uid) ?? []).not.toContain(uid);
  const { status } = await stage.subject();
  expect(status).toMatchObject({
    conditions: expect.arrayContaining([expect.objectContaining({ reason: 'NotOwned' })]),
  });
}

/** What a controller says of a child, but whose it is: without the reference it would not be the controller's any more. */
export function withoutReferences(owned: Child['owned']): Child['owned'] {
  const { ownerReferences: _, ...metadata } = isRecord(owned.metadata) ? owned.metadata : {};
  return { ...owned, metadata };
}
