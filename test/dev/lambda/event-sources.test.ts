// Only the event sources and schedules of the local Lambda service. Functions are in local-lambda.test.ts.
import { ChangeMessageVisibilityCommand } from '@aws-sdk/client-sqs';
import { describe, expect, it } from 'vitest';
import { localLambdaFixture } from './local-lambda-harness.ts';

const { left, line, lines, now, run, send } = localLambdaFixture();

describe('an event source', () => {
  it('an event source deletes succeeded messages, and redelivers the others', async () => {
    const queue = await run(`export const handler = async ({ Records }) => {
      console.log('batch ' + Records.map(({ body, attributes }) => body + attributes.ApproximateReceiveCount).join());
      const failed = Records.filter(({ body }) => body === 'b');
      for (const { receiptHandle } of failed) console.log('failed ' + receiptHandle);
      return { batchItemFailures: failed.map(({ messageId }) => ({ itemIdentifier: messageId })) };
    }`);
    await send(queue, ['a', 'b', 'c']);
    const [failed = ''] = await line(/^failed /);
    // Its visibility timeout ends at once.
    const ReceiptHandle = failed.replace('failed ', '');
    await now().client.send(
      new ChangeMessageVisibilityCommand({ QueueUrl: queue.url, ReceiptHandle, VisibilityTimeout: 0 }),
    );
    await line(/^batch .*b2/);
    expect(lines().filter((text) => text.startsWith('batch'))).toEqual(['batch a1,b1,c1', 'batch b2']);
    await now().lambda?.stop();
    expect(await left(queue)).not.toMatch(/[23] in flight/);
  });

  it('an event source has one batch of a group in flight at a time, in order', async () => {
    const queue = await run(`export const handler = async ({ Records }) => {
      for (const { body } of Records) console.log('start ' + body);
      await new Promise((resolve) => setTimeout(resolve, 50));
      for (const { body } of Records) console.log('end ' + body);
    }`);
    await send(queue, ['1', '2', '3', '4'], () => 'one group');
    await line(/^end 4/);
    const logged = lines();
    for (const [before, after] of [
      ['1', '2'],
      ['2', '3'],
      ['3', '4'],
    ]) {
      expect(logged.indexOf(`start ${before}`)).toBeLessThan(logged.indexOf(`start ${after}`));
    }
    expect(logged.filter((text) => text.startsWith('start'))).toHaveLength(4);
  });

  it('an event source runs different groups concurrently, up to MaximumConcurrency', async () => {
    const queue = await run(
      `export const handler = async ({ Records }) => {
        console.log('start ' + Date.now());
        await new Promise((resolve) => setTimeout(resolve, 300));
        console.log('end ' + Date.now());
      }`,
      { mapping: { BatchSize: 1, ScalingConfig: { MaximumConcurrency: 2 } } },
    );
    await send(queue, ['a', 'b', 'c', 'd']);
    await line(/^end/, 4);
    let running = 0;
    let most = 0;
    for (const text of lines()) {
      running += text.startsWith('start') ? 1 : -1;
      most = Math.max(most, running);
    }
    expect(most).toBe(2);
  });
});

it('its messages wait in the queue, through a reload too, until it is resumed', async () => {
  const queue = await run(`export const handler = async ({ Records }) => { console.log('got ' + Records[0].body); }`);
  await send(queue, ['a']);
  await line(/^got a/);
  const { lambda } = now();
  lambda?.mappings[0]?.setPaused(true);
  await send(queue, ['b']);
  await lambda?.reload();
  // A receive that was waiting returns the message.
  await expect.poll(() => left(queue)).toBe('1 waiting, 0 in flight');
  expect(lines()).not.toContain('got b');
  lambda?.mappings[0]?.setPaused(false);
  await line(/^got b/);
  lambda?.mappings[0]?.setPaused(true);
  await lambda?.stop();
});

it('a schedule invokes its function with the scheduled time', async () => {
  await run(`export const handler = async (event) => { console.log('tick ' + JSON.stringify(event)); }`, {
    resources: {
      Tick: {
        Type: 'AWS::Scheduler::Schedule',
        Properties: {
          ScheduleExpression: 'rate(10 minutes)',
          Target: { Arn: { 'Fn::GetAtt': ['F', 'Arn'] }, Input: '{"run":"<aws.scheduler.scheduled-time>"}' },
        },
      },
    },
  });
  const [text = ''] = await line(/^tick /);
  expect(text).toMatch(/^tick \{"run":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"\}$/);
});
