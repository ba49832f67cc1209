// The order of the items of a list after an apply: the cases of structured-merge-diff (typed/merge_test.go), with one
// letter for each item.
import { describe, expect, it } from 'vitest';
import { mergeApplied } from '../../src/fields/merge.ts';
import type { Schema } from '../../src/schema/schema.ts';

const setSchema: Schema = { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' };

const merged = (live: string, applied: string): unknown => mergeApplied([...live], [...applied], setSchema);

describe('an applied set', () => {
  it.each([
    ['abc', 'ab', 'abc'],
    ['ab', 'abc', 'abc'],
    ['abc', '', 'abc'],
    ['', 'abc', 'abc'],
    ['ab', 'ba', 'ba'],
    ['abc', 'def', 'abcdef'],
    ['abc', 'cdef', 'abcdef'],
    ['abcgf', 'cdef', 'abcgdef'],
    ['cdef', 'ace', 'acdef'],
    ['abcxyz', 'def', 'abcxyzdef'],
    ['abcxyz', 'defxyz', 'abcdefxyz'],
    ['cagf', 'cfag', 'cfag'],
    ['abcd', 'defa', 'bcdefa'],
    ['cdefghij', '2h3e4kl', 'cdfg2hij3e4kl'],
    ['abcdefghij', '1b2h3e4kl', 'a1bcdfg2hij3e4kl'],
    // A live list can contain duplicates, if it was written before the schema declared it as a set.
    ['abb', 'c', 'abbc'],
    ['abb', 'b', 'ab'],
    ['abb', 'a', 'abb'],
    ['aabb', 'bcd', 'aabcd'],
    ['abcdec', '1b2ed', 'a1bc2ecd'],
    ['abcdec', '1b2ced', 'a1b2ced'],
    ['cagfca', 'cfag', 'cfag'],
  ])('the live set %s merged with the applied set %s is %s', (live, applied, expected) => {
    expect(merged(live, applied)).toEqual([...expected]);
  });
});

it('an atomic map that is applied empty replaces the live one', () => {
  const atomic: Schema = { type: 'object', 'x-kubernetes-map-type': 'atomic' };
  expect(mergeApplied({ a: 'b' }, {}, atomic)).toEqual({});
});
