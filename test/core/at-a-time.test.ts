// Only how much is under way at a time, and that nothing is left out.
import { expect, it } from 'vitest';
import { atATime } from '../../src/core/at-a-time.ts';

it('does everything once, and so many things at a time', async () => {
  const done: number[] = [];
  let underWay = 0;
  let most = 0;
  await atATime(3, [1, 2, 3, 4, 5, 6, 7], async (item) => {
    underWay += 1;
    most = Math.max(most, underWay);
    await Promise.resolve();
    underWay -= 1;
    done.push(item);
  });
  expect(done.toSorted()).toEqual([1, 2, 3, 4, 5, 6, 7]);
  expect(most).toBe(3);
});

it('fails with the first failure', async () => {
  const failing = atATime(2, [1, 2, 3], async (item) => {
    if (item === 2) throw new Error('two');
  });
  await expect(failing).rejects.toThrow('two');
});
