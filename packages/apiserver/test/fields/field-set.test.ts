// Sets of fields: the laws of set operations, and the form of managedFields.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  difference,
  type FieldSet,
  fieldSet,
  intersection,
  isEmpty,
  noFields,
  paths,
  readFields,
  union,
  writeFields,
} from '../../src/fields/field-set.ts';

const element = fc.constantFrom('f:a', 'f:b', 'k:{"name":"c"}', 'v:"d"');
function setsOf(depth: number): fc.Arbitrary<FieldSet> {
  const below = depth === 0 ? fc.constant(noFields) : setsOf(depth - 1);
  return fc
    .tuple(fc.array(element, { maxLength: 3 }), fc.array(fc.tuple(element, below), { maxLength: 2 }))
    .map(([members, children]) => fieldSet(members, children));
}

// Sets are compared in their written form, because the order of their elements does not matter.
const sets = setsOf(3);

describe('field sets', () => {
  it('a written field set always reads back as the same set', () => {
    fc.assert(
      fc.property(sets, (set) => {
        expect(writeFields(readFields(writeFields(set)))).toEqual(writeFields(set));
      }),
    );
  });

  it('a field set is always the union of its intersection with another and its difference from it', () => {
    fc.assert(
      fc.property(sets, sets, (a, b) => {
        expect(writeFields(union(intersection(a, b), difference(a, b)))).toEqual(writeFields(a));
        expect(isEmpty(intersection(difference(a, b), b))).toBe(true);
      }),
    );
  });

  it('a union of field sets is always commutative and contains both sets', () => {
    fc.assert(
      fc.property(sets, sets, (a, b) => {
        expect(writeFields(union(a, b))).toEqual(writeFields(union(b, a)));
        expect(isEmpty(difference(a, union(a, b)))).toBe(true);
      }),
    );
  });

  it('an element of a field set can be a member, have children, or both', () => {
    const set = readFields({
      'f:spec': { '.': {}, 'f:parts': { 'k:{"name":"a"}': { '.': {}, 'f:count': {} } }, 'f:size': {} },
    });
    expect(paths(set)).toEqual(['.spec', '.spec.size', '.spec.parts[name="a"]', '.spec.parts[name="a"].count']);
    expect(isEmpty(noFields)).toBe(true);
  });
});
