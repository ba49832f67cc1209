// One reconcile of a live object against an API server: what is in the cluster afterwards. Deletions, children and Events are
// reconcile-family-cases.ts; the messages that follow are outcome.test.ts and batch.test.ts.
import { describe, expect, it } from 'vitest';
import { TerminalError } from '../../src/core/errors.ts';
import { existingKind } from '../../src/core/kind.ts';
import { pausedAnnotation } from '../../src/core/names.ts';
import { createClient } from '../../src/kube/client/client.ts';
import type { Connection } from '../../src/kube/connection.ts';
import { built, type ConfigMap, type Status, silent, widget, widgetsOn } from './widgets.ts';

/** Declares the cases for a server. */
export function reconcileCases(connect: () => Connection): void {
  const widgets = widgetsOn(connect);
  const { apply, condition, messageFor, read, reconcile } = widgets;

  describe('a reconcile', () => {
    it('writes the status with every declared condition, Ready, and the generation it was made from', async () => {
      await apply('a', { size: 3 });
      expect((await reconcile('a')).outcome).toEqual({ type: 'done' });
      const after = await read('a');
      expect(after?.status).toMatchObject({ size: 3, observedGeneration: 1 });
      expect(condition(after, 'Ready')).toMatchObject({ status: 'True', observedGeneration: 1 });
    });

    it('has its finalizer persisted before the first effect', async () => {
      await apply('a', { size: 3 });
      let seen: readonly string[] | undefined;
      widgets.behaviour.reconcile = async () => {
        seen = (await read('a'))?.metadata.finalizers;
        return { status: {}, conditions: { Built: built } };
      };
      await reconcile('a');
      expect(seen).toEqual(['outrigger.dev/widget']);
    });

    it('of a converged object costs one GET, one list for each owned kind, and no write', async () => {
      await apply('a', { size: 3, parts: ['one', 'two'] });
      await reconcile('a');
      const before = await read('a');
      widgets.requests.length = 0;
      const report = await reconcile('a');
      expect(widgets.requests.map((request) => request.replace(widgets.namespace, 'N'))).toEqual([
        `GET /apis/${widget.apiVersion}/namespaces/N/widgets/a`,
        'GET /api/v1/namespaces/N/configmaps',
      ]);
      expect(report.writes).toBe(0);
      expect((await read('a'))?.metadata.resourceVersion).toBe(before?.metadata.resourceVersion);
    });

    it('asked for later says so in its outcome', async () => {
      await apply('a', { size: 3 });
      widgets.behaviour.reconcile = async () => ({ status: {}, conditions: { Built: built }, requeueAfterSeconds: 7 });
      expect((await reconcile('a')).outcome).toEqual({ type: 'done', requeueAfterSeconds: 7 });
    });

    it('of an object that is gone writes nothing', async () => {
      expect((await reconcile('missing')).outcome).toEqual({ type: 'nothing', why: 'gone' });
    });

    it('of a paused object writes nothing', async () => {
      const before = await apply('a', { size: 3 }, { annotations: { [pausedAnnotation]: 'true' } });
      expect((await reconcile('a')).outcome).toEqual({ type: 'nothing', why: 'paused' });
      expect((await read('a'))?.metadata.resourceVersion).toBe(before.metadata.resourceVersion);
    });

    it('that reads a stale version is made again from a fresh one, and observes what it was made from', async () => {
      await apply('a', { size: 3 });
      await reconcile('a');
      let runs = 0;
      const make = widgets.behaviour.reconcile;
      widgets.behaviour.reconcile = async (object, context) => {
        runs += 1;
        if (runs === 1) await apply('a', { size: 5 });
        return await make(object, context);
      };
      await apply('a', { size: 4 });
      expect((await reconcile('a')).outcome.type).toBe('done');
      expect((await read('a'))?.status).toMatchObject({ size: 5, observedGeneration: 3 });
      expect(runs).toBe(2);
    });

    it('that never sees a fresh version is put off without an attempt', async () => {
      await apply('a', { size: 3 });
      let size = 10;
      widgets.behaviour.reconcile = async () => {
        size += 1;
        await apply('a', { size });
        return { status: { size }, conditions: { Built: built } };
      };
      expect((await reconcile('a')).outcome).toMatchObject({ type: 'deferred', why: 'conflict' });
      // Three times, each from a fresh read.
      expect(size).toBe(13);
    });
  });

  describe('a reconcile that fails', () => {
    it('keeps what it owned and says what is wrong; the next success takes that back', async () => {
      await apply('a', { size: 3 });
      const good = widgets.behaviour.reconcile;
      await reconcile('a');
      widgets.behaviour.reconcile = async () => {
        throw new Error('no pump');
      };
      expect((await reconcile('a')).outcome).toMatchObject({ type: 'failed', stalledBefore: false });
      const failed = await read('a');
      expect(failed?.status).toMatchObject({ size: 3, observedGeneration: 1 });
      expect(condition(failed, 'Built')).toMatchObject({ status: 'True' });
      expect(condition(failed, 'Reconciling')).toMatchObject({ status: 'True', message: 'no pump' });
      widgets.behaviour.reconcile = good;
      await reconcile('a');
      expect(condition(await read('a'), 'Reconciling')).toBeUndefined();
    });

    it('at its last attempt is Stalled, and after that gets one attempt a message', async () => {
      await apply('a', { size: 3 });
      widgets.behaviour.reconcile = async () => {
        throw new Error('no pump');
      };
      expect((await reconcile('a', { attempt: 9 })).outcome).toMatchObject({ type: 'failed', stalledBefore: false });
      expect(condition(await read('a'), 'Stalled')).toMatchObject({ status: 'True', reason: 'GaveUp' });
      expect((await reconcile('a')).outcome).toMatchObject({ type: 'failed', stalledBefore: true });
    });

    it('with a TerminalError is Stalled at once', async () => {
      await apply('a', { size: 3 });
      widgets.behaviour.reconcile = async () => {
        throw new TerminalError('cannot be');
      };
      expect((await reconcile('a')).outcome.type).toBe('terminal');
      const after = await read('a');
      expect(condition(after, 'Stalled')).toMatchObject({ status: 'True', message: 'cannot be' });
      expect(condition(after, 'Ready')).toMatchObject({ status: 'False', reason: 'TerminalError' });
    });

    it('with a TerminalError is tried again by whatever message comes next, and a success takes it back', async () => {
      await apply('a', { size: 3 });
      const good = widgets.behaviour.reconcile;
      widgets.behaviour.reconcile = async () => {
        throw new TerminalError('cannot be');
      };
      await reconcile('a');
      widgets.behaviour.reconcile = good;
      expect((await reconcile('a')).outcome.type).toBe('done');
      const after = await read('a');
      expect(condition(after, 'Stalled')).toBeUndefined();
      expect(condition(after, 'Ready')).toMatchObject({ status: 'True' });
    });

    it('with a status to write writes it, and goes on as if thrown', async () => {
      await apply('a', { size: 3 });
      widgets.behaviour.reconcile = async () => ({
        status: { note: 'half' },
        conditions: { Built: { status: 'False', reason: 'NoPump' } },
        retry: new Error('no pump'),
      });
      expect((await reconcile('a')).outcome.type).toBe('failed');
      const after = await read('a');
      expect(after?.status).toMatchObject({ note: 'half', observedGeneration: 1 });
      expect(condition(after, 'Ready')).toMatchObject({ status: 'False', reason: 'NoPump' });
      expect(condition(after, 'Reconciling')).toMatchObject({ message: 'no pump' });
    });

    it('with a spec that it cannot read is Ready=False/InvalidSpec, naming the field', async () => {
      await apply('a', { size: 'large' });
      expect((await reconcile('a')).outcome.type).toBe('terminal');
      const ready = condition(await read('a'), 'Ready');
      expect(ready).toMatchObject({ status: 'False', reason: 'InvalidSpec' });
      expect(String(ready?.message)).toContain('spec.size');
    });

    it('with a result of unknown fields is an error that names them', async () => {
      await apply('a', { size: 3 });
      const strange: Status = Object.assign({ size: 3 }, { colour: 'red' });
      widgets.behaviour.reconcile = async () => ({ status: strange, conditions: { Built: built } });
      const { outcome } = await reconcile('a');
      expect(outcome).toMatchObject({ type: 'failed' });
      expect(String(condition(await read('a'), 'Reconciling')?.message)).toContain('status.colour');
    });

    it('with a delay that is not a number is an error that names it', async () => {
      await apply('a', { size: 3 });
      widgets.behaviour.reconcile = async () => ({
        status: {},
        conditions: { Built: built },
        requeueAfterSeconds: Number.NaN,
      });
      expect((await reconcile('a')).outcome.type).toBe('failed');
      expect(String(condition(await read('a'), 'Reconciling')?.message)).toContain('requeueAfterSeconds');
    });

    it('by asking for a kind that only looks like a declared one says which', async () => {
      await apply('a', { size: 3 });
      const lookalike = existingKind<ConfigMap>({ group: '', version: 'v1', kind: 'Secret' });
      widgets.behaviour.reconcile = async (_, { list }) => {
        await list(lookalike);
        return { status: {}, conditions: { Built: built } };
      };
      expect((await reconcile('a')).outcome.type).toBe('failed');
      expect(condition(await read('a'), 'Reconciling')).toMatchObject({
        message: 'widget does not declare Secret, so it would be forbidden in a cluster',
      });
    });

    it('for want of a server is put off', async () => {
      const nobody = createClient({ server: new URL('http://127.0.0.1:9') });
      const job = {
        client: nobody,
        message: messageFor('a'),
        messageId: 'm',
        log: silent,
        signal: AbortSignal.timeout(10_000),
      };
      expect((await widgets.reconcileJob(job)).outcome).toMatchObject({ type: 'deferred', why: 'unreachable' });
      nobody.close();
    });
  });
}
