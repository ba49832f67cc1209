// Conformance: server-side apply on /status, with which a controller writes its observations.
import { expect, it } from 'vitest';
import { gadget, gadgetApiVersion } from './gadget.ts';
import { useSuite } from './suite.ts';

/** Returns a configuration with a status. `metadata` can contain a version or a uid. */
function statusOf(status: object, metadata: object = {}): object {
  return { apiVersion: gadgetApiVersion, kind: 'Gadget', metadata: { name: 'one', ...metadata }, status };
}

const { wire, createGadget } = await useSuite();

it('an apply on /status keeps spec, generation and labels, and its entry has the subresource', async () => {
  const { status } = await createGadget();
  const content = {
    ...statusOf({ phase: 'Up' }, { labels: { a: 'b' }, finalizers: ['example.org/x'] }),
    spec: { size: 9 },
  };
  const { body } = await wire.apply(status, 'watcher', content);
  expect(body).toMatchObject({ metadata: { generation: 1 }, spec: { size: 1 }, status: { phase: 'Up' } });
  expect(body.metadata?.labels).toBeUndefined();
  expect(body.metadata?.finalizers).toBeUndefined();
  expect(body.metadata?.managedFields?.find((entry) => entry.manager === 'watcher')).toMatchObject({
    operation: 'Apply',
    subresource: 'status',
    fieldsV1: { 'f:status': { 'f:phase': {} } },
  });
});

it('an apply of an unchanged status keeps the version', async () => {
  const { status } = await createGadget();
  const content = statusOf({ phase: 'Up', replicas: 0, conditions: [{ type: 'A', status: 'True', message: '' }] });
  const first = await wire.apply(status, 'watcher', content, { force: true });
  const second = await wire.apply(status, 'watcher', content, { force: true });
  expect(second.body).toEqual(first.body);
});

it('conditions have separate owners, and a manager removes only its own', async () => {
  const { status } = await createGadget();
  await wire.apply(status, 'first', statusOf({ conditions: [{ type: 'A', status: 'True' }] }));
  const both = await wire.apply(
    status,
    'second',
    statusOf({ conditions: [{ type: 'B', status: 'False', reason: 'R' }] }),
  );
  expect(both.body.status).toEqual({
    conditions: [
      { type: 'A', status: 'True' },
      { type: 'B', status: 'False', reason: 'R' },
    ],
  });
  const conflict = await wire.apply(status, 'second', statusOf({ conditions: [{ type: 'A', status: 'False' }] }));
  expect(conflict.body.details?.causes).toEqual([
    {
      reason: 'FieldManagerConflict',
      message: 'conflict with "first" with subresource "status"',
      field: '.status.conditions[type="A"].status',
    },
  ]);
  const dropped = await wire.apply(status, 'second', statusOf({}));
  expect(dropped.body.status).toEqual({ conditions: [{ type: 'A', status: 'True' }] });
});

it('an apply on /status removes only the fields that its manager no longer applies', async () => {
  const { status } = await createGadget();
  await wire.apply(status, 'watcher', statusOf({ phase: 'Up', replicas: 3 }));
  await wire.apply(status, 'other', statusOf({ observedGeneration: 1 }));
  const { body } = await wire.apply(status, 'watcher', statusOf({ phase: 'Up' }));
  expect(body.status).toEqual({ phase: 'Up', observedGeneration: 1 });
});

it('an apply on /status keeps the fields that the same manager applied to the object', async () => {
  const { main, status } = await createGadget();
  await wire.apply(main, 'both', gadget('one', { size: 1, color: 'red' }), { force: true });
  const { body } = await wire.apply(status, 'both', statusOf({ phase: 'Up' }));
  expect(body.spec).toMatchObject({ size: 1, color: 'red' });
  expect((await wire.apply(main, 'both', gadget('one', { size: 1 }))).body.status).toEqual({ phase: 'Up' });
});

it('an apply on the object drops the status', async () => {
  const { main } = await createGadget();
  const { body } = await wire.apply(main, 'alpha', { ...gadget('one'), status: { phase: 'Up' } });
  expect(body.status).toBeUndefined();
  expect(JSON.stringify(body.metadata?.managedFields)).not.toContain('f:status');
});

it('an apply on /status at the current version succeeds and returns the next version', async () => {
  const { status, made } = await createGadget();
  const first = await wire.apply(
    status,
    'watcher',
    statusOf({ phase: 'Up' }, { resourceVersion: made.metadata?.resourceVersion }),
  );
  const next = first.body.metadata?.resourceVersion ?? '';
  expect(Number(next)).toBeGreaterThan(Number(made.metadata?.resourceVersion));
  const second = await wire.apply(status, 'watcher', statusOf({ phase: 'Down' }, { resourceVersion: next }));
  expect(second.status).toBe(200);
});

it('an apply on /status ignores the uid', async () => {
  const { status } = await createGadget();
  const foreign = statusOf({ phase: 'Up' }, { uid: '00000000-0000-4000-8000-000000000000' });
  expect((await wire.apply(status, 'watcher', foreign)).status).toBe(200);
});
