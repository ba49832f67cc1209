// Sending entries to a queue: results, batches, order, retries and deadlines. Also deleting messages, and the depth of
// a queue. Against an SQS server; failures that no server produces on demand come from a mocked client.
import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageBatchCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { mockClient } from 'aws-sdk-client-mock';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createDelete } from '../../src/sqs/delete.ts';
import { createDepth } from '../../src/sqs/depth.ts';
import { createRenew } from '../../src/sqs/renew.ts';
import { batches, createSend } from '../../src/sqs/send.ts';
import type { QueueEntry } from '../../src/sqs/sender.ts';
import { record } from '../reconciling/batch-harness.ts';
import { useTestQueues } from './use-queues.ts';

const queues = await useTestQueues('many', 'large', 'one.fifo', 'deleted');
const { signal } = new AbortController();
const noWait = { random: () => 0.5, wait: async () => undefined };
const entries = (count: number): readonly QueueEntry[] =>
  Array.from({ length: count }, (_, number) => ({ body: `${number}` }));

describe('a queue', () => {
  const send = (queue: string, all: readonly QueueEntry[]) =>
    createSend(queues.sqs, queues.urlPrefix)(queue, all, { signal });

  it('a queue receives every entry once, and each result has the id of its own message', async () => {
    const sent = await send('many', entries(57));
    const ids = new Map((await queues.drain('many')).map(({ Body, MessageId }) => [Body, MessageId]));
    expect(ids.size).toBe(57);
    expect(sent).toEqual(entries(57).map(({ body }) => ({ accepted: true, messageId: ids.get(body) })));
  });

  it('a queue receives entries that are together larger than a batch may be', async () => {
    const large = Array.from({ length: 10 }, (_, number) => ({ body: `${number}`.repeat(200_000) }));
    expect((await send('large', large)).every(({ accepted }) => accepted)).toBe(true);
    expect(await queues.drain('large')).toHaveLength(10);
  });

  it('a FIFO queue rejects an entry with a delay, and accepts the other entries of the batch', async () => {
    const fifo = { groupId: 'h', body: 'x' };
    const sent = await send('one.fifo', [
      { ...fifo, deduplicationId: 'delayed', delaySeconds: 5 },
      { ...fifo, deduplicationId: 'undelayed' },
    ]);
    expect(sent.map(({ accepted }) => accepted)).toEqual([false, true]);
    expect(sent[0]).toMatchObject({ reason: expect.stringContaining('one.fifo') });
  });

  it('a queue that does not exist is named in the result', async () => {
    const reason = 'queue nowhere does not exist; run outrigger doctor';
    const rejected = { accepted: false, reason, missingQueue: true };
    expect(await send('nowhere', entries(2))).toEqual([rejected, rejected]);
  });

  it('createDelete deletes exactly the messages of the receipt handles, and createDepth counts each state of the others', async () => {
    await send('deleted', [...entries(12), { body: 'later', delaySeconds: 600 }]);
    const remove = createDelete(queues.sqs, queues.urlPrefix, 'deleted');
    const depth = createDepth(queues.sqs, queues.urlPrefix);
    const receive = new ReceiveMessageCommand({ QueueUrl: `${queues.urlPrefix}deleted`, MaxNumberOfMessages: 10 });
    const { Messages = [] } = await queues.sqs.send(receive);
    await remove(Messages.slice(0, 4).map(({ ReceiptHandle = '' }) => ReceiptHandle));
    expect(await depth('deleted', { signal })).toEqual({ visible: 2, inFlight: 6, delayed: 1 });
    await expect(depth('nowhere', { signal })).rejects.toThrow();
  });
});

describe('createSend', () => {
  const mocked = () => {
    const sqs = new SQSClient({ region: 'us-east-1' });
    return { sqs, mock: mockClient(sqs) };
  };
  const bodiesOf = (mock: ReturnType<typeof mocked>['mock']) =>
    mock
      .commandCalls(SendMessageBatchCommand)
      .map(({ args }) => args[0].input.Entries?.map(({ MessageBody }) => MessageBody));

  it('createSend retries only the entries that failed, until they are accepted', async () => {
    const { sqs, mock } = mocked();
    mock
      .on(SendMessageBatchCommand)
      .resolvesOnce({
        Successful: [{ Id: '0', MessageId: 'm0', MD5OfMessageBody: '' }],
        Failed: [{ Id: '1', SenderFault: false, Code: 'InternalError' }],
      })
      .resolvesOnce({ Successful: [{ Id: '1', MessageId: 'm1', MD5OfMessageBody: '' }], Failed: [] });
    const sent = await createSend(sqs, 'https://sqs/', noWait)('q', entries(2), { signal });
    expect(sent).toEqual([
      { accepted: true, messageId: 'm0' },
      { accepted: true, messageId: 'm1' },
    ]);
    expect(bodiesOf(mock)).toEqual([['0', '1'], ['1']]);
  });

  it('createSend retries throttled calls with growing waits, and stops after four calls', async () => {
    const { sqs, mock } = mocked();
    const throttled = Object.assign(new Error('slow down'), { name: 'RequestThrottled' });
    mock.on(SendMessageBatchCommand).rejects(throttled);
    const waits: number[] = [];
    const wait = async (milliseconds: number) => void waits.push(milliseconds);
    const sent = await createSend(sqs, 'https://sqs/', { random: () => 0.5, wait })('q', entries(1), { signal });
    expect(sent).toEqual([{ accepted: false, reason: 'q: RequestThrottled: slow down', error: throttled }]);
    expect(waits).toEqual([50, 100, 200]);
    expect(bodiesOf(mock)).toHaveLength(4);
  });

  it.each([
    [
      'retries no entry with a sender fault',
      [{ Id: '0', SenderFault: true, Code: 'InvalidParameterValue', Message: 'no' }],
      ...(['q: InvalidParameterValue: no', 1] as const),
    ],
    ['treats an entry that is missing in the response as failed', [], 'q: no response', 4],
  ] as const)('createSend %s', async (_, Failed, reason, calls) => {
    const { sqs, mock } = mocked();
    mock.on(SendMessageBatchCommand).resolves({ Successful: [], Failed: [...Failed] });
    const sent = await createSend(sqs, 'https://sqs/', noWait)('q', entries(1), { signal });
    expect(sent).toEqual([{ accepted: false, reason }]);
    expect(bodiesOf(mock)).toHaveLength(calls);
  });

  // Control T105.
  it('createSend ends a call that hangs at its deadline', async () => {
    const { sqs, mock } = mocked();
    mock.on(SendMessageBatchCommand).callsFake(() => new Promise(() => undefined));
    const send = createSend(sqs, 'https://sqs/', { ...noWait, callSeconds: 0.01, tries: 2 });
    expect(await send('q', entries(1), { signal })).toMatchObject([
      { accepted: false, reason: 'q: no response within 0.01 s' },
    ]);
  });

  it('createSend ends at once if its signal aborts, and returns the entries that were accepted before', async () => {
    const { sqs, mock } = mocked();
    const abort = new AbortController();
    mock
      .on(SendMessageBatchCommand)
      .resolvesOnce({ Successful: [{ Id: '0', MessageId: 'm0', MD5OfMessageBody: '' }], Failed: [] })
      .callsFake(() => {
        abort.abort(new Error('out of time'));
        return new Promise(() => undefined);
      });
    const waits: number[] = [];
    const wait = async (milliseconds: number) => void waits.push(milliseconds);
    const large = [{ body: 'x'.repeat(250_000) }, { body: 'y'.repeat(250_000) }, { body: 'z'.repeat(250_000) }];
    const sent = await createSend(sqs, 'https://sqs/', { wait, parallel: 1 })('q', large, { signal: abort.signal });
    expect(sent.map(({ accepted }) => accepted)).toEqual([true, false, false]);
    expect(waits.length).toBeLessThanOrEqual(1);
    expect(bodiesOf(mock)).toHaveLength(2);
  });
});

it('createDelete reports the messages that were not deleted, and never rejects', async () => {
  const sqs = new SQSClient({ region: 'us-east-1' });
  const mock = mockClient(sqs);
  mock
    .on(DeleteMessageBatchCommand)
    .resolvesOnce({ Successful: [], Failed: [{ Id: '3', SenderFault: true, Code: 'ReceiptHandleIsInvalid' }] })
    .rejects(new Error('gone'));
  const failures: string[] = [];
  const remove = createDelete(sqs, 'https://sqs/', 'q', { onFailure: (reason) => void failures.push(reason) });
  await remove(Array.from({ length: 12 }, (_, number) => `handle ${number}`));
  expect(failures).toEqual(['q: ReceiptHandleIsInvalid: ', 'q: gone', 'q: gone']);
});

it('createRenew returns the messages that SQS has renewed, and none of a batch of which it says nothing', async () => {
  const sqs = new SQSClient({ region: 'us-east-1' });
  mockClient(sqs)
    .on(ChangeMessageVisibilityBatchCommand)
    .resolvesOnce({ Successful: [{ Id: '1' }], Failed: [{ Id: '3', SenderFault: true, Code: 'MessageNotInflight' }] })
    .rejects(new Error('gone'));
  const records = Array.from({ length: 12 }, (_, number) => record(`name-${number}`));
  const renewed = await createRenew(sqs, 'https://sqs/', 'q')(records, { visibilitySeconds: 180, signal });
  expect(renewed).toEqual([records[1]]);
});

it('batches always contain all items in order, ten at most, and at most 256 KiB unless one item is larger', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 400_000 })), (sizes) => {
      const made = batches(sizes, (size) => size);
      expect(made.flat()).toEqual(sizes);
      for (const batch of made) {
        expect(batch.length).toBeGreaterThan(0);
        expect(batch.length).toBeLessThanOrEqual(10);
        if (batch.length > 1) expect(batch.reduce((a, b) => a + b)).toBeLessThanOrEqual(262_144);
      }
    }),
  );
});

it('batches fill 256 KiB to the last byte, and begin anew with the next one', () => {
  const sizes = [262_143, 1, 262_143, 2];
  expect(batches(sizes, (size) => size)).toEqual([[262_143, 1], [262_143], [2]]);
});
