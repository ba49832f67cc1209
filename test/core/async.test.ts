// Only forEachConcurrently: the limit, completeness and failures.
import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { forEachConcurrently } from '../../src/core/async.ts';

it('forEachConcurrently calls the work once for each item, with no more calls in flight than the limit', async () => {
  const done: number[] = [];
  let inFlight = 0;
  let maxInFlight = 0;
  await forEachConcurrently(3, [1, 2, 3, 4, 5, 6, 7], async (item) => {
    inFlight += 1;
    maxInFlight = Math.max(maxInFlight, inFlight);
    await Promise.resolve();
    inFlight -= 1;
    done.push(item);
  });
  expect(done.toSorted()).toEqual([1, 2, 3, 4, 5, 6, 7]);
  expect(maxInFlight).toBe(3);
});

it('forEachConcurrently starts no call after a failure, and rejects with it when the started calls have ended', async () => {
  const begun: number[] = [];
  const slow = Promise.withResolvers<void>();
  let hasRejected = false;
  const failing = forEachConcurrently(2, [1, 2, 3, 4], async (item) => {
    begun.push(item);
    if (item === 2) throw new Error('two');
    await slow.promise;
    throw new Error('one, later');
  }).finally(() => {
    hasRejected = true;
  });
  await setImmediate();
  expect(hasRejected).toBe(false);
  slow.resolve();
  await expect(failing).rejects.toThrow('two');
  expect(begun).toEqual([1, 2]);
});

it.each([0, Number.NaN])('forEachConcurrently rejects the limit %s', async (limit) => {
  await expect(forEachConcurrently(limit, [1], async () => {})).rejects.toThrow(TypeError);
});

it.each([
  1,
  Number.POSITIVE_INFINITY,
])('forEachConcurrently of %s also calls the work for an item that is undefined, and the items after it', async (limit) => {
  const done: unknown[] = [];
  await forEachConcurrently(limit, [undefined, 2], async (item) => void done.push(item));
  expect(done).toEqual([undefined, 2]);
});
