// Two controllers on one kind against an API server: each writes its part of the status and nothing else, and neither disturbs the
// other. What is said in a status is part-status.test.ts; a part that fails is part-failure-cases.ts.
import { describe, expect, it } from 'vitest';
import type { WatchedResource } from '../../src/core/watch-list.ts';
import { watchListOf } from '../../src/generate/watch-list.ts';
import { applyStatus } from '../../src/kube/apply/apply.ts';
import type { Connection } from '../../src/kube/connection.ts';
import { isConflict } from '../../src/kube/client/errors.ts';
import { parseHead } from '../../src/kube/watch/partial-metadata.ts';
import type { KubeObject } from '../../src/kube/client/object.ts';
import { forward, toSeen, wantedOf } from '../../src/runtime/forward.ts';
import { built, painted, widget, widgetsOn } from './widgets.ts';

const managers = ['outrigger-widget', 'outrigger-widget-painter'] as const;

/** Declares the cases for a server. */
export function partCases(connect: () => Connection): void {
  const widgets = widgetsOn(connect);
  const { apply, condition, owned, paint, read, reconcile, remove } = widgets;
  const versionOf = async (name: string) => (await read(name))?.metadata.resourceVersion;

  describe('a part', () => {
    it('is all that is written of an object that has no status yet', async () => {
      await apply('a', { size: 3 });
      expect((await paint('a')).outcome).toEqual({ type: 'done' });
      expect((await read('a'))?.status).toEqual({
        coat: 'red',
        conditions: [
          {
            type: 'Painted',
            status: 'True',
            reason: 'Painted',
            message: '',
            observedGeneration: 1,
            lastTransitionTime: expect.any(String),
          },
        ],
      });
    });

    it.each([
      ['first', ['first', 'part']],
      ['after the other', ['part', 'first']],
    ] as const)('stands beside the rest, written %s, and each manager owns exactly its own', async (_, order) => {
      await apply('a', { size: 3 });
      for (const one of order) await (one === 'part' ? paint('a') : reconcile('a'));
      expect((await read('a'))?.status).toMatchObject({ size: 3, coat: 'red', observedGeneration: 1 });
      expect(await owned('a', managers[0])).toEqual({
        size: 3,
        observedGeneration: 1,
        conditions: ['Built', 'Ready'],
      });
      expect(await owned('a', managers[1])).toEqual({ coat: 'red', conditions: ['Painted'] });
    });

    it('converged costs one GET and no write, and so does the rest', async () => {
      await apply('a', { size: 3 });
      await reconcile('a');
      await paint('a');
      expect(await reconcile('a')).toMatchObject({ writes: 0, noops: 0 });
      const before = await versionOf('a');
      widgets.requests.length = 0;
      expect(await paint('a')).toMatchObject({ writes: 0, noops: 0, observedBefore: true });
      expect(widgets.requests.filter((request) => !request.startsWith('GET'))).toEqual([]);
      expect(widgets.requests).toHaveLength(1);
      expect(await reconcile('a')).toMatchObject({ writes: 0, noops: 0, observedBefore: true });
      expect(await versionOf('a')).toBe(before);
    });

    it('is followed by a new generation in its own conditions only', async () => {
      await apply('a', { size: 3 });
      await reconcile('a');
      await paint('a');
      await apply('a', { size: 4 });
      expect(await paint('a')).toMatchObject({ observedBefore: false, writes: 1 });
      const after = await read('a');
      expect(after?.status).toMatchObject({ size: 3, observedGeneration: 1 });
      expect(condition(after, 'Painted')).toMatchObject({ observedGeneration: 2 });
      expect(condition(after, 'Ready')).toMatchObject({ observedGeneration: 1 });
    });

    it('that drops a field, or changes it, leaves the other controller’s alone, and the other way round', async () => {
      await apply('a', { size: 3 });
      await paint('a');
      widgets.behaviour.reconcile = async () => ({ status: { size: 3, note: 'new' }, conditions: { Built: built } });
      await reconcile('a');
      widgets.painting.reconcile = async () => ({ status: {}, conditions: { Painted: painted } });
      await paint('a');
      expect((await read('a'))?.status).toMatchObject({ size: 3, note: 'new' });
      expect((await read('a'))?.status).not.toHaveProperty('coat');
      widgets.painting.reconcile = async () => ({ status: { coat: 'blue' }, conditions: { Painted: painted } });
      await paint('a');
      widgets.behaviour.reconcile = async () => ({ status: {}, conditions: { Built: built } });
      await reconcile('a');
      const status = (await read('a'))?.status;
      expect(status).toMatchObject({ coat: 'blue', observedGeneration: 1 });
      for (const field of ['size', 'note']) expect(status).not.toHaveProperty(field);
    });

    it('stays its own although the other controller hands on the whole status, and can be taken back', async () => {
      await apply('a', { size: 3 });
      widgets.behaviour.reconcile = async ({ status }) => ({
        status: { ...status, size: 3 },
        conditions: { Built: built },
      });
      await paint('a');
      await reconcile('a');
      expect(await reconcile('a')).toMatchObject({ writes: 0, noops: 0 });
      expect(await owned('a', managers[0])).not.toHaveProperty('coat');
      widgets.painting.reconcile = async () => ({ status: {}, conditions: { Painted: painted } });
      await paint('a');
      await reconcile('a');
      const status = (await read('a'))?.status;
      expect(status).toMatchObject({ size: 3 });
      expect(status).not.toHaveProperty('coat');
    });

    it('changed meanwhile is not set back by the other controller, which hands on what it was', async () => {
      await apply('a', { size: 3 });
      await paint('a');
      let builds = 0;
      widgets.behaviour.reconcile = async ({ status }) => {
        builds += 1;
        widgets.painting.reconcile = async () => ({ status: { coat: 'blue' }, conditions: { Painted: painted } });
        if (builds === 1) await paint('a');
        return { status: { ...status, size: 3 }, conditions: { Built: built } };
      };
      await reconcile('a');
      expect((await read('a'))?.status).toMatchObject({ size: 3, coat: 'blue' });
      expect(await owned('a', managers[0])).not.toHaveProperty('coat');
    });

    it('sees as its past what is its own, and nothing before that', async () => {
      await apply('a', { size: 3 });
      await reconcile('a');
      const seen: unknown[] = [];
      widgets.painting.reconcile = async ({ status }) => {
        seen.push(status);
        return { status: { coat: 'red' }, conditions: { Painted: painted } };
      };
      await paint('a');
      await paint('a');
      expect(seen).toEqual([undefined, { coat: 'red' }]);
    });

    it('that says something of the rest is refused, and the rest stays as it was', async () => {
      await apply('a', { size: 3 });
      await reconcile('a');
      widgets.painting.reconcile = async () => ({
        status: { coat: 'red', ...{ size: 9 } },
        conditions: { Painted: painted },
      });
      expect((await paint('a')).outcome).toMatchObject({
        type: 'failed',
        error: { message: 'status.size: unknown field' },
      });
      expect((await read('a'))?.status).toMatchObject({ size: 3 });
    });
  });

  describe('neither controller', () => {
    it('is woken by what the other writes', async () => {
      const resource = watchedWidget();
      const wakes = (before: KubeObject | undefined, after: KubeObject | undefined) => {
        const seen = (object: unknown) => toSeen(resource, parseHead(object, wantedOf(resource)));
        const happening = { type: 'changed', after: seen(after) } as const;
        const key = { namespace: widgets.namespace, name: 'a' };
        const last = before === undefined ? undefined : seen(before);
        return forward({ resource, cluster: 'c' }, key, last, happening).map(({ target }) => target.controller);
      };
      await apply('a', { size: 3 });
      const fresh = await read('a');
      expect(wakes(undefined, fresh)).toEqual(['widget', 'widget-painter']);
      await reconcile('a');
      const reconciled = await read('a');
      await paint('a');
      const both = await read('a');
      expect(both?.metadata.resourceVersion).not.toBe(reconciled?.metadata.resourceVersion);
      expect(wakes(fresh, reconciled)).toEqual([]);
      expect(wakes(reconciled, both)).toEqual([]);
      await apply('a', { size: 4 });
      expect(wakes(both, await read('a'))).toEqual(['widget', 'widget-painter']);
    });

    it.each(
      managers,
    )('writes over what it has not read: a stale version is a conflict for %s', async (fieldManager) => {
      const { metadata } = await apply('a', { size: 3 });
      await reconcile('a');
      await paint('a');
      const before = await read('a');
      const { resourceVersion = '', uid } = metadata;
      const key = { namespace: widgets.namespace, name: 'a' };
      const target = { apiVersion: widget.apiVersion, kind: widget.kind, key, resourceVersion, uid };
      const stale = applyStatus(widgets.client, widget, target, { note: 'stale' }, { fieldManager });
      await expect(stale).rejects.toSatisfy(isConflict);
      expect(await read('a')).toEqual(before);
    });

    it('loses anything when both write between the other’s read and write', async () => {
      await apply('a', { size: 3 });
      let runs = 0;
      widgets.painting.reconcile = async () => {
        runs += 1;
        if (runs === 1) await reconcile('a');
        return { status: { coat: 'red' }, conditions: { Painted: painted } };
      };
      expect((await paint('a')).outcome).toEqual({ type: 'done' });
      // What it made its status from is as it was, so it is not made again.
      expect(runs).toBe(1);
      let builds = 0;
      widgets.behaviour.reconcile = async () => {
        builds += 1;
        widgets.painting.reconcile = async () => ({ status: { coat: 'blue' }, conditions: { Painted: painted } });
        if (builds === 1) await paint('a');
        return { status: { size: 3, note: 'built' }, conditions: { Built: built } };
      };
      expect((await reconcile('a')).outcome).toEqual({ type: 'done' });
      expect(builds).toBe(1);
      expect((await read('a'))?.status).toMatchObject({ size: 3, note: 'built', coat: 'blue' });
    });
  });

  describe('a deletion', () => {
    it('lets each controller take away its own finalizer, and the object goes with the last', async () => {
      await apply('a', { size: 3 });
      await reconcile('a');
      await paint('a');
      expect((await read('a'))?.metadata.finalizers).toEqual(['outrigger.dev/widget', 'outrigger.dev/widget-painter']);
      await remove('a');
      widgets.painting.finalize = async () => ({ requeueAfterSeconds: 2, reason: 'Stripping' });
      expect((await paint('a')).outcome).toEqual({ type: 'done', requeueAfterSeconds: 2 });
      const stripping = await read('a');
      expect(condition(stripping, 'Painted')).toMatchObject({ status: 'False', reason: 'Stripping' });
      expect(condition(stripping, 'Finalized')).toBeUndefined();
      expect(stripping?.status).toMatchObject({ coat: 'red' });
      await reconcile('a');
      expect((await read('a'))?.metadata.finalizers).toEqual(['outrigger.dev/widget-painter']);
      expect((await reconcile('a')).outcome).toEqual({ type: 'nothing', why: 'not-ours' });
      widgets.painting.finalize = async () => 'done';
      await paint('a');
      expect(await read('a')).toBeUndefined();
    });
  });

  function watchedWidget(): WatchedResource {
    const resource = watchListOf(widgets.registry).resources.find(({ plural }) => plural === widget.plural);
    if (resource === undefined) throw new Error('nobody watches widgets');
    return resource;
  }
}
