// Conformance: defaults, nulls, pruning and field validation by the schema of a CRD. Validation errors are in
// validations.test.ts.
import { expect, it } from 'vitest';
import { gadget, gadgets } from './gadget.ts';
import { useSuite } from './suite.ts';

const { wire, namespace, createGadget } = await useSuite();

const make = async (spec: object, query: Readonly<Record<string, string>> = {}) => {
  const ns = await namespace();
  return wire.post(gadgets(ns), gadget('one', spec), query);
};

/** A gadget of size 1 with its defaults. */
const filled = { size: 1, finish: 'matt', box: { lid: 'closed' } };

it.each([
  ['fill missing fields, also in nested objects', {}, {}],
  ['fill the missing fields of an object', { box: { depth: 2 } }, { box: { lid: 'closed', depth: 2 } }],
  ['fill the items of a list', { parts: [{ name: 'a' }] }, { parts: [{ name: 'a', count: 1 }] }],
  ['replace a null', { finish: null, box: null }, {}],
])('schema defaults %s', async (_what, spec, expected) => {
  const made = await make({ size: 1, ...spec });
  expect(made.status).toBe(201);
  expect(made.body.spec).toEqual({ ...filled, ...expected });
});

it('a null of a map that has no null values is dropped', async () => {
  expect((await make({ size: 1, counts: { a: null, b: 2 } })).body.spec).toMatchObject({ counts: { b: 2 } });
  expect((await make({ size: 1, counts: { a: null } })).body.spec?.counts).toEqual({});
});

it('an applied null without default is refused, except in a nullable field, and removes no items of others', async () => {
  const one = gadgets(await namespace(), 'one');
  const applied = await wire.apply(one, 'alpha', gadget('one', { size: 1, finish: null, parts: null, nickname: null }));
  expect(applied.status).toBe(422);
  expect(applied.body.details?.causes).toMatchObject([
    { field: 'spec.parts', message: 'Invalid value: "null": spec.parts in body must be of type array: "null"' },
    { field: '<nil>' },
  ]);
  await wire.apply(one, 'alpha', gadget('one', { size: 1, parts: [{ name: 'a' }] }));
  const kept = await wire.apply(one, 'beta', gadget('one', { size: 1, parts: null }));
  expect(kept.body.spec?.parts).toEqual([{ name: 'a', count: 1 }]);
});

it('a null without default is dropped, except in a nullable field or an object without a schema', async () => {
  const kept = { nickname: null, free: { a: { b: [1, { c: null }] } } };
  expect((await make({ size: 1, color: null, ...kept })).body.spec).toEqual({ ...filled, ...kept });
});

it.each([80, 'http'])('an int-or-string field accepts %j', async (port) => {
  expect((await make({ size: 1, port })).body.spec?.port).toBe(port);
});

it('unknown fields are pruned, and each is named in a warning', async () => {
  const made = await make({ size: 1, nope: 1, box: { deep: 1 }, parts: [{ name: 'a', x: 1 }] });
  expect(made.status).toBe(201);
  expect(made.body.spec).toEqual({ ...filled, parts: [{ name: 'a', count: 1 }] });
  expect(made.warnings.map((text) => text.replaceAll('\\"', '"'))).toEqual([
    'unknown field "spec.box.deep"',
    'unknown field "spec.nope"',
    'unknown field "spec.parts[0].x"',
  ]);
});

it('unknown fields are pruned silently with fieldValidation Ignore, and a bad request with Strict', async () => {
  const ignored = await make({ size: 1, nope: 1 }, { fieldValidation: 'Ignore' });
  expect(ignored).toMatchObject({ status: 201, warnings: [] });
  const rejected = await make({ size: 1, nope: 1, box: { deep: 1 } }, { fieldValidation: 'Strict' });
  expect(rejected.body).toMatchObject({
    code: 400,
    reason: 'BadRequest',
    message:
      'Gadget in version "v1" cannot be handled as a Gadget: strict decoding error: unknown field ' +
      '"spec.box.deep", unknown field "spec.nope"',
  });
  expect((await make({ size: 1 }, { fieldValidation: 'Sometimes' })).status).toBe(422);
});

it('fieldValidation Strict also checks the top level and metadata', async () => {
  const ns = await namespace();
  const strict = { fieldValidation: 'Strict' };
  const top = await wire.post(gadgets(ns), { ...gadget('one'), extra: 1 }, strict);
  expect(top.body.message).toContain('strict decoding error: unknown field "extra"');
  const metadata = await wire.post(gadgets(ns), gadget('one', { size: 1 }, { nope: 1 }), strict);
  expect(metadata.body.message).toContain('strict decoding error: unknown field "metadata.nope"');
});

it('a patch with unknown fields has a warning, and is Invalid with fieldValidation Strict', async () => {
  const { main } = await createGadget();
  const warned = await wire.mergePatch(main, { spec: { nope: 1 } });
  expect(warned.status).toBe(200);
  expect(warned.warnings.join()).toContain('unknown field');
  const rejected = await wire.mergePatch(main, { spec: { nope: 1 } }, { fieldValidation: 'Strict' });
  expect(rejected.status).toBe(422);
  expect(rejected.body.message).toContain('strict decoding error: unknown field "spec.nope"');
});
