// A reconcile at the end of an object's life, and what it does to others: finalizers, children, Events. On any API server.
import { describe, expect, it } from 'vitest';
import { existingKind } from '../../src/core/kind.ts';
import type { Finalized } from '../../src/core/result.ts';
import { applyObject } from '../../src/kube/apply/apply.ts';
import type { Connection } from '../../src/kube/connection.ts';
import type { KubeObject } from '../../src/kube/client/object.ts';
import { getObject, listPages } from '../../src/kube/client/read.ts';
import { built, configMap, widget, widgetsOn } from './widgets.ts';

const eventKind = existingKind<object>({ group: '', version: 'v1', kind: 'Event' });

/** Declares the cases for a server. */
export function reconcileFamilyCases(connect: () => Connection): void {
  const widgets = widgetsOn(connect);
  const { apply, condition, read, reconcile, remove } = widgets;

  describe('a deletion', () => {
    it('runs finalize, and the object goes when it is done', async () => {
      await apply('a', { size: 3 });
      await reconcile('a');
      await remove('a');
      expect(await read('a')).toBeDefined();
      await reconcile('a');
      expect(await read('a')).toBeUndefined();
    });

    it.each([
      { next: 'and stays away', recreated: false, outcome: { type: 'nothing', why: 'gone' } },
      { next: 'and is created anew', recreated: true, outcome: { type: 'done' } },
    ])('that the server lets happen in spite of the finalizer runs finalize ($next)', async ({
      recreated,
      outcome,
    }) => {
      const { metadata } = await apply('a', { size: 3 });
      const make = widgets.behaviour.reconcile;
      widgets.behaviour.reconcile = async (object, context) => {
        widgets.behaviour.reconcile = make;
        await widgets.vanish('a');
        if (recreated) await apply('a', { size: 4 });
        return await make(object, context);
      };
      const finalized: string[] = [];
      widgets.behaviour.finalize = async ({ metadata: { uid } }) => {
        finalized.push(uid);
        return 'done';
      };
      expect((await reconcile('a')).outcome).toEqual(outcome);
      expect(finalized).toEqual([metadata.uid]);
      expect((await read('a'))?.status).toEqual(recreated ? expect.objectContaining({ size: 4 }) : undefined);
    });

    it('that the server lets happen in spite of the finalizer has finalize run until it is done', async () => {
      const { metadata } = await apply('a', { size: 3, parts: ['part'] });
      const make = widgets.behaviour.reconcile;
      widgets.behaviour.reconcile = async (object, context) => {
        const made = await make(object, context);
        await widgets.vanish('a');
        return made;
      };
      const answers: (Finalized | Error)[] = [{ requeueAfterSeconds: 7, reason: 'Closing' }, new Error('away'), 'done'];
      const finalized: string[] = [];
      widgets.behaviour.finalize = async ({ metadata: { uid } }) => {
        finalized.push(uid);
        const answer = answers.shift() ?? 'done';
        if (answer instanceof Error) throw answer;
        return answer;
      };
      // The finalizer and the child: what was done before is not forgotten for the finalizing.
      expect(await reconcile('a')).toEqual({ outcome: { type: 'nothing', why: 'gone' }, writes: 2 });
      expect([finalized, answers]).toEqual([Array(3).fill(metadata.uid), []]);
      expect(widgets.waited).toEqual([7, 2]);
    });

    it.each([
      // The second call is that of the next look, which finds the object being deleted.
      { next: 'and leaves the rest to the next look', gone: false, times: 2 },
      { next: 'and until done when it has gone meanwhile', gone: true, times: 3 },
    ])('during a reconcile runs finalize at once $next', async ({ gone, times }) => {
      await apply('a', { size: 3 });
      const make = widgets.behaviour.reconcile;
      widgets.behaviour.reconcile = async (object, context) => {
        await remove('a');
        return await make(object, context);
      };
      let finalized = 0;
      widgets.behaviour.finalize = async () => {
        finalized += 1;
        // Another has finalized it too, and was done.
        if (gone && finalized === 1) await widgets.vanish('a').catch(() => undefined);
        return finalized === 3 ? 'done' : { requeueAfterSeconds: 7, reason: 'Closing' };
      };
      expect((await reconcile('a')).outcome.type).toBe(gone ? 'nothing' : 'done');
      expect(finalized).toBe(times);
      expect((await read('a'))?.metadata.finalizers?.length).toBe(gone ? undefined : 1);
    });

    it('that never happened runs no finalize, however stale the version', async () => {
      await apply('a', { size: 3 });
      let finalized = 0;
      widgets.behaviour.finalize = async () => {
        finalized += 1;
        return 'done';
      };
      let size = 10;
      widgets.behaviour.reconcile = async () => {
        size += 1;
        await apply('a', { size });
        return { status: { size }, conditions: { Built: built } };
      };
      expect((await reconcile('a')).outcome).toMatchObject({ type: 'deferred', why: 'conflict' });
      expect(finalized).toBe(0);
    });

    it('that finalize cannot finish keeps the object and says why', async () => {
      await apply('a', { size: 3 });
      await reconcile('a');
      await remove('a');
      widgets.behaviour.finalize = async () => {
        throw new Error('pantry down');
      };
      expect((await reconcile('a')).outcome.type).toBe('failed');
      expect(condition(await read('a'), 'Finalized')).toMatchObject({ status: 'False', message: 'pantry down' });
      widgets.behaviour.finalize = async () => ({ requeueAfterSeconds: 4, reason: 'Draining' });
      expect((await reconcile('a')).outcome).toEqual({ type: 'done', requeueAfterSeconds: 4 });
      expect(condition(await read('a'), 'Finalized')).toMatchObject({ status: 'False', reason: 'Draining' });
    });

    it('takes away only our finalizer', async () => {
      await apply('a', { size: 3 }, { finalizers: ['example.com/other'] });
      await reconcile('a');
      await remove('a');
      await reconcile('a');
      expect((await read('a'))?.metadata.finalizers).toEqual(['example.com/other']);
    });

    it('before the first reconcile is left alone', async () => {
      await apply('a', { size: 3 }, { finalizers: ['example.com/other'] });
      await remove('a');
      const before = await read('a');
      expect((await reconcile('a')).outcome).toEqual({ type: 'nothing', why: 'not-ours' });
      expect((await read('a'))?.metadata.resourceVersion).toBe(before?.metadata.resourceVersion);
    });

    it('with an unreadable spec keeps the finalizer until the spec is mended', async () => {
      await apply('a', { size: 3 });
      await reconcile('a');
      await apply('a', { size: 'large' });
      await remove('a');
      expect((await reconcile('a')).outcome.type).toBe('terminal');
      expect(condition(await read('a'), 'Finalized')).toMatchObject({ status: 'False', reason: 'InvalidSpec' });
      await apply('a', { size: 4 });
      await reconcile('a');
      expect(await read('a')).toBeUndefined();
    });
  });

  describe('children', () => {
    const maps = async () => {
      const found: KubeObject[] = [];
      for await (const { items } of listPages(widgets.client, configMap, {
        namespace: widgets.namespace,
        labelSelector: 'outrigger.dev/controller=widget',
      })) {
        found.push(...items);
      }
      return found;
    };

    it('are made with a controller reference, mended when they drift, and pruned when not wanted', async () => {
      const owner = await apply('a', { size: 3, parts: ['one', 'two'] });
      await reconcile('a');
      const made = await maps();
      expect(made.map(({ metadata }) => metadata.name)).toEqual(['one', 'two']);
      expect(made[0]?.metadata.ownerReferences).toEqual([
        {
          apiVersion: widget.apiVersion,
          kind: 'Widget',
          name: 'a',
          uid: owner.metadata.uid,
          controller: true,
          blockOwnerDeletion: true,
        },
      ]);
      await widgets.client.request({
        method: 'PATCH',
        path: `/api/v1/namespaces/${widgets.namespace}/configmaps/one`,
        contentType: 'application/merge-patch+json',
        body: { data: { size: '99', theirs: 'kept' } },
      });
      expect((await reconcile('a')).writes).toBe(1);
      expect((await maps())[0]).toMatchObject({ data: { size: '3', theirs: 'kept' } });
      await apply('a', { size: 3, parts: ['two'] });
      await reconcile('a');
      expect((await maps()).map(({ metadata }) => metadata.name)).toEqual(['two']);
    });

    it('that had to be made again are a repair of what had been observed', async () => {
      await apply('a', { size: 3, parts: ['one'] });
      expect(await reconcile('a')).toMatchObject({ observedBefore: false });
      await widgets.client.request({
        method: 'DELETE',
        path: `/api/v1/namespaces/${widgets.namespace}/configmaps/one`,
      });
      expect(await reconcile('a')).toMatchObject({ observedBefore: true, writes: 1, noops: 0 });
      expect(await reconcile('a')).toMatchObject({ observedBefore: true, writes: 0, noops: 0 });
    });

    it('a name that is taken is never touched, and the object says NotOwned', async () => {
      const theirs = {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'one', namespace: widgets.namespace },
        data: { size: 'theirs' },
      };
      const before = await applyObject(widgets.client, configMap, theirs, { fieldManager: 'user' });
      await apply('a', { size: 3, parts: ['one', 'two'] });
      expect((await reconcile('a')).outcome.type).toBe('failed');
      expect(
        (await getObject(widgets.client, configMap, { namespace: widgets.namespace, name: 'one' }))?.metadata
          .resourceVersion,
      ).toBe(before.metadata.resourceVersion);
      expect(await getObject(widgets.client, configMap, { namespace: widgets.namespace, name: 'two' })).toBeDefined();
      expect(condition(await read('a'), 'Ready')).toMatchObject({ status: 'False', reason: 'NotOwned' });
    });
  });

  it('an Event that says the same again is counted, not piled up, and says no credential', async () => {
    await apply('a', { size: 3 });
    widgets.behaviour.reconcile = async (_, { record }) => {
      record('Normal', 'Filled', 'the widget is full of https://me:hunter2@tap/');
      return { status: {}, conditions: { Built: built } };
    };
    for (let runs = 0; runs < 3; runs += 1) await reconcile('a');
    const found: KubeObject[] = [];
    for await (const { items } of listPages(widgets.client, eventKind, { namespace: widgets.namespace }))
      found.push(...items);
    expect(found).toHaveLength(1);
    const message = 'the widget is full of https://[redacted]@tap/';
    expect(found[0]).toMatchObject({ reason: 'Filled', message, count: 3, type: 'Normal' });
  });
}
