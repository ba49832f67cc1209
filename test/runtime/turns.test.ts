// Only whose turn it is among messages that were received before. That each runs alone, when the others are deleted, is tested with
// the batch.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Group, takeIn } from '../../src/runtime/intake.ts';
import { takeTurns } from '../../src/runtime/turns.ts';
import { record } from '../reconciling/batch-harness.ts';

const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'];
const groupsOf = (left: readonly string[], receipt: number): readonly Group[] =>
  takeIn(
    'water-tank',
    left.map((name) => record(name, {}, receipt)),
  ).groups;

/** Who is left when a function has died at the first deadly one in the line, at each of these receipts. */
function leftAfter(deadly: ReadonlySet<string>, receipts: readonly number[]): readonly string[] {
  return receipts.reduce<readonly string[]>((left, receipt) => {
    const line = takeTurns(groupsOf(left, receipt)).map(({ message }) => message.name);
    const death = line.findIndex((name) => deadly.has(name));
    return death === -1 ? [] : line.slice(death);
  }, names);
}

describe('the line of those that were received before', () => {
  it.each(names)('beside %s, which kills its function each time, all others are done within two receipts', (deadly) => {
    expect(leftAfter(new Set([deadly]), [2, 3])).toEqual([deadly]);
  });

  it('who stands between two deadly ones does not stand there for ever', () => {
    const left = leftAfter(new Set(['c', 'h']), [2, 3, 4, 5, 6, 7, 8, 9]);
    expect(new Set(left)).toEqual(new Set(['c', 'h']));
  });

  it('has everybody, once', () => {
    fc.assert(
      fc.property(fc.subarray(names), fc.integer({ min: 2, max: 12 }), (some, receipt) => {
        const line = takeTurns(groupsOf(some, receipt)).map(({ message }) => message.name);
        expect(line.toSorted()).toEqual(some.toSorted());
      }),
    );
  });
});
