// What a release leaves on objects, and what it does when it is disturbed; cases for any API server. Children are
// release-children-cases.ts; how the command finds its kinds and what it says is test/cli/release.test.ts.
import { describe, expect, it } from 'vitest';
import { waterTank, waterTankKind } from '../../src/controllers/water-tank.ts';
import { pausedAnnotation } from '../../src/core/names.ts';
import type { KubeClient } from '../../src/kube/client/client.ts';
import { findControllers, type ReleaseTarget, release } from '../../src/runtime/release.ts';
import { managersOf, type ReleaseScene } from '../operations/detach-fixture.ts';

const { signal } = new AbortController();
const tank: ReleaseTarget = {
  resource: waterTankKind,
  traces: { controllers: new Set([waterTank.name]), as: 'primary' },
};

/** Declares the cases. */
export function releaseCases(scene: ReleaseScene): void {
  const { releaseOf, tanks } = scene;

  describe('a release of a kind', () => {
    it('leaves no finalizer, no field owner and no annotation of ours, and spec and status as they were', async () => {
      await tanks('north');
      const before = await scene.system.patch(waterTankKind, 'north', {
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
      const after = await scene.system.read(waterTankKind, 'north');
      // (The user here writes as "outrigger", which is the client's own name.)
      expect(JSON.stringify(after.metadata)).not.toMatch(/outrigger[.-]/);
      expect(after.metadata.annotations).toEqual({ theirs: 'x' });
      expect(after.spec).toEqual(before.spec);
      expect(after.status).toEqual(before.status);
      expect(after.metadata.generation).toBe(before.metadata.generation);
    });

    it('leaves finalizers and fields to others who have some', async () => {
      await tanks('north');
      await scene.system.patch(waterTankKind, 'north', {
        metadata: { finalizers: ['example.com/theirs', 'outrigger.dev/water-tank'] },
      });
      expect((await releaseOf(tank)).failed).toEqual([]);
      const { metadata } = await scene.system.read(waterTankKind, 'north');
      expect(metadata.finalizers).toEqual(['example.com/theirs']);
      expect(metadata.managedFields?.map(({ manager }) => manager)).toContain('user');
      await scene.system.patch(waterTankKind, 'north', { metadata: { finalizers: null } });
    });

    it('lets an object go that waits for our finalizer, and names it', async () => {
      await tanks('north', 'south');
      await scene.system.delete(waterTankKind, 'north');
      expect(await scene.system.get(waterTankKind, 'north')).toBeDefined();
      const { deleting } = await releaseOf(tank);
      expect(deleting).toEqual([`${scene.system.namespace}/north`]);
      expect(await scene.system.get(waterTankKind, 'north')).toBeUndefined();
    });

    it('finds the controllers that no registry has any longer, by their finalizers and by who wrote the status', async () => {
      await tanks('north');
      await scene.system.patch(waterTankKind, 'north', {
        metadata: { finalizers: ['outrigger.dev/pump', 'example.com/theirs'] },
      });
      expect(await findControllers(scene.client, waterTankKind, { signal })).toEqual(new Set(['pump', 'water-tank']));
      await scene.system.patch(waterTankKind, 'north', { metadata: { finalizers: null } });
    });

    it('that others go on reconciling takes off what one controller left, and no pause of a user’s', async () => {
      await tanks('north');
      await scene.system.patch(waterTankKind, 'north', {
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
      const after = await scene.system.read(waterTankKind, 'north');
      expect(after.metadata.finalizers).toEqual(['outrigger.dev/water-tank']);
      expect(after.metadata.annotations).toEqual({ [pausedAnnotation]: 'true' });
      expect(managersOf(after)).toContain('outrigger-water-tank');
      await scene.system.patch(waterTankKind, 'north', { metadata: { finalizers: null } });
    });

    it('writes nothing when it only counts', async () => {
      await tanks('north');
      const before = await scene.system.read(waterTankKind, 'north');
      expect(await release(scene.client, tank, { dryRun: true, signal })).toMatchObject({ ours: 1, finalizers: 1 });
      expect(await scene.system.read(waterTankKind, 'north')).toEqual(before);
    });
  });

  describe('a release that is disturbed', () => {
    /** A client that does something else before the write that fits. */
    const meddled = (act: (path: string) => Promise<unknown>): KubeClient => ({
      ...scene.client,
      request: async (request) => {
        if (request.method === 'PATCH') await act(request.path);
        return await scene.client.request(request);
      },
    });

    it('keeps a finalizer that somebody adds between its read and its write', async () => {
      await tanks('north');
      let acted = false;
      const through = meddled(async () => {
        if (acted) return;
        acted = true;
        const finalizers = ['outrigger.dev/water-tank', 'example.com/late'];
        await scene.system.patch(waterTankKind, 'north', { metadata: { finalizers } });
      });
      expect(await releaseOf(tank, through)).toMatchObject({ ours: 1, failed: [] });
      expect((await scene.system.read(waterTankKind, 'north')).metadata.finalizers).toEqual(['example.com/late']);
      await scene.system.patch(waterTankKind, 'north', { metadata: { finalizers: null } });
    });

    it('passes over an object that goes meanwhile', async () => {
      await tanks('north');
      let acted = false;
      const through = meddled(async () => {
        if (acted) return;
        acted = true;
        await scene.system.patch(waterTankKind, 'north', { metadata: { finalizers: null } });
        await scene.system.delete(waterTankKind, 'north');
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
      expect(failed).toEqual([{ object: `${scene.system.namespace}/b`, why: 'no such luck' }]);
      expect(await releaseOf(tank)).toMatchObject({ objects: 3, ours: 1, failed: [] });
      expect(await release(scene.client, tank, { dryRun: true, signal })).toMatchObject({ objects: 3, ours: 0 });
    });
  });

  it('after a release and the deletion of everything nothing hangs, and a controller that runs again takes up its objects', async () => {
    await tanks('north', 'south');
    await releaseOf(tank);
    await scene.system.reconcile(waterTankKind, 'south');
    expect((await scene.system.read(waterTankKind, 'south')).metadata.finalizers).toEqual(['outrigger.dev/water-tank']);
    await releaseOf(tank);
    for (const name of ['north', 'south']) await scene.system.delete(waterTankKind, name);
    expect(await scene.system.list(waterTankKind)).toEqual([]);
  });
}
