// The queues of a test system, compared with what SQS documents. What runs on them is in system.test.ts.
import { expect, it } from 'vitest';
import { createSystemQueues } from '../../src/testing/system/queues.ts';

const { signal } = new AbortController();

function startQueues() {
  const clock = { ms: 0 };
  const queues = createSystemQueues(() => clock.ms);
  const bodies = (queue: string) => queues.receive(queue).map(({ body }) => body);
  const send = async (queue: string, ...texts: readonly string[]) => {
    const fifo = (body: string) =>
      queue.endsWith('.fifo') ? { groupId: body.slice(0, 1), deduplicationId: body } : {};
    await queues.send(
      queue,
      texts.map((body) => ({ body, ...fifo(body) })),
      { signal },
    );
  };
  return { clock, queues, bodies, send };
}

it('a received message that is not deleted is received again after 30 seconds, with a higher receive count', async () => {
  const { clock, queues, bodies, send } = startQueues();
  await send('timers', 'a');
  expect(bodies('timers')).toEqual(['a']);
  expect(queues.depth('timers')).toEqual({ visible: 0, inFlight: 1, delayed: 0 });
  clock.ms = 29_999;
  expect(bodies('timers')).toEqual([]);
  clock.ms = 30_000;
  expect(queues.receive('timers')).toMatchObject([{ body: 'a', receiveCount: 2 }]);
});

it('a message of a FIFO group waits for an earlier one that is in flight, and other groups do not', async () => {
  const { queues, bodies, send } = startQueues();
  await send('foo.fifo', 'a1', 'b1');
  const received = queues.receive('foo.fifo');
  await send('foo.fifo', 'a2', 'c1');
  expect(bodies('foo.fifo')).toEqual(['c1']);
  queues.delete(
    'foo.fifo',
    received.map(({ receiptHandle }) => receiptHandle),
  );
  expect(bodies('foo.fifo')).toEqual(['a2']);
});
