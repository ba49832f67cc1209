// Only the comparison of a dry run: the fields that an apply would change, and the object after the apply.
import { expect, it } from 'vitest';
import { typedFieldsOf } from '../../../src/kube/apply/field-types.ts';
import { changedFields, objectAfterApply } from '../../../src/kube/dry-run/changed-fields.ts';

const conditions = (...list: readonly (readonly [string, string])[]) => ({
  conditions: list.map(([type, status]) => ({ type, status })),
});

it('changedFields is empty if the applied fields are equal', () => {
  const live = { spec: { replicas: 2, others: 'theirs' } };
  expect(changedFields({ live, applied: { spec: { replicas: 2 } }, owned: { spec: { replicas: 2 } } })).toEqual([]);
});

it('changedFields lists changed fields, added fields, and fields that the manager no longer applies', () => {
  const live = { spec: { a: 1, b: 'old', theirs: true } };
  const owned = { spec: { a: 1, b: 'old' } };
  expect(changedFields({ live, applied: { spec: { a: 2, c: [] } }, owned })).toEqual([
    { path: 'spec.a', before: 1, after: 2 },
    { path: 'spec.c', after: [] },
    { path: 'spec.b', before: 'old' },
  ]);
});

it('changedFields lists a field that another manager has set', () => {
  expect(changedFields({ live: { spec: { replicas: 5 } }, applied: { spec: { replicas: 3 } }, owned: {} })).toEqual([
    { path: 'spec.replicas', before: 5, after: 3 },
  ]);
});

it('changedFields names list items by their type or name, whatever their order', () => {
  const live = conditions(['Ready', 'True'], ['Built', 'True'], ['Theirs', 'True']);
  const owned = conditions(['Ready', 'True'], ['Built', 'True']);
  expect(changedFields({ live, applied: conditions(['Built', 'False']), owned })).toEqual([
    { path: 'conditions[Built].status', before: 'True', after: 'False' },
    { path: 'conditions[Ready]', before: { type: 'Ready', status: 'True' } },
  ]);
});

it('changedFields treats two notations of a quantity as equal only where the kind has a quantity', () => {
  const both = (cpu: string) => ({ spec: { resources: { limits: { cpu } }, nodeSelector: { cpu } } });
  const change = { live: both('500m'), applied: both('0.5'), owned: both('500m') };
  expect(changedFields(change, { types: typedFieldsOf('Pod') })).toEqual([
    { path: 'spec.nodeSelector.cpu', before: '500m', after: '0.5' },
  ]);
  expect(changedFields(change, { isBuiltIn: false })).toHaveLength(2);
});

it('objectAfterApply keeps the fields of others, sets the applied fields and removes those no longer applied', () => {
  const live = { spec: { a: 1, b: 'old', theirs: true }, ...conditions(['Ready', 'True'], ['Theirs', 'True']) };
  const owned = { spec: { a: 1, b: 'old' }, ...conditions(['Ready', 'True']) };
  const applied = { spec: { a: 2 }, ...conditions(['Built', 'True']) };
  expect(objectAfterApply({ live, applied, owned })).toEqual({
    spec: { a: 2, theirs: true },
    ...conditions(['Theirs', 'True'], ['Built', 'True']),
  });
});
