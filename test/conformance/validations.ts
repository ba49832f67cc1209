// Conformance: validation by the schema of a CRD: the reasons, messages and field paths of every rule.
import { expect, it } from 'vitest';
import { gadget, gadgetApiVersion, gadgets } from './gadget.ts';
import type { Suite } from './suite.ts';

/** Declares the cases. */
export function validationCases({ wire, namespace }: Suite): void {
  const make = async (spec: object) => {
    const ns = await namespace();
    return wire.post(gadgets(ns), gadget('one', spec));
  };

  it.each([
    ['a missing field', {}, 'FieldValueRequired', 'spec.size', 'Required value'],
    ['a null for a required field', { size: null }, 'FieldValueRequired', 'spec.size', 'Required value'],
    [
      'a string for an integer',
      { size: 'x' },
      'FieldValueTypeInvalid',
      'spec.size',
      'Invalid value: "string": spec.size in body must be of type integer: "string"',
    ],
    [
      'a fraction for an integer',
      { size: 1.5 },
      'FieldValueTypeInvalid',
      'spec.size',
      'Invalid value: "number": spec.size in body must be of type integer: "number"',
    ],
    [
      'a string for a boolean',
      { size: 1, loose: 'yes' },
      'FieldValueTypeInvalid',
      'spec.loose',
      'Invalid value: "string": spec.loose in body must be of type boolean: "string"',
    ],
    [
      'an array for an object',
      { size: 1, labels: [] },
      'FieldValueTypeInvalid',
      'spec.labels',
      'Invalid value: "array": spec.labels in body must be of type object: "array"',
    ],
    [
      'a number below the minimum',
      { size: -1 },
      'FieldValueInvalid',
      'spec.size',
      'Invalid value: -1: spec.size in body should be greater than or equal to 0',
    ],
    [
      'a number above the maximum',
      { size: 101 },
      'FieldValueInvalid',
      'spec.size',
      'Invalid value: 101: spec.size in body should be less than or equal to 100',
    ],
    [
      'a fraction below the minimum',
      { size: 1, ratio: 0.000_001_5 },
      'FieldValueInvalid',
      'spec.ratio',
      'Invalid value: 1.5e-06: spec.ratio in body should be greater than or equal to 1e-05',
    ],
    [
      'a fraction above the maximum',
      { size: 1, ratio: 3_000_000.5 },
      'FieldValueInvalid',
      'spec.ratio',
      'Invalid value: 3.0000005e+06: spec.ratio in body should be less than or equal to 2.5e+06',
    ],
    [
      'a whole number above the maximum of a number',
      { size: 1, ratio: 3_000_000 },
      'FieldValueInvalid',
      'spec.ratio',
      'Invalid value: 3000000: spec.ratio in body should be less than or equal to 2500000',
    ],
    [
      'a value outside the enum',
      { size: 1, color: 'pink' },
      'FieldValueNotSupported',
      'spec.color',
      'Unsupported value: "pink": supported values: "red", "green", "blue"',
    ],
    [
      'a string that does not match the pattern',
      { size: 1, code: 'AB1' },
      'FieldValueInvalid',
      'spec.code',
      `Invalid value: "AB1": spec.code in body should match '^[a-z]+$'`,
    ],
    [
      'a string too short',
      { size: 1, code: 'a' },
      'FieldValueInvalid',
      'spec.code',
      'Invalid value: "a": spec.code in body should be at least 2 chars long',
    ],
    [
      'a string too long',
      { size: 1, code: 'abcdef' },
      'FieldValueTooLong',
      'spec.code',
      'Too long: may not be more than 5 bytes',
    ],
    [
      'a string that is not a date-time',
      { size: 1, since: 'yesterday' },
      'FieldValueTypeInvalid',
      'spec.since',
      'Invalid value: "yesterday": spec.since in body must be of type date-time: "yesterday"',
    ],
    [
      'a boolean for an int-or-string',
      { size: 1, port: true },
      'FieldValueTypeInvalid',
      'spec.port',
      'Invalid value: "boolean": spec.port in body must be of type integer,string: "boolean"',
    ],
    [
      'a wrong value in a map',
      { size: 1, labels: { a: 1 } },
      'FieldValueTypeInvalid',
      'spec.labels.a',
      'Invalid value: "integer": spec.labels.a in body must be of type string: "integer"',
    ],
    [
      'a missing field in a list',
      { size: 1, parts: [{ count: 1 }] },
      'FieldValueRequired',
      'spec.parts[0].name',
      'Required value',
    ],
    [
      'a wrong field in a list',
      { size: 1, parts: [{ name: 'a', count: 'x' }] },
      'FieldValueTypeInvalid',
      'spec.parts[0].count',
      'Invalid value: "string": spec.parts[0].count in body must be of type integer: "string"',
    ],
    [
      'too many items',
      { size: 1, tags: ['a', 'b', 'c', 'd'] },
      'FieldValueTooMany',
      'spec.tags',
      'Too many: 4: must have at most 3 items',
    ],
    [
      'the same value twice in a set',
      { size: 1, tags: ['a', 'a'] },
      'FieldValueDuplicate',
      'spec.tags[1]',
      'Duplicate value: "a"',
    ],
    [
      'the same key twice in a list-map',
      { size: 1, parts: [{ name: 'a' }, { name: 'a' }] },
      'FieldValueDuplicate',
      'spec.parts[1]',
      'Duplicate value: {"name":"a"}',
    ],
    [
      'a violated CEL rule with a field path',
      { size: 1, low: 5, high: 3 },
      'FieldValueInvalid',
      'spec.low',
      'Invalid value: low must not exceed high',
    ],
    [
      'a violated CEL rule with a computed message',
      { size: 1, code: 'zero' },
      'FieldValueInvalid',
      'spec',
      'Invalid value: code zero is for size 0',
    ],
  ])('%s is Invalid with a cause at its field', async (_what, spec, reason, field, message) => {
    const rejected = await make(spec);
    expect(rejected.body).toMatchObject({ code: 422, reason: 'Invalid', details: { name: 'one', kind: 'Gadget' } });
    expect(rejected.body.details?.causes).toContainEqual({ reason, field, message });
    expect(rejected.body.message).toContain(`${field}: ${message}`);
  });

  it('an object with several invalid fields has a cause for each of them', async () => {
    const { body } = await make({ size: 200, color: 'pink', loose: 'yes' });
    const fields = body.details?.causes?.map((cause) => cause.field);
    expect(fields).toEqual(expect.arrayContaining(['spec.size', 'spec.color', 'spec.loose']));
  });

  it('an object without a required spec is Invalid at spec', async () => {
    const ns = await namespace();
    const rejected = await wire.post(gadgets(ns), {
      apiVersion: gadgetApiVersion,
      kind: 'Gadget',
      metadata: { name: 'one' },
    });
    expect(rejected.body.details?.causes).toContainEqual({
      reason: 'FieldValueRequired',
      message: 'Required value',
      field: 'spec',
    });
  });

  it('a transition rule applies only to updates, and only if the old and the new value exist', async () => {
    const ns = await namespace();
    await wire.post(gadgets(ns), gadget('one', { size: 1, frozen: 'a' }));
    const rejected = await wire.mergePatch(gadgets(ns, 'one'), { spec: { frozen: 'b' } });
    expect(rejected.body.details?.causes).toEqual([
      { reason: 'FieldValueInvalid', message: 'Invalid value: "b": frozen cannot be changed', field: 'spec.frozen' },
    ]);
    expect((await wire.mergePatch(gadgets(ns, 'one'), { spec: { size: 2 } })).status).toBe(200);
    expect((await wire.mergePatch(gadgets(ns, 'one'), { spec: { frozen: null } })).status).toBe(200);
    expect((await wire.mergePatch(gadgets(ns, 'one'), { spec: { frozen: 'b' } })).status).toBe(200);
  });
}
