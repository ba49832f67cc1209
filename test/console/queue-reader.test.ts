// Only how many dead letters of a local queue are read. What is read of each queue is dev-source.test.ts.

import { createQueueReader } from '@outrigger/cli/console/dev/queue-reader';
import { expect, it, onTestFinished, vi } from 'vitest';
import { foo } from '../../src/controllers/foo.ts';

it('of a local queue with more than 200 dead letters 200 are read, with the number of the others', async () => {
  const all = Array.from({ length: 203 }, (_, index) => ({ messageId: `${index}`, body: '', messageAttributes: {} }));
  vi.stubGlobal('fetch', async (url: string) => {
    const ready = url.endsWith('/foo-dlq.fifo') ? all : [];
    return Response.json({ messages: { ready, delayed: [], inflight: [] } });
  });
  onTestFinished(() => void vi.unstubAllGlobals());
  const names = ['foo.fifo', 'foo-dlq.fifo', 'timers', 'timers-dlq', 'resync-dlq'];
  const queues = Object.fromEntries(names.map((name) => [name, `http://sqs/1/${name}`]));
  const read = createQueueReader([foo], { endpoint: 'http://sqs', queues });
  const { messages, more, unread } = await read(new AbortController().signal);
  expect([messages.length, more, unread]).toEqual([200, { 'foo-dlq.fifo': 3 }, []]);
});
