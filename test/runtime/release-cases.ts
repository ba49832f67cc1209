// What a release leaves on objects and on their children, and what it does when it is disturbed; cases for any API server. How the
// command finds its kinds and what it says is test/cli/release.test.ts.
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { dinner } from '../../src/controllers/dinner.ts';
import { ingredientKind } from '../../src/controllers/ingredient.ts';
import { waterTank, waterTankKind } from '../../src/controllers/water-tank.ts';
import { existingKind } from '../../src/core/kind.ts';
import { pausedAnnotation } from '../../src/core/words.ts';
import { applyObject } from '../../src/kube/apply.ts';
import type { KubeClient } from '../../src/kube/client.ts';
import type { Connection } from '../../src/kube/connection.ts';
import { type KubeObject, parseObject } from '../../src/kube/object.ts';
import { findControllers, type ReleaseTarget, release } from '../../src/runtime/release.ts';
import { confine, install, type System, startSystem } from '../statements/harness.ts';

const { signal } = new AbortController();
const configMapKind = existingKind<object>({ group: '', version: 'v1', kind: 'ConfigMap' });
const dinnerKind = dinner.declares.resource;
const tank: ReleaseTarget = {
  resource: waterTankKind,
  traces: { controllers: new Set([waterTank.name]), as: 'primary' },
};
const childrenOfDinners = (orphan: boolean): ReleaseTarget => ({
  resource: ingredientKind,
  traces: { controllers: new Set([dinner.name]), as: 'child', orphan },
});

/** Declares the cases for a server; `withCopies`: the case of copies is among them. */
export function releaseCases(
  connect: () => Connection,
  { withCopies = true }: { readonly withCopies?: boolean } = {},
): void {
  let system: System;
  let client: KubeClient;
  beforeAll(() => install(connect()));
  beforeEach(async () => {
    system = await startSystem(connect());
    client = confine(system.client, system.namespace);
  });
  afterEach(async ({ task }) => await system.end({ failed: task.result?.state === 'fail' }));

  /** Makes tanks, and has them reconciled. */
  async function tanks(...names: readonly string[]): Promise<void> {
    for (const name of names) await system.apply(waterTankKind, name, { targetLevel: 40, capacity: 100 });
    await system.reconcile(waterTankKind, ...names);
  }
  async function aDinner(): Promise<void> {
    await system.apply(dinnerKind, 'soup', { ingredients: [{ name: 'leek', item: 'leek', amount: 1, unit: 'g' }] });
    await system.reconcile(dinnerKind, 'soup');
    await system.reconcile(ingredientKind, 'soup-leek');
  }
  const releaseOf = async (target: ReleaseTarget, through = client) =>
    await release(through, target, { dryRun: false, signal });
  const managersOf = ({ metadata }: KubeObject) =>
    (metadata.managedFields ?? []).map(({ manager = '' }) => manager).filter((name) => name.startsWith('outrigger-'));

  describe('a release of a kind', () => {
    it('leaves no finalizer, no field owner and no annotation of ours, and spec and status as they were', async () => {
      await tanks('north');
      const before = await system.patch(waterTankKind, 'north', {
        metadata: { annotations: { [pausedAnnotation]: 'true', theirs: 'x' } },
      });
      expect(before.metadata.finalizers).toHaveLength(1);
      expect(managersOf(before)).not.toEqual([]);
      expect(await releaseOf(tank)).toMatchObject({
        objects: 1,
        ours: 1,
        finalizers: 1,
        marks: 1,
        failed: [],
        deleting: [],
      });
      const after = await system.read(waterTankKind, 'north');
      // (The user here writes as "outrigger", which is the client's own name.)
      expect(JSON.stringify(after.metadata)).not.toMatch(/outrigger[.-]/);
      expect(after.metadata.annotations).toEqual({ theirs: 'x' });
      expect(after.spec).toEqual(before.spec);
      expect(after.status).toEqual(before.status);
      expect(after.metadata.generation).toBe(before.metadata.generation);
    });

    it('leaves finalizers and fields to others who have some', async () => {
      await tanks('north');
      await system.patch(waterTankKind, 'north', {
        metadata: { finalizers: ['example.com/theirs', 'outrigger.dev/water-tank'] },
      });
      expect((await releaseOf(tank)).failed).toEqual([]);
      const { metadata } = await system.read(waterTankKind, 'north');
      expect(metadata.finalizers).toEqual(['example.com/theirs']);
      expect(metadata.managedFields?.map(({ manager }) => manager)).toContain('user');
      await system.patch(waterTankKind, 'north', { metadata: { finalizers: null } });
    });

    it('lets an object go that waits for our finalizer, and names it', async () => {
      await tanks('north', 'south');
      await system.delete(waterTankKind, 'north');
      expect(await system.get(waterTankKind, 'north')).toBeDefined();
      const { deleting } = await releaseOf(tank);
      expect(deleting).toEqual([`${system.namespace}/north`]);
      expect(await system.get(waterTankKind, 'north')).toBeUndefined();
    });

    it('finds the controllers that no registry has any longer, by their finalizers and by who wrote the status', async () => {
      await tanks('north');
      await system.patch(waterTankKind, 'north', {
        metadata: { finalizers: ['outrigger.dev/pump', 'example.com/theirs'] },
      });
      expect(await findControllers(client, waterTankKind, { signal })).toEqual(new Set(['pump', 'water-tank']));
      await system.patch(waterTankKind, 'north', { metadata: { finalizers: null } });
    });

    it('that others go on reconciling takes off what one controller left, and no pause of a user’s', async () => {
      await tanks('north');
      await system.patch(waterTankKind, 'north', {
        metadata: {
          finalizers: ['outrigger.dev/former', 'outrigger.dev/water-tank'],
          annotations: { [pausedAnnotation]: 'true' },
        },
      });
      const traces = { controllers: new Set(['former']), as: 'primary', shared: true } as const;
      expect(await releaseOf({ resource: waterTankKind, traces })).toMatchObject({
        finalizers: 1,
        managers: 0,
        marks: 0,
      });
      const after = await system.read(waterTankKind, 'north');
      expect(after.metadata.finalizers).toEqual(['outrigger.dev/water-tank']);
      expect(after.metadata.annotations).toEqual({ [pausedAnnotation]: 'true' });
      expect(managersOf(after)).toContain('outrigger-water-tank');
      await system.patch(waterTankKind, 'north', { metadata: { finalizers: null } });
    });

    it('writes nothing when it only counts', async () => {
      await tanks('north');
      const before = await system.read(waterTankKind, 'north');
      expect(await release(client, tank, { dryRun: true, signal })).toMatchObject({ ours: 1, finalizers: 1 });
      expect(await system.read(waterTankKind, 'north')).toEqual(before);
    });
  });

  describe('a release of children', () => {
    it('leaves no label, annotation or field owner of their maker, and what they are to others: objects with an owner', async () => {
      await aDinner();
      const before = await system.read(ingredientKind, 'soup-leek');
      expect(await releaseOf(childrenOfDinners(false))).toMatchObject({ ours: 1, finalizers: 0, marks: 3 });
      const after = await system.read(ingredientKind, 'soup-leek');
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
      expect((await system.read(ingredientKind, 'soup-leek')).metadata).not.toHaveProperty('ownerReferences');
    });

    it('leaves nobody as the owner of fields that its maker alone had owned', async () => {
      const labels = { 'outrigger.dev/controller': 'former', 'outrigger.dev/owner-uid': 'gone' };
      const metadata = { name: 'left', namespace: system.namespace, labels };
      const made = parseObject({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { a: 'b' } });
      await applyObject(system.client, configMapKind, made, { fieldManager: 'outrigger-former' });
      await releaseOf({ resource: configMapKind, traces: { controllers: new Set(['former']), as: 'child' } });
      const after = await system.read(configMapKind, 'left');
      expect(after.metadata).not.toHaveProperty('managedFields');
      expect(after.data).toEqual({ a: 'b' });
    });

    it('of another controller by now takes the fields off that the former still owns, and leaves the other’s marks', async () => {
      await aDinner();
      const labels = { 'outrigger.dev/controller': 'other' };
      await system.patch(ingredientKind, 'soup-leek', { metadata: { labels } });
      expect(await releaseOf(childrenOfDinners(true))).toMatchObject({ objects: 1, ours: 1, managers: 1, marks: 0 });
      const { metadata } = await system.read(ingredientKind, 'soup-leek');
      expect(metadata.labels).toMatchObject(labels);
      expect(metadata.ownerReferences).toHaveLength(1);
      expect(await releaseOf(childrenOfDinners(true))).toMatchObject({ objects: 1, ours: 0 });
    });
  });

  it.runIf(withCopies)('a release of copies takes our annotation off, once the original has none', async () => {
    const meta = (name: string) => ({
      name,
      namespace: system.namespace,
      annotations: { 'outrigger.dev/owner': 'shop/one', theirs: 'x' },
    });
    const selector = { matchLabels: { a: 'b' } };
    const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'c' }] } };
    const apps = (kind: string) => existingKind<object>({ group: 'apps', version: 'v1', kind });
    const create = async (kind: string, metadata: object) => {
      const object = parseObject({ apiVersion: 'apps/v1', kind, metadata, spec: { replicas: 0, selector, template } });
      return await applyObject(system.client, apps(kind), object, { fieldManager: 'test' });
    };
    const { metadata: deployment } = await create('Deployment', meta('web'));
    const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: deployment.uid, controller: true };
    await create('ReplicaSet', { ...meta('web-1'), ownerReferences: [owner] });
    const copies: ReleaseTarget = {
      resource: apps('ReplicaSet'),
      traces: { controllers: new Set(['former']), as: 'copy' },
    };
    expect(await releaseOf(copies)).toMatchObject({ ours: 0 });
    await system.patch(apps('Deployment'), 'web', { metadata: { annotations: { 'outrigger.dev/owner': null } } });
    expect(await releaseOf(copies)).toMatchObject({ ours: 1, marks: 1 });
    expect((await system.read(apps('ReplicaSet'), 'web-1')).metadata.annotations).toEqual({ theirs: 'x' });
  });

  describe('a release that is disturbed', () => {
    /** A client that does something else before the write that fits. */
    const meddled = (act: (path: string) => Promise<unknown>): KubeClient => ({
      ...client,
      request: async (request) => {
        if (request.method === 'PATCH') await act(request.path);
        return await client.request(request);
      },
    });

    it('keeps a finalizer that somebody adds between its read and its write', async () => {
      await tanks('north');
      let acted = false;
      const through = meddled(async () => {
        if (acted) return;
        acted = true;
        const finalizers = ['outrigger.dev/water-tank', 'example.com/late'];
        await system.patch(waterTankKind, 'north', { metadata: { finalizers } });
      });
      expect(await releaseOf(tank, through)).toMatchObject({ ours: 1, failed: [] });
      expect((await system.read(waterTankKind, 'north')).metadata.finalizers).toEqual(['example.com/late']);
      await system.patch(waterTankKind, 'north', { metadata: { finalizers: null } });
    });

    it('passes over an object that goes meanwhile', async () => {
      await tanks('north');
      let acted = false;
      const through = meddled(async () => {
        if (acted) return;
        acted = true;
        await system.patch(waterTankKind, 'north', { metadata: { finalizers: null } });
        await system.delete(waterTankKind, 'north');
      });
      expect(await releaseOf(tank, through)).toMatchObject({ failed: [] });
    });

    it('names the object that could not be written, releases the others, and is done when it is run again', async () => {
      await tanks('a', 'b', 'c');
      const failing = meddled(async (path) => {
        if (path.endsWith('/b')) throw new Error('no such luck');
      });
      const { ours, failed } = await releaseOf(tank, failing);
      expect(ours).toBe(2);
      expect(failed).toEqual([{ object: `${system.namespace}/b`, why: 'no such luck' }]);
      expect(await releaseOf(tank)).toMatchObject({ objects: 3, ours: 1, failed: [] });
      expect(await release(client, tank, { dryRun: true, signal })).toMatchObject({ objects: 3, ours: 0 });
    });
  });

  it('after a release and the deletion of everything nothing hangs, and a controller that runs again takes up its objects', async () => {
    await tanks('north', 'south');
    await releaseOf(tank);
    await system.reconcile(waterTankKind, 'south');
    expect((await system.read(waterTankKind, 'south')).metadata.finalizers).toEqual(['outrigger.dev/water-tank']);
    await releaseOf(tank);
    for (const name of ['north', 'south']) await system.delete(waterTankKind, name);
    expect(await system.list(waterTankKind)).toEqual([]);
  });
}
