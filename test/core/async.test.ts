// Only forEachConcurrently: the limit, completeness and the first failure.
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

it('forEachConcurrently rejects with the first failure', async () => {
  const failing = forEachConcurrently(2, [1, 2, 3], async (item) => {
    if (item === 2) throw new Error('two');
  });
  await expect(failing).rejects.toThrow('two');
});
