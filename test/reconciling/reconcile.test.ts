// One reconcile of an object against an API server, and the cluster after it. Deletions, children and Events are in
// reconcile-family.test.ts, follow-up messages in outcome.test.ts and batch.test.ts.
import { beforeEach, expect, it } from 'vitest';
import { pausedAnnotation } from '../../src/core/names.ts';
import { Event } from '../../src/kubernetes.ts';
import { useApiServer } from '../harness/api-server.ts';
import { built, silent, widget, widgetsOn } from './widgets.ts';

const { connect } = await useApiServer();
const widgets = widgetsOn(connect);
const { apply, condition, messageFor, read, reconcile, returns, throws } = widgets;
beforeEach(async () => void (await apply('a', { size: 3 })));
const warnings = async () => (await widgets.list(Event)).filter((one) => Reflect.get(one, 'type') === 'Warning');

it('a message without a namespace for a namespaced kind is refused with the scope, and sends no request', async () => {
  widgets.requests.length = 0;
  const { namespace: _, ...message } = messageFor('a');
  const { client } = widgets;
  const signal = AbortSignal.timeout(10_000);
  const { outcome } = await widgets.runReconcile({ client, message, messageId: 'm', log: silent, signal });
  expect(outcome).toMatchObject({ type: 'refused', error: { message: expect.stringMatching(/^scope: widgets are/) } });
  expect(widgets.requests).toEqual([]);
});

it('a reconcile writes the status with every declared condition, Ready and the observed generation, and returns requeueAfterSeconds', async () => {
  returns({ status: { size: 3 }, requeueAfterSeconds: 7 });
  expect((await reconcile('a')).outcome).toEqual({ type: 'done', requeueAfterSeconds: 7 });
  const after = await read('a');
  expect(after?.status).toMatchObject({ size: 3, observedGeneration: 1 });
  expect(condition(after, 'Ready')).toMatchObject({ status: 'True', observedGeneration: 1 });
});

it('a spec that changes before setMetadata is not reported as observed', async () => {
  const labelling = widget.controller('labelling', {
    sets: { labels: ['example.com/size'] },
    async reconcile({ spec: { size } }, { setMetadata }) {
      if (size === 3) await apply('a', { size: 4 });
      await setMetadata({ labels: { 'example.com/size': `${size}` } });
      return { status: { size }, conditions: { Built: built } };
    },
  });
  const run = widgets.reconcileBy(labelling);
  await run('a');
  expect((await read('a'))?.status).toMatchObject({ size: 3, observedGeneration: 1 });
  await run('a');
  expect((await read('a'))?.status).toMatchObject({ size: 4, observedGeneration: 2 });
});

it('a reconcile replaces a null in the status by an empty text, and an empty text by null', async () => {
  for (const note of [null, '', null, 'x']) {
    returns({ status: { note } });
    await reconcile('a');
    expect((await read('a'))?.status).toMatchObject({ note });
    expect(await reconcile('a')).toMatchObject({ writes: 0 });
  }
});

it('a reconcile of a paused object writes nothing', async () => {
  const before = await apply('a', { size: 3 }, { annotations: { [pausedAnnotation]: 'true' } });
  expect((await reconcile('a')).outcome).toEqual({ type: 'nothing', reason: 'paused' });
  expect((await read('a'))?.metadata.resourceVersion).toBe(before.metadata.resourceVersion);
});

it('a reconcile of a stale version is repeated with a fresh one, and observes its generation', async () => {
  await reconcile('a');
  const runs = widgets.beforeReconciler(async () => await apply('a', { size: 5 }));
  await apply('a', { size: 4 });
  expect((await reconcile('a')).outcome.type).toBe('done');
  expect((await read('a'))?.status).toMatchObject({ size: 5, observedGeneration: 3 });
  expect(runs()).toBe(2);
});

it('a reconcile whose object is paused meanwhile writes no status', async () => {
  await reconcile('a');
  const { metadata } = await apply('a', { size: 4 });
  const paused = { metadata: { annotations: { [pausedAnnotation]: 'true' } } };
  widgets.beforeReconciler(async () => await widgets.mergePatch('a', paused));
  expect((await reconcile('a')).outcome).toEqual({ type: 'nothing', reason: 'paused' });
  expect((await read('a'))?.status).toMatchObject({ size: 3, observedGeneration: (metadata.generation ?? 0) - 1 });
});

it('a reconcile without a finalizer whose object is created again meanwhile is repeated for the new one', async () => {
  const unfinalized = widget.controller('widget', {
    reconcile: async ({ spec: { size } }) => {
      if (size === 3) {
        await widgets.remove('a');
        await apply('a', { size: 5 });
      }
      return { status: { size }, conditions: { Built: built } };
    },
  });
  await widgets.reconcileBy(unfinalized)('a');
  expect((await read('a'))?.status).toMatchObject({ size: 5, observedGeneration: 1 });
});

it('a reconcile that never reads a fresh version is postponed without an attempt, and without a finalize', async () => {
  const finalized = widgets.finalizes();
  let size = 10;
  widgets.behaviour.reconcile = async () => {
    size += 1;
    await apply('a', { size });
    return { status: { size }, conditions: { Built: built } };
  };
  expect((await reconcile('a')).outcome).toMatchObject({ type: 'postponed', reason: 'conflict' });
  // Three passes, each with a fresh read.
  expect([size, finalized]).toEqual([13, []]);
});

it('X24: a failing object has one Warning, which counts messages that differ, and one after each success', async () => {
  const fail = async (text: string) => {
    throws(new Error(text));
    await reconcile('a');
  };
  await fail('no pump');
  await fail('no pump');
  expect(await warnings()).toMatchObject([{ reason: 'ReconcileFailed', message: 'no pump', count: 1 }]);
  await fail('no pump, request 17');
  expect(await warnings()).toMatchObject([{ message: 'no pump, request 17', count: 2 }]);
  returns({});
  await reconcile('a');
  await fail('no pump');
  expect(await warnings()).toMatchObject([{ message: 'no pump', count: 3 }]);
});

it('a condition’s message of any length and with any characters is written once, cut to what a condition holds', async () => {
  // The cut falls within a pair of surrogates.
  const message = `${'x'.repeat(32_767)}😀 and more`;
  returns({ conditions: { Built: { status: 'False', reason: 'Long', message } } });
  await reconcile('a');
  const object = await read('a');
  const matching = (pattern: RegExp) => ({ reason: 'Long', message: expect.stringMatching(pattern) });
  expect(condition(object, 'Built')).toMatchObject(matching(/^x{32767}/));
  expect(condition(object, 'Ready')).toMatchObject(matching(/^Built: x+$/));
  expect(await reconcile('a')).toMatchObject({ writes: 0 });
});

it('a status that is larger than the API server accepts is a failure, which the object reports', async () => {
  returns({ status: { note: 'x'.repeat(4 * 1024 * 1024) } });
  expect((await reconcile('a')).outcome.type).toBe('failed');
  const object = await read('a');
  expect(condition(object, 'Ready')).toMatchObject({ status: 'Unknown', reason: 'Retrying' });
  expect(condition(object, 'Ready')?.message).toMatch(/status returned 413/);
  expect(JSON.stringify(object?.status).length).toBeLessThan(2_000);
});
