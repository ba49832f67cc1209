// A reconcile of an object that is being deleted, and the effects on other objects: finalizers, children, Events. On
// any API server.
import { beforeEach, expect, it } from 'vitest';
import type { KubeRequest } from '../../src/kube/client/client.ts';
import { ApiError } from '../../src/kube/client/errors.ts';
import { useApiServer } from '../harness/api-server.ts';
import { createRecorder } from '../support/recorder.ts';
import { built, configMap, widget, widgetsOn } from './widgets.ts';

const { connect } = await useApiServer();
const widgets = widgetsOn(connect);
const { apply, condition, read, reconcile, remove } = widgets;
beforeEach(async () => void (await apply('a', { size: 3 })));

it.each([
  { next: 'without a new object', recreated: false, outcome: { type: 'nothing', reason: 'gone' } },
  { next: 'with a new object of the name', recreated: true, outcome: { type: 'done' } },
])('a deletion in spite of the finalizer runs finalize ($next)', async ({ recreated, outcome }) => {
  const { metadata } = await apply('a', { size: 3 });
  widgets.beforeReconciler(async () => {
    await widgets.vanish('a');
    if (recreated) await apply('a', { size: 4 });
  });
  const finalized = widgets.finalizes();
  expect((await reconcile('a')).outcome).toEqual(outcome);
  expect(finalized).toEqual([metadata.uid]);
  expect((await read('a'))?.status).toEqual(recreated ? expect.objectContaining({ size: 4 }) : undefined);
});

it('a deletion in spite of the finalizer runs finalize once, and is a dead letter with the object if it is not done', async () => {
  const { metadata } = await apply('a', { size: 3, parts: ['part'] });
  const { reconcile: original } = widgets.behaviour;
  widgets.behaviour.reconcile = async (object, context) => {
    const result = await original(object, context);
    await widgets.vanish('a');
    return result;
  };
  const finalized = widgets.finalizes({ requeueAfterSeconds: 7, reason: 'Closing' });
  const { outcome, orphan } = await reconcile('a');
  expect(outcome).toEqual({ type: 'nothing', reason: 'gone' });
  expect(orphan).toMatchObject({ uid: metadata.uid, object: expect.stringContaining('"size":3') });
  expect(finalized).toEqual([metadata.uid]);
});

it.each([
  404, 409,
])('an object that goes, and whose end is not verified before the deadline, is a dead letter after a %d', async (status) => {
  const { metadata } = await apply('a', { size: 3 });
  widgets.beforeReconciler(async () => await widgets.vanish('a'));
  const deadline = new AbortController();
  let isWritten = false;
  const before = ({ method, path }: KubeRequest) => {
    if (isWritten && method === 'GET') deadline.abort(new Error('out of time'));
    isWritten ||= path.endsWith('/status');
    if (path.endsWith('/status') && status === 409)
      throw new ApiError(`PATCH ${path}`, 409, { kind: 'Status', reason: 'Conflict', message: 'no' });
  };
  const { outcome, orphan } = await widgets.reconcile('a', {}, { before, signal: deadline.signal });
  expect(deadline.signal.aborted).toBe(true);
  expect(outcome.type).toBe('failed');
  expect(orphan).toMatchObject({ uid: metadata.uid, object: expect.stringContaining('"size":3') });
});

it.each([
  { next: 'which keeps the object until it is done', gone: false, times: 1 },
  { next: 'and once more if the object is gone meanwhile', gone: true, times: 2 },
])('a deletion during a reconcile runs finalize in the next pass, $next', async ({ gone, times }) => {
  widgets.beforeReconciler(async () => await remove('a'));
  let finalized = 0;
  widgets.behaviour.finalize = async () => {
    finalized += 1;
    // Another reconcile has finalized the object as well.
    if (gone && finalized === 1) await widgets.vanish('a').catch(() => undefined);
    return finalized === 2 ? 'done' : { requeueAfterSeconds: 7, reason: 'Closing' };
  };
  expect((await reconcile('a')).outcome.type).toBe(gone ? 'nothing' : 'done');
  expect(finalized).toBe(times);
  expect((await read('a'))?.metadata.finalizers?.length).toBe(gone ? undefined : 1);
});

it('a deletion keeps the object and reports the reason until finalize is done', async () => {
  await reconcile('a');
  await remove('a');
  widgets.finalizes(new Error('pantry down'), { requeueAfterSeconds: 4, reason: 'Draining' });
  expect((await reconcile('a')).outcome.type).toBe('failed');
  expect(condition(await read('a'), 'Finalized')).toMatchObject({ reason: 'FinalizeFailed', message: 'pantry down' });
  expect((await reconcile('a')).outcome).toEqual({ type: 'done', requeueAfterSeconds: 4 });
  expect(condition(await read('a'), 'Finalized')).toMatchObject({ status: 'False', reason: 'Draining' });
  await reconcile('a');
  expect(await read('a')).toBeUndefined();
});

it('a deletion before the first reconcile writes nothing', async () => {
  await apply('a', { size: 3 }, { finalizers: ['example.com/other'] });
  await remove('a');
  const before = await read('a');
  expect((await reconcile('a')).outcome).toEqual({ type: 'nothing', reason: 'no-finalizer' });
  expect((await read('a'))?.metadata.resourceVersion).toBe(before?.metadata.resourceVersion);
});

it('a deletion with an invalid spec keeps the finalizer until the spec is corrected', async () => {
  await reconcile('a');
  await apply('a', { size: 'large' });
  await remove('a');
  expect((await reconcile('a')).outcome.type).toBe('terminal');
  expect(condition(await read('a'), 'Finalized')).toMatchObject({ status: 'False', reason: 'InvalidSpec' });
  await apply('a', { size: 4 });
  await reconcile('a');
  expect(await read('a')).toBeUndefined();
});

it('fields of a child that another manager has set too are logged when they are set back, and others are not', async () => {
  const desired = { metadata: { name: 'b' }, data: { contested: '1' } };
  widgets.does(async (_, context) => await context.apply(configMap, desired));
  const { log, lines } = createRecorder();
  await reconcile('a', {}, { log });
  await widgets.applyChild('autoscaler', 'b', { contested: '2', free: '2' });
  await reconcile('a', {}, { log });
  await reconcile('a', {}, { log });
  expect(await widgets.children()).toMatchObject([{ data: { contested: '1', free: '2' } }]);
  expect(lines.filter(({ message }) => message === 'field of another manager overwritten')).toMatchObject([
    { level: 'warn', fields: { kind: 'ConfigMap', fieldManager: 'autoscaler', field: 'data.contested' } },
  ]);
});

it('a field that a controller drops and another applier keeps is logged with that manager, and one at an exact path goes', async () => {
  const { log, lines } = createRecorder();
  const says = async (data: Record<string, string>, exact: readonly 'data'[] = []) => {
    const desired = { metadata: { name: 'k' }, data };
    widgets.does(async (_, context) => await context.apply(configMap, desired, { exact }));
    await reconcile('a', {}, { log });
  };
  await says({ a: '1', b: '2' });
  await widgets.applyChild('kubectl', 'k', { b: '2' });
  await says({ a: '1' });
  expect(await widgets.children()).toMatchObject([{ data: { a: '1', b: '2' } }]);
  await says({ a: '1' }, ['data']);
  expect((await widgets.children()).map(({ data }) => data)).toEqual([{ a: '1' }]);
  const field = { child: `${widgets.namespace}/k`, fieldManager: 'kubectl', field: 'data.b' };
  expect(lines.filter(({ message }) => message.startsWith('field '))).toMatchObject([
    { level: 'info', message: 'field kept by another manager', fields: field },
    { level: 'warn', message: 'field of another manager removed', fields: field },
  ]);
});

it('children that are created again are a write to an observed object', async () => {
  await apply('a', { size: 3, parts: ['one'] });
  expect(await reconcile('a')).toMatchObject({ observedBefore: false });
  await widgets.client.request({ method: 'DELETE', path: widgets.childPath('one') });
  expect(await reconcile('a')).toMatchObject({ observedBefore: true, writes: 1, noops: 0 });
  expect(await reconcile('a')).toMatchObject({ observedBefore: true, writes: 0, noops: 0 });
});

it('an object that its controller deletes is finalized and gone, and nothing fails', async () => {
  const deleting = widget.controller('widget', {
    deletesSelf: true,
    reconcile: async (_, { deleteSelf }) => {
      await deleteSelf();
      return { status: {}, conditions: { Built: built } };
    },
    finalize: async () => 'done',
  });
  const run = widgets.reconcileBy(deleting);
  expect([(await run('a')).outcome.type, (await run('a')).outcome.type]).toEqual(['done', 'nothing']);
  expect(await read('a')).toBeUndefined();
});
