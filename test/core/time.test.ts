// Only the longest wait. Its abort is covered by everything that waits.
import { expect, it, onTestFinished, vi } from 'vitest';
import { sleep } from '../../src/core/time.ts';

it('a sleep that is longer than a timer of Node can be does not end at once', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  let hasEnded = false;
  void sleep(2_147_484, new AbortController().signal).then(() => {
    hasEnded = true;
  });
  await vi.advanceTimersByTimeAsync(1_000_000);
  expect(hasEnded).toBe(false);
});
