// Only which errors of a key the queue reports. What is reconciled is in the other files of this folder.

import { createSerialQueue } from '@outrigger/apiserver/workloads/serial-queue';
import { expect, it, vi } from 'vitest';

it('an error that repeats is reported once, until the key succeeds or fails with another one', async () => {
  const results = ['no pod', 'no pod', 'no claim', '', 'no claim'];
  const reported: string[] = [];
  const left = results.values();
  const queue = createSerialQueue(
    async () => {
      const { value = '' } = left.next();
      if (value !== '') throw new Error(value);
    },
    {
      signal: new AbortController().signal,
      wait: async () => {},
      onError: (key, error) => reported.push(`${key}: ${String(error)}`),
    },
  );
  queue.add('a');
  await vi.waitFor(() => expect(reported).toHaveLength(2));
  await queue.stop();
  queue.add('a');
  await vi.waitFor(() => expect(reported).toHaveLength(3));
  expect(reported).toEqual(['a: Error: no pod', 'a: Error: no claim', 'a: Error: no claim']);
});
