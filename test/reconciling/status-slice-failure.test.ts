// Failing reconciles of a second controller, against an API server: the error is reported in its own conditions, and
// the rest of the status stays. Successful reconciles are in status-slice.test.ts.
import { expect, it } from 'vitest';
import { useApiServer } from '../harness/api-server.ts';
import { asRetry } from '../sqs/messages.ts';
import { widgetsOn } from './widgets.ts';

const manager = 'outrigger-widget-painter';

const { connect } = await useApiServer();
const widgets = widgetsOn(connect);
const { apply, condition, owned, paint, paintReturns, paintThrows, read, reconcile, throws } = widgets;
const writeBoth = async () => {
  await apply('a', { size: 3 });
  await reconcile('a');
  await paint('a');
};

it('a failing slice reports the error in its conditions, keeps its fields, and recovers', async () => {
  await writeBoth();
  paintThrows(new Error('no brush'));
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

it('a failed last attempt stalls only the slice, and only at this generation', async () => {
  await writeBoth();
  paintThrows(new Error('no brush'));
  expect((await paint('a', asRetry({ attempt: 9 }))).outcome).toMatchObject({ type: 'failed', stalledBefore: false });
  expect(condition(await read('a'), 'Painted')).toMatchObject({ status: 'False', reason: 'RetriesExhausted' });
  const before = (await read('a'))?.metadata.resourceVersion;
  expect((await paint('a')).outcome).toMatchObject({ type: 'failed', stalledBefore: true });
  expect((await read('a'))?.metadata.resourceVersion).toBe(before);
  throws(new Error('no pump'));
  expect((await reconcile('a')).outcome).toMatchObject({ type: 'failed', stalledBefore: false });
  await apply('a', { size: 4 });
  expect((await paint('a')).outcome).toMatchObject({ type: 'failed', stalledBefore: false });
});

it('a slice is retried while the other controller is stalled', async () => {
  await writeBoth();
  throws(new Error('no pump'));
  await reconcile('a', asRetry({ attempt: 9 }));
  paintThrows(new Error('no brush'));
  expect((await paint('a')).outcome).toMatchObject({ type: 'failed', stalledBefore: false });
  expect(condition(await read('a'), 'Painted')).toMatchObject({ status: 'Unknown' });
  expect(condition(await read('a'), 'Stalled')).toMatchObject({ status: 'True' });
});

it('a slice result with an error writes its status, and is retried like a thrown error', async () => {
  await apply('a', { size: 3 });
  const conditions = { Painted: { status: 'False', reason: 'Wet', message: 'a second one is missing' } } as const;
  paintReturns({ status: { coat: 'pink' }, conditions, error: new Error('wet') });
  expect((await paint('a')).outcome.type).toBe('failed');
  const after = await read('a');
  expect(after?.status).toMatchObject({ coat: 'pink' });
  expect(condition(after, 'Painted')).toMatchObject({ status: 'False', reason: 'Wet' });
  expect((await paint('a', asRetry({ attempt: 9 }))).outcome).toMatchObject({ type: 'failed', stalledBefore: false });
  expect((await paint('a')).outcome).toMatchObject({ type: 'failed', stalledBefore: true });
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
  expect(await owned('a', manager)).toEqual({ conditions: ['Painted'] });
});
