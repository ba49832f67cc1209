// Which records of a batch are reconciled if it may have been received long ago. The calls to SQS are in
// test/lambda/handlers.test.ts.
import { expect, it } from 'vitest';
import { holdLateBatch } from '../../src/reconciling/late-batch.ts';
import type { QueueRecord } from '../../src/sqs/record.ts';
import type { ReturnMessages } from '../../src/sqs/return.ts';
import { record } from './batch-harness.ts';

const nowMs = 1_800_000_100_000;
const receivedAgo = (seconds: number, receiveCount = 1, name = 'north'): QueueRecord => ({
  ...record(name, {}, receiveCount),
  firstReceivedAt: nowMs - seconds * 1000,
});
/** SQS renews these records alone, of a queue whose visibility timeout is 180 s. */
async function hold(records: readonly QueueRecord[], renewed: readonly QueueRecord[]) {
  const returned: unknown[] = [];
  const deps = { renewMessages: async () => renewed, visibilitySeconds: () => 180, nowMs: () => nowMs };
  const returnMessages: ReturnMessages = async (batch) => void returned.push(...batch);
  const { signal } = new AbortController();
  return { held: await holdLateBatch(records, { ...deps, returnMessages }, signal), returned };
}

it.each([
  ['received for the first time half a visibility timeout ago', 'left out', [receivedAgo(90)], 0],
  ['received for the first time less than half a visibility timeout ago', 'reconciled', [receivedAgo(89)], 1],
  ['received again', 'left out', [receivedAgo(1, 2)], 0],
  ['received again together with a new one', 'reconciled', [receivedAgo(400, 2), receivedAgo(1, 1, 'south')], 2],
])('messages that were %s, and that SQS does not renew, are %s', async (_, _is, records, held) => {
  expect((await hold(records, [])).held).toHaveLength(held);
});

it('of a late batch the renewed messages are reconciled, but for those of a key with one that is not: they are returned', async () => {
  const [north, other, south] = [receivedAgo(100), receivedAgo(100), receivedAgo(100, 1, 'south')];
  expect(await hold([north, other, south], [north, south])).toEqual({ held: [south], returned: [north] });
});
