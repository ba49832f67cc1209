// Two controllers on one kind against an API server: each writes only its own status slice, neither disturbs the other,
// and each reports its own errors. The content of a slice is in status/status.test.ts.
import { beforeEach, expect, it } from 'vitest';
import { useApiServer } from '../harness/api-server.ts';
import { asRetry } from '../sqs/messages.ts';
import { built, painted, widgetsOn } from './widgets.ts';

const managers = ['outrigger-widget', 'outrigger-widget-painter'] as const;

const { connect } = await useApiServer();
const widgets = widgetsOn(connect);
const { apply, condition, owned, paint, paintReturns, read, reconcile, remove, returns, throws } = widgets;
beforeEach(async () => void (await apply('a', { size: 3 })));
/** Reconciles the object with both controllers. */
const writeBoth = async () => {
  await reconcile('a');
  await paint('a');
};

it.each([
  ['first', ['first', 'slice']],
  ['after the other', ['slice', 'first']],
] as const)('a status slice written %s keeps the rest, and owns only its own fields', async (_, order) => {
  for (const one of order) await (one === 'slice' ? paint('a') : reconcile('a'));
  expect((await read('a'))?.status).toMatchObject({ size: 3, coat: 'red', observedGeneration: 1 });
  expect(await owned('a', managers[0])).toEqual({ size: 3, observedGeneration: 1, conditions: ['Built', 'Ready'] });
  expect(await owned('a', managers[1])).toEqual({ coat: 'red', conditions: ['Painted'] });
});

it('a status slice observes a new generation only in its own conditions', async () => {
  await writeBoth();
  await apply('a', { size: 4 });
  expect(await paint('a')).toMatchObject({ observedBefore: false, writes: 1 });
  const after = await read('a');
  expect(after?.status).toMatchObject({ size: 3, observedGeneration: 1 });
  expect(condition(after, 'Painted')).toMatchObject({ observedGeneration: 2 });
  expect(condition(after, 'Ready')).toMatchObject({ observedGeneration: 1 });
});

it('a changed status slice is not reverted by the other controller, which returns its old value', async () => {
  await paint('a');
  paintReturns({ status: { coat: 'blue' } });
  widgets.behaviour.reconcile = async ({ status }) => {
    return { status: { ...status, size: 3 }, conditions: { Built: built } };
  };
  widgets.beforeReconciler(async () => await paint('a'));
  await reconcile('a');
  expect(await reconcile('a')).toMatchObject({ writes: 0, noops: 0 });
  expect((await read('a'))?.status).toMatchObject({ size: 3, coat: 'blue' });
  expect(await owned('a', managers[0])).not.toHaveProperty('coat');
});

it('a controller with a status slice receives only its own slice as the status', async () => {
  await reconcile('a');
  const received: unknown[] = [];
  widgets.painting.reconcile = async ({ status }) => {
    received.push(status);
    return { status: { coat: 'red' }, conditions: { Painted: painted } };
  };
  await paint('a');
  await paint('a');
  expect(received).toEqual([undefined, { coat: 'red' }]);
});

it('a status slice with a field of the rest is rejected, and the rest stays unchanged', async () => {
  await reconcile('a');
  const status = { coat: 'red', size: 9 };
  paintReturns({ status });
  expect((await paint('a')).outcome).toMatchObject({
    type: 'terminal',
    error: { message: 'status.size: unknown field' },
  });
  expect((await read('a'))?.status).toMatchObject({ size: 3 });
});

it('both controllers keep their fields if they write between the other’s read and write', async () => {
  let runs = 0;
  widgets.painting.reconcile = async () => {
    runs += 1;
    if (runs === 1) await reconcile('a');
    return { status: { coat: 'red' }, conditions: { Painted: painted } };
  };
  expect((await paint('a')).outcome).toEqual({ type: 'done' });
  // The input of its status is unchanged, so the reconciler does not run again.
  expect(runs).toBe(1);
  paintReturns({ status: { coat: 'blue' } });
  returns({ status: { size: 3, note: 'built' } });
  const builds = widgets.beforeReconciler(async () => await paint('a'));
  expect((await reconcile('a')).outcome).toEqual({ type: 'done' });
  expect(builds()).toBe(1);
  expect((await read('a'))?.status).toMatchObject({ size: 3, note: 'built', coat: 'blue' });
});

it('each controller removes its own finalizer, and the object is deleted with the last one', async () => {
  await writeBoth();
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
  expect((await reconcile('a')).outcome).toEqual({ type: 'nothing', reason: 'no-finalizer' });
  widgets.painting.finalize = async () => 'done';
  await paint('a');
  expect(await read('a')).toBeUndefined();
});

it('a failing slice reports the error in its conditions, keeps its fields, and recovers', async () => {
  await writeBoth();
  widgets.painting.reconcile = async () => await Promise.reject(new Error('no brush'));
  expect((await paint('a')).outcome).toMatchObject({ type: 'failed', stalledBefore: false });
  const failed = await read('a');
  expect(condition(failed, 'Painted')).toMatchObject({ status: 'Unknown', reason: 'Retrying', message: 'no brush' });
  expect(failed?.status).toMatchObject({ size: 3, coat: 'red', observedGeneration: 1 });
  expect(condition(failed, 'Ready')).toMatchObject({ status: 'True' });
  for (const type of ['Reconciling', 'Stalled']) expect(condition(failed, type)).toBeUndefined();
  paintReturns({ status: { coat: 'red' } });
  await paint('a');
  expect(condition(await read('a'), 'Painted')).toMatchObject({ status: 'True', reason: 'Painted' });
});

it('a failed last attempt stalls only its own controller, and only at this generation', async () => {
  await writeBoth();
  widgets.painting.reconcile = async () => await Promise.reject(new Error('no brush'));
  expect((await paint('a', asRetry({ attempt: 9 }))).outcome).toMatchObject({ type: 'failed', stalledBefore: false });
  expect(condition(await read('a'), 'Painted')).toMatchObject({ status: 'False', reason: 'RetriesExhausted' });
  const before = (await read('a'))?.metadata.resourceVersion;
  expect((await paint('a')).outcome).toMatchObject({ type: 'failed', stalledBefore: true });
  expect((await read('a'))?.metadata.resourceVersion).toBe(before);
  throws(new Error('no pump'));
  expect((await reconcile('a', asRetry({ attempt: 9 }))).outcome).toMatchObject({ stalledBefore: false });
  await apply('a', { size: 4 });
  expect((await paint('a')).outcome).toMatchObject({ type: 'failed', stalledBefore: false });
  expect(condition(await read('a'), 'Painted')).toMatchObject({ status: 'Unknown' });
  expect(condition(await read('a'), 'Stalled')).toMatchObject({ status: 'True' });
});

it('an invalid spec is reported in the conditions of each controller', async () => {
  await apply('a', { size: 'large' });
  expect((await paint('a')).outcome.type).toBe('terminal');
  const after = await read('a');
  expect(condition(after, 'Painted')).toMatchObject({ status: 'False', reason: 'InvalidSpec' });
  expect(condition(after, 'Painted')?.message).toContain('spec.size');
  expect(after?.status).toEqual({ conditions: [condition(after, 'Painted')] });
  await reconcile('a');
  expect(condition(await read('a'), 'Ready')).toMatchObject({ status: 'False', reason: 'InvalidSpec' });
  expect(await owned('a', managers[1])).toEqual({ conditions: ['Painted'] });
});
