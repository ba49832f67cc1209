// Returning messages to their queue before their visibility timeout, against an SQS server. Which messages are returned
// is test/reconciling/batch.test.ts and test/timers/run.test.ts.
import { ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { expect, it } from 'vitest';
import { functionLimits, visibilitySecondsOf } from '../../src/core/controller-options.ts';
import { createReturn, returnDelaySeconds } from '../../src/sqs/return.ts';
import { createSend } from '../../src/sqs/send.ts';
import { useTestQueues } from './use-queues.ts';

const visibilitySeconds = visibilitySecondsOf(functionLimits.timeoutSeconds.default);

const { signal } = new AbortController();
const queues = await useTestQueues('kept', 'failing');

it('the delay of a returned message grows with its receive count, with jitter only upwards', () => {
  const counts = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 50];
  expect(counts.map((count) => returnDelaySeconds(count, 0))).toEqual([
    ...[5, 5, 10, 20, 40, 80, 160, 300, 600, 900, 900, 900],
  ]);
  expect(counts.slice(0, 4).map((count) => returnDelaySeconds(count, 0.999_999))).toEqual([6, 6, 12, 24]);
  // Ten receives take no less than ten visibility timeouts.
  const returns = counts.slice(1, 10).map((count) => returnDelaySeconds(count, 0));
  expect(returns.reduce((sum, seconds) => sum + seconds)).toBeGreaterThanOrEqual(9 * visibilitySeconds);
});

it('returned messages are visible after the delay of their highest receive count, and others keep their timeout', async () => {
  const bodies = Array.from({ length: 12 }, (_, number) => ({ body: `${number}` }));
  await createSend(queues.sqs, queues.urlPrefix)('kept', bodies, { signal });
  const handles: string[] = [];
  while (handles.length < 12) {
    const { Messages = [] } = await queues.sqs.send(
      new ReceiveMessageCommand({
        QueueUrl: `${queues.urlPrefix}kept`,
        MaxNumberOfMessages: 10,
        VisibilityTimeout: 180,
      }),
    );
    handles.push(...Messages.map(({ ReceiptHandle = '' }) => ReceiptHandle));
  }
  const give = createReturn(queues.sqs, queues.urlPrefix, 'kept', { random: () => 0 });
  const records = handles
    .slice(0, 11)
    .map((receiptHandle, index) => ({ receiptHandle, receiveCount: 1 + (index % 3) }));
  await give(records, { signal });
  expect(queues.invisibleSeconds('kept').toSorted((a, b) => a - b)).toEqual([...Array(11).fill(20), 180]);
});

it('a return that fails is reported, and does not reject', async () => {
  const failures: string[] = [];
  const onFailure = (reason: string) => void failures.push(reason);
  const give = createReturn(queues.sqs, queues.urlPrefix, 'failing', { onFailure });
  await give([{ receiptHandle: 'unknown', receiveCount: 1 }], { signal });
  await give([{ receiptHandle: 'unknown', receiveCount: 1 }], { signal: AbortSignal.abort(new Error('too late')) });
  expect(failures).toEqual([expect.stringMatching(/^failing: /), 'failing: too late']);
});
