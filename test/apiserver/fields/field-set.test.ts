// Sets of fields: they obey set arithmetic, and are written as managedFields are.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  difference,
  type FieldSet,
  fieldSet,
  intersection,
  isEmpty,
  NO_FIELDS,
  paths,
  readFields,
  union,
  writeFields,
} from '../../../src/apiserver/fields/field-set.ts';

const element = fc.constantFrom('f:a', 'f:b', 'k:{"name":"c"}', 'v:"d"');
function setsOf(depth: number): fc.Arbitrary<FieldSet> {
  const below = depth === 0 ? fc.constant(NO_FIELDS) : setsOf(depth - 1);
  return fc
    .tuple(fc.array(element, { maxLength: 3 }), fc.array(fc.tuple(element, below), { maxLength: 2 }))
    .map(([members, children]) => fieldSet(members, children));
}

const sets = setsOf(3);

describe('sets of fields', () => {
  it('what is written reads back as the same set', () => {
    fc.assert(
      fc.property(sets, (set) => {
        expect(written(readFields(writeFields(set)))).toEqual(written(set));
      }),
    );
  });

  it('a set always divides into what it shares with another and what it does not', () => {
    fc.assert(
      fc.property(sets, sets, (a, b) => {
        expect(written(union(intersection(a, b), difference(a, b)))).toEqual(written(a));
        expect(isEmpty(intersection(difference(a, b), b))).toBe(true);
      }),
    );
  });

  it('a union always holds both, whatever the order', () => {
    fc.assert(
      fc.property(sets, sets, (a, b) => {
        expect(written(union(a, b))).toEqual(written(union(b, a)));
        expect(isEmpty(difference(a, union(a, b)))).toBe(true);
      }),
    );
  });

  it('a field is a member or a way to others or both', () => {
    const set = readFields({
      'f:spec': { '.': {}, 'f:parts': { 'k:{"name":"a"}': { '.': {}, 'f:count': {} } }, 'f:size': {} },
    });
    expect(paths(set)).toEqual(['.spec', '.spec.parts[name="a"]', '.spec.parts[name="a"].count', '.spec.size']);
    expect(isEmpty(NO_FIELDS)).toBe(true);
  });
});

/** Sets compare by what they would be written as: the order of their elements says nothing. */
function written(set: FieldSet): unknown {
  return writeFields(set);
}
