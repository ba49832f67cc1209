// Conformance: server-side apply of whole objects: creation, conflicts, force and preconditions. Single fields are in
// apply-fields.test.ts, /status is in apply-status.test.ts.
import { expect, it } from 'vitest';
import { gadget, gadgetApiVersion } from './gadget.ts';
import { useSuite } from './suite.ts';

const otherUid = '00000000-0000-4000-8000-000000000000';

const { wire, gadgetToApply } = await useSuite();

it('an apply to an object that does not exist creates it and returns 201', async () => {
  const { apply } = await gadgetToApply();
  const made = await apply('alpha', { size: 2 }, { labels: { a: 'b' } });
  expect(made.status).toBe(201);
  expect(made.body).toMatchObject({
    kind: 'Gadget',
    metadata: { name: 'one', generation: 1 },
    spec: { size: 2, finish: 'matt' },
  });
  expect((await apply('alpha', { size: 3 })).status).toBe(200);
});

it('an apply without a change keeps version and managedFields', async () => {
  const { one } = await gadgetToApply();
  const content = gadget('one', { size: 2, parts: [{ name: 'p' }] }, { finalizers: ['example.org/f'] });
  const first = await wire.apply(one, 'alpha', content);
  const second = await wire.apply(one, 'alpha', content);
  expect(second.status).toBe(200);
  expect(second.body).toEqual(first.body);
  await wire.mergePatch(one, { metadata: { finalizers: null } });
});

it('the managed fields of an apply have manager, operation and the applied fields without defaults', async () => {
  const { apply } = await gadgetToApply();
  const { body } = await apply('alpha', { size: 2, color: 'red' }, { labels: { a: 'b' } });
  expect(body.metadata?.managedFields).toEqual([
    {
      manager: 'alpha',
      operation: 'Apply',
      apiVersion: gadgetApiVersion,
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:metadata': { 'f:labels': { 'f:a': {} } }, 'f:spec': { 'f:size': {}, 'f:color': {} } },
    },
  ]);
});

it('the managed fields of a create have the operation Update and include the defaults', async () => {
  const { one } = await gadgetToApply();
  await wire.post(one.replace(/\/one$/, ''), gadget('one', { size: 2 }, { labels: { a: 'b' } }), {
    fieldManager: 'maker',
  });
  const { body } = await wire.get(one);
  expect(body.metadata?.managedFields).toMatchObject([
    {
      manager: 'maker',
      operation: 'Update',
      fieldsV1: {
        'f:metadata': { 'f:labels': { '.': {}, 'f:a': {} } },
        'f:spec': { '.': {}, 'f:size': {}, 'f:finish': {}, 'f:box': { '.': {}, 'f:lid': {} } },
      },
    },
  ]);
});

it('an apply over the value of another manager is a Conflict with that manager and the field', async () => {
  const { one, apply } = await gadgetToApply();
  await apply('alpha', { size: 1, color: 'red' });
  const single = await apply('beta', { size: 2 });
  expect(single.body).toMatchObject({
    code: 409,
    reason: 'Conflict',
    message: 'Apply failed with 1 conflict: conflict with "alpha": .spec.size',
    details: { causes: [{ reason: 'FieldManagerConflict', message: 'conflict with "alpha"', field: '.spec.size' }] },
  });
  const both = await apply('beta', { size: 2, color: 'blue' });
  expect(both.body.message).toBe('Apply failed with 2 conflicts: conflicts with "alpha":\n- .spec.color\n- .spec.size');
  expect(both.body.details?.causes).toHaveLength(2);
  expect((await wire.get(one)).body.spec).toMatchObject({ size: 1, color: 'red' });
});

it('the message of a conflict with an update contains the apiVersion of the update', async () => {
  const { one, apply } = await gadgetToApply();
  await wire.post(one.replace(/\/one$/, ''), gadget('one', { size: 1 }), { fieldManager: 'maker' });
  const rejected = await apply('beta', { size: 2 });
  expect(rejected.body.message).toBe(
    `Apply failed with 1 conflict: conflict with "maker" using ${gadgetApiVersion}: .spec.size`,
  );
});

it('an apply over a value with two owners is a Conflict', async () => {
  const { apply } = await gadgetToApply();
  for (const manager of ['alpha', 'beta']) await apply(manager, { size: 1 });
  expect((await apply('alpha', { size: 2 })).status).toBe(409);
});

it('a forced apply changes a field and becomes its only owner', async () => {
  const { apply } = await gadgetToApply();
  await apply('alpha', { size: 1, color: 'red' });
  const forced = await apply('beta', { size: 2 }, {}, { force: true });
  expect(forced.body).toMatchObject({ metadata: { generation: 2 }, spec: { size: 2, color: 'red' } });
  const owned = Object.fromEntries(
    (forced.body.metadata?.managedFields ?? []).map((entry) => [entry.manager, entry.fieldsV1]),
  );
  expect(owned).toEqual({ alpha: { 'f:spec': { 'f:color': {} } }, beta: { 'f:spec': { 'f:size': {} } } });
});

it('an apply to an object that does not exist is a Conflict with a uid, and creates it with a version', async () => {
  const { apply } = await gadgetToApply();
  const rejected = await apply('alpha', { size: 1 }, { uid: otherUid });
  expect(rejected.body).toMatchObject({ code: 409, reason: 'Conflict' });
  expect(rejected.body.message).toContain(
    `uid mismatch: the provided object specified uid ${otherUid}, and no existing object was found`,
  );
  expect((await apply('alpha', { size: 1 }, { resourceVersion: '1' })).status).toBe(201);
});

it('an apply in YAML is accepted, and needs a name only to create the object', async () => {
  const { one } = await gadgetToApply();
  const text = (metadata: string) => `apiVersion: ${gadgetApiVersion}\nkind: Gadget\n${metadata}spec:\n  size: 6\n`;
  expect((await wire.apply(one, 'alpha', text(''))).body).toMatchObject({ code: 400, reason: 'BadRequest' });
  expect((await wire.apply(one, 'alpha', text('metadata: {name: one}\n'))).status).toBe(201);
  expect((await wire.apply(one, 'alpha', text(''))).status).toBe(200);
});
