// Only the comparison that a rehearsal shows: which fields an apply would change, and how the object would be afterwards.
import { describe, expect, it } from 'vitest';
import { changedFields, merged } from '../../../src/kube/changed-fields.ts';

const conditions = (...list: readonly (readonly [string, string])[]) => ({
  conditions: list.map(([type, status]) => ({ type, status })),
});

describe('the changed fields', () => {
  it('are none when what is applied is there', () => {
    const live = { spec: { replicas: 2, others: 'theirs' } };
    expect(changedFields({ live, wanted: { spec: { replicas: 2 } }, owned: { spec: { replicas: 2 } } })).toEqual([]);
  });

  it('are those that differ, that are new, and that the manager no longer says', () => {
    const live = { spec: { a: 1, b: 'old', theirs: true } };
    const owned = { spec: { a: 1, b: 'old' } };
    expect(changedFields({ live, wanted: { spec: { a: 2, c: [] } }, owned })).toEqual([
      { path: 'spec.a', before: 1, after: 2 },
      { path: 'spec.c', after: [] },
      { path: 'spec.b', before: 'old' },
    ]);
  });

  it('show what somebody else has set there now', () => {
    expect(changedFields({ live: { spec: { replicas: 5 } }, wanted: { spec: { replicas: 3 } }, owned: {} })).toEqual([
      { path: 'spec.replicas', before: 5, after: 3 },
    ]);
  });

  it('name items by their type or name, whatever their order is', () => {
    const live = conditions(['Ready', 'True'], ['Built', 'True'], ['Theirs', 'True']);
    const owned = conditions(['Ready', 'True'], ['Built', 'True']);
    expect(changedFields({ live, wanted: conditions(['Built', 'False']), owned })).toEqual([
      { path: 'conditions[Built].status', before: 'True', after: 'False' },
      { path: 'conditions[Ready]', before: { type: 'Ready', status: 'True' } },
    ]);
  });

  it('take two ways to write a quantity for one, where quantities are', () => {
    const resources = (cpu: string) => ({ resources: { limits: { cpu } }, env: { cpu } });
    expect(changedFields({ live: resources('500m'), wanted: resources('0.5'), owned: resources('500m') })).toEqual([
      { path: 'env.cpu', before: '500m', after: '0.5' },
    ]);
  });
});

describe('the merged object', () => {
  it('keeps what is others’, sets what is said and drops what no longer is', () => {
    const live = { spec: { a: 1, b: 'old', theirs: true }, ...conditions(['Ready', 'True'], ['Theirs', 'True']) };
    const owned = { spec: { a: 1, b: 'old' }, ...conditions(['Ready', 'True']) };
    const wanted = { spec: { a: 2 }, ...conditions(['Built', 'True']) };
    expect(merged({ live, wanted, owned })).toEqual({
      spec: { a: 2, theirs: true },
      ...conditions(['Theirs', 'True'], ['Built', 'True']),
    });
  });
});
