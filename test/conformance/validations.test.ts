// Conformance: validation by the schema of a CRD: the reasons, messages and field paths of every rule.
import { expect, it } from 'vitest';
import { gadget, gadgets } from './gadget.ts';
import { useSuite } from './suite.ts';

const { wire, namespace, createGadget } = await useSuite();

const make = async (spec: object) => {
  const ns = await namespace();
  return wire.post(gadgets(ns), gadget('one', spec));
};

async function expectInvalid(
  spec: object,
  cause: { readonly field: string; readonly message: string; reason: string },
) {
  const rejected = await make(spec);
  expect(rejected.body).toMatchObject({ code: 422, reason: 'Invalid', details: { name: 'one', kind: 'Gadget' } });
  expect(rejected.body.details?.causes).toContainEqual(cause);
  expect(rejected.body.message).toContain(`${cause.field}: ${cause.message}`);
}

it.each([
  ['a missing field', {}, 'spec.size'],
  ['a null for a required field', { size: null }, 'spec.size'],
  ['a missing field in a list', { size: 1, parts: [{ count: 1 }] }, 'spec.parts[0].name'],
])('%s is Invalid, and is required at its field', async (_what, spec, field) => {
  await expectInvalid(spec, { reason: 'FieldValueRequired', field, message: 'Required value' });
});

it.each([
  ['a string for an integer', { size: 'x' }, 'spec.size', 'integer', 'string'],
  ['a fraction for an integer', { size: 1.5 }, 'spec.size', 'integer', 'number'],
  ['a string for a boolean', { size: 1, loose: 'yes' }, 'spec.loose', 'boolean', 'string'],
  ['an array for an object', { size: 1, labels: [] }, 'spec.labels', 'object', 'array'],
  ['a string that is not a date-time', { size: 1, since: 'yesterday' }, 'spec.since', 'date-time', 'yesterday'],
  ['a time at 24:00', { size: 1, since: '2026-01-01T24:00:00Z' }, 'spec.since', 'date-time', '2026-01-01T24:00:00Z'],
  ['a boolean for an int-or-string', { size: 1, port: true }, 'spec.port', 'integer,string', 'boolean'],
  ['a wrong value in a map', { size: 1, labels: { a: 1 } }, 'spec.labels.a', 'string', 'integer'],
  [
    ...['a wrong field in a list', { size: 1, parts: [{ name: 'a', count: 'x' }] }],
    ...['spec.parts[0].count', 'integer', 'string'],
  ],
] as const)('%s is Invalid, with both types at its field', async (_what, spec, field, type, given) => {
  const message = `Invalid value: "${given}": ${field} in body must be of type ${type}: "${given}"`;
  await expectInvalid(spec, { reason: 'FieldValueTypeInvalid', field, message });
});

it.each([
  ['a number below the minimum', { size: -1 }, 'size', '-1', 'be greater than or equal to 0'],
  ['a number above the maximum', { size: 101 }, 'size', '101', 'be less than or equal to 100'],
  ['a fraction below the minimum', { ratio: 0.000_001_5 }, 'ratio', '1.5e-06', 'be greater than or equal to 1e-05'],
  [
    'a fraction above the maximum',
    { ratio: 3_000_000.5 },
    'ratio',
    '3.0000005e+06',
    'be less than or equal to 2.5e+06',
  ],
  ['a whole number above a number', { ratio: 3_000_000 }, 'ratio', '3000000', 'be less than or equal to 2500000'],
  ['a string that does not match the pattern', { code: 'AB1' }, 'code', '"AB1"', "match '^[a-z]+$'"],
  ['a string too short', { code: 'a' }, 'code', '"a"', 'be at least 2 chars long'],
])('%s is Invalid, with its value and the limit', async (_what, spec, name, value, limit) => {
  const message = `Invalid value: ${value}: spec.${name} in body should ${limit}`;
  await expectInvalid({ size: 1, ...spec }, { reason: 'FieldValueInvalid', field: `spec.${name}`, message });
});

const parts = [{ name: 'a' }, { name: 'a' }];
const colors = 'Unsupported value: "pink": supported values: "red", "green", "blue"';
const order = 'Invalid value: low must not exceed high';
it.each([
  ['a value outside the enum', { color: 'pink' }, 'NotSupported', '.color', colors],
  ['a string too long', { code: 'abcdef' }, 'TooLong', '.code', 'Too long: may not be more than 5 bytes'],
  [
    'more characters than allowed',
    { nickname: '😀😀😀😀a' },
    'TooLong',
    '.nickname',
    'Too long: may not be more than 4 bytes',
  ],
  ['too many items', { tags: ['a', 'b', 'c', 'd'] }, 'TooMany', '.tags', 'Too many: 4: must have at most 3 items'],
  ['the same value twice in a set', { tags: ['a', 'a'] }, 'Duplicate', '.tags[1]', 'Duplicate value: "a"'],
  ['the same key twice in a list-map', { parts }, 'Duplicate', '.parts[1]', 'Duplicate value: {"name":"a"}'],
  ['a violated CEL rule with a field path', { low: 5, high: 3 }, 'Invalid', '.low', order],
  ['a violated CEL rule with its message', { code: 'zero' }, 'Invalid', '', 'Invalid value: code zero is for size 0'],
])('%s is Invalid with a cause at its field', async (_what, spec, reason, at, message) => {
  await expectInvalid({ size: 1, ...spec }, { reason: `FieldValue${reason}`, field: `spec${at}`, message });
});

it('a string of as many characters as allowed is accepted, also where each takes four bytes', async () => {
  expect((await make({ size: 1, nickname: '😀😀😀😀' })).status).toBe(201);
});

it.each([
  '2026-01-01t00:00:00z',
  '2026-01-01T00:00:00.5+01:00',
  '2026-01-01T00:00:00+99:99',
])('a date-time of a schema may be %s', async (since) =>
  expect((await make({ size: 1, since })).body.spec?.since).toBe(since));

it('an object with several invalid fields has a cause for each of them', async () => {
  const { body } = await make({ size: 200, color: 'pink', loose: 'yes' });
  const fields = body.details?.causes?.map((cause) => cause.field);
  expect(fields).toEqual(expect.arrayContaining(['spec.size', 'spec.color', 'spec.loose']));
});

it('an object without a required spec is Invalid at spec', async () => {
  const ns = await namespace();
  const { spec: _, ...withoutSpec } = gadget('one');
  const rejected = await wire.post(gadgets(ns), withoutSpec);
  const cause = { reason: 'FieldValueRequired', message: 'Required value', field: 'spec' };
  expect(rejected.body.details?.causes).toContainEqual(cause);
});

it('a transition rule applies only to updates, and only if the old and the new value exist', async () => {
  const { main } = await createGadget({ size: 1, frozen: 'a' });
  const rejected = await wire.mergePatch(main, { spec: { frozen: 'b' } });
  expect(rejected.body.details?.causes).toEqual([
    { reason: 'FieldValueInvalid', message: 'Invalid value: "b": frozen cannot be changed', field: 'spec.frozen' },
  ]);
  expect((await wire.mergePatch(main, { spec: { size: 2 } })).status).toBe(200);
  expect((await wire.mergePatch(main, { spec: { frozen: null } })).status).toBe(200);
  expect((await wire.mergePatch(main, { spec: { frozen: 'b' } })).status).toBe(200);
});
