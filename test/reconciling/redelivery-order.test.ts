// Only the order of redelivered messages. How many run at a time, and that the others were deleted before, is in
// batch-ends.test.ts.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { groupRecords, type KeyGroup, orderRedelivered, readRecord } from '../../src/reconciling/group-records.ts';
import { record } from './batch-harness.ts';

const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'];
const groupsOf = (remaining: readonly string[], receipt: number): readonly KeyGroup[] =>
  groupRecords(
    'water-tank',
    remaining.map((name) => readRecord(record(name, {}, receipt))),
  ).groups;

/** Returns the keys that remain if the function crashes at the first crashing key, at each of these receipts. */
function remainingAfter(crashing: ReadonlySet<string>, receipts: readonly number[]): readonly string[] {
  return receipts.reduce<readonly string[]>((remaining, receipt) => {
    const order = orderRedelivered(groupsOf(remaining, receipt)).map(({ message }) => message.name);
    const crash = order.findIndex((name) => crashing.has(name));
    return crash === -1 ? [] : order.slice(crash);
  }, names);
}

it.each(
  names,
)('with %s, which crashes its function each time, all other keys are done within two receipts', (crashing) => {
  expect(remainingAfter(new Set([crashing]), [2, 3])).toEqual([crashing]);
});

it('a key between two crashing keys is done after some receipts', () => {
  const remaining = remainingAfter(new Set(['c', 'h']), [2, 3, 4, 5, 6, 7, 8, 9]);
  expect(new Set(remaining)).toEqual(new Set(['c', 'h']));
});

it('orderRedelivered returns each key once', () => {
  fc.assert(
    fc.property(fc.subarray(names), fc.integer({ min: 2, max: 12 }), (some, receipt) => {
      const order = orderRedelivered(groupsOf(some, receipt)).map(({ message }) => message.name);
      expect(order.toSorted()).toEqual(some.toSorted());
    }),
  );
});
