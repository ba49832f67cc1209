// Only which messages of a stage the console can show: dead letters, timers that the log has announced, and the queues
// that could not be read.
import { PurgeQueueCommand, ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { createHistory } from '@outrigger/cli/console/history';
import { createDeadLetterReader } from '@outrigger/cli/console/stage/dead-letter-reader';
import { expect, it, vi } from 'vitest';
import { foo } from '../../src/controllers/foo.ts';
import { waterTank } from '../../src/controllers/water-tank.ts';
import { formatMessage } from '../../src/sqs/message.ts';
import { createSend } from '../../src/sqs/send.ts';
import { startTestQueues } from '../sqs/fauxqs.ts';
import { aMessage } from '../sqs/messages.ts';

const { signal } = new AbortController();
const id = 'lab:foos.samples.example.com/default/example';

it('dead letters and announced timers are shown, and an action waits for the read that has them in flight', async () => {
  await using parts = new AsyncDisposableStack();
  const { create, drain, sqs, urlPrefix, stop } = await startTestQueues();
  parts.defer(stop);
  await create('foo-dlq.fifo');
  const key = { controller: 'foo', cluster: 'lab', group: 'samples.example.com', resource: 'foos' };
  const body = formatMessage(aMessage({ ...key, namespace: 'default', name: 'example' }));
  const letter = { body, groupId: 'a', deduplicationId: 'a', attributes: { messageId: 'm-1', reason: 'exhausted' } };
  await createSend(sqs, urlPrefix)('foo-dlq.fifo', [letter], { signal });
  const history = createHistory([foo], { now: () => 1_000_000, onEntry: () => undefined });
  const done = { message: 'reconciled', key: `foo:${id}`, cause: 'change', outcome: 'done' };
  history.addLogLine(JSON.stringify({ ...done, nextCause: 'requeue', dueAt: 1_030 }), 'foo');

  // The other queues of dead letters do not exist. The first reason stands for all.
  const reader = createDeadLetterReader([foo, waterTank], { sqs, urlPrefix, history });
  const dead = { queue: 'foo-dlq.fifo', state: 'dead', messageId: 'm-1', reason: 'exhausted', id };
  const timer = { queue: 'timers', state: 'timer', id, controller: 'foo', cause: 'requeue', dueAt: 1_030_000 };
  const failed = reader.exclusively(async () => await Promise.reject(new Error('no')));
  const reading = reader.read(signal);
  const taken = reader.exclusively(async () => await drain('foo-dlq.fifo'));
  await expect(failed).rejects.toThrow('no');
  expect(await reading).toMatchObject({
    messages: [dead, timer],
    unread: ['water-tank-dlq.fifo', 'timers-dlq', 'resync-dlq'],
  });
  expect((await reading).notes?.filter((note) => note.startsWith('Dead letters'))).toEqual([
    expect.stringMatching(/^Dead letters cannot be read: water-tank-dlq\.fifo: .*queue does not exist/),
  ]);
  expect(await taken).toHaveLength(1);
  // It is not the cached result of before the action.
  expect((await reader.read(signal)).messages).toMatchObject([timer]);
});

it('dead letters are received once for a page that shows them, again when there is another, and never for a number', async () => {
  await using parts = new AsyncDisposableStack();
  const { create, sqs, urlPrefix, stop } = await startTestQueues();
  parts.defer(stop);
  await create('foo-dlq.fifo', 'timers-dlq', 'resync-dlq');
  const send = async (name: string) =>
    await createSend(sqs, urlPrefix)(
      'foo-dlq.fifo',
      [{ body: name, groupId: name, deduplicationId: name, attributes: { reason: 'exhausted' } }],
      { signal },
    );
  await send('a');
  const history = createHistory([foo], { onEntry: () => undefined });
  const reader = createDeadLetterReader([foo], { sqs, urlPrefix, history });
  let nowMs = Date.now();
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => nowMs);
  parts.defer(() => clock.mockRestore());
  const QueueUrl = `${urlPrefix}foo-dlq.fifo`;
  const later = async (read: typeof reader.read) => {
    nowMs += 21_000;
    const { messages, more } = await read(signal);
    return [messages.map(({ body }) => body).sort(), more];
  };
  expect(await later(reader.peek)).toEqual([[], { 'foo-dlq.fifo': 1 }]);
  for (let count = 0; count < 3; count += 1) expect(await later(reader.read)).toEqual([['a'], {}]);
  expect(await later(reader.peek)).toEqual([['a'], {}]);
  await send('b');
  expect(await later(reader.peek)).toEqual([[], { 'foo-dlq.fifo': 2 }]);
  expect(await later(reader.read)).toEqual([['a', 'b'], {}]);
  const AttributeNames = ['ApproximateReceiveCount'] as const;
  const { Messages = [] } = await sqs.send(
    new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, MessageSystemAttributeNames: [...AttributeNames] }),
  );
  const counts = Messages.map(({ Body, Attributes }) => [Body, Attributes?.ApproximateReceiveCount]);
  // This receive is one of them.
  expect(counts.sort()).toEqual([
    ['a', '3'],
    ['b', '2'],
  ]);
  await sqs.send(new PurgeQueueCommand({ QueueUrl }));
  expect(await later(reader.peek)).toEqual([[], {}]);
  for (const name of ['c', 'd']) await send(name);
  expect(await later(reader.read)).toEqual([['c', 'd'], {}]);
});

it('of a queue with more than 100 dead letters 100 are shown, with the number of the others', async () => {
  await using parts = new AsyncDisposableStack();
  const { create, sqs, urlPrefix, stop } = await startTestQueues();
  parts.defer(stop);
  await create('foo-dlq.fifo', 'timers-dlq', 'resync-dlq');
  const letters = Array.from({ length: 103 }, (_, index) => ({
    body: 'no message',
    groupId: `${index}`,
    deduplicationId: `${index}`,
  }));
  await createSend(sqs, urlPrefix)('foo-dlq.fifo', letters, { signal });
  const history = createHistory([foo], { onEntry: () => undefined });
  const { messages, more } = await createDeadLetterReader([foo], { sqs, urlPrefix, history }).read(signal);
  expect([messages.length, more]).toEqual([100, { 'foo-dlq.fifo': 3 }]);
});
