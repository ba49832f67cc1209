// Only a function under the local Lambda service: its environment, its failures, and the end of its processes, with
// hand-written bundles, the embedded SQS and real processes. Queues and schedules are in event-sources.test.ts.
import path from 'node:path';
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { describe, expect, it } from 'vitest';
import { localLambdaFixture } from './local-lambda-harness.ts';

const { failure, left, line, now, run, send, until, write } = localLambdaFixture();

describe('a function', () => {
  it('a function has its own environment variables and those of Lambda, and no others', async () => {
    const queue = await run(`export const handler = async (event, context) => {
      console.log('seen ' + JSON.stringify({ env: process.env, event, context, remaining: context.getRemainingTimeInMillis() }));
    }`);
    await now().client.send(
      new SendMessageCommand({
        QueueUrl: queue.url,
        MessageBody: 'a',
        MessageGroupId: 'g',
        MessageDeduplicationId: 'd',
        MessageAttributes: { trace: { DataType: 'String', StringValue: 't' } },
      }),
    );
    const [text = ''] = await line(/^seen /);
    const { env, event, context, remaining } = JSON.parse(text.slice(5));
    expect(env).toMatchObject({
      QUEUE_URL_PREFIX: `${now().endpoint}/000000000000/`,
      AWS_REGION: 'us-east-1',
      AWS_ENDPOINT_URL: now().endpoint,
      AWS_LAMBDA_FUNCTION_NAME: 'f',
      _HANDLER: 'dist/f/index.handler',
      LAMBDA_TASK_ROOT: now().root,
    });
    expect(env).not.toHaveProperty('HOME');
    expect(env).not.toHaveProperty('VITEST');
    expect(context.functionName).toBe('f');
    expect(remaining).toBeGreaterThan(5_000);
    expect(remaining).toBeLessThanOrEqual(10_000);
    expect(event.Records[0]).toMatchObject({
      body: 'a',
      eventSource: 'aws:sqs',
      eventSourceARN: 'arn:aws:sqs:us-east-1:000000000000:keys.fifo',
      attributes: { ApproximateReceiveCount: '1', MessageGroupId: 'g', MessageDeduplicationId: 'd' },
      messageAttributes: { trace: { stringValue: 't', dataType: 'String' } },
    });
    expect(Number(event.Records[0].attributes.ApproximateFirstReceiveTimestamp)).toBeGreaterThan(1e12);
    expect(event.Records[0].attributes.SequenceNumber).toMatch(/^\d+$/);
  });

  it('a function that exceeds its timeout is killed, and its message is not deleted', async () => {
    const queue = await run(
      `export const handler = async () => { console.log('pid ' + process.pid); await new Promise(() => setInterval(() => {}, 1000)); }`,
      { timeout: 2 },
    );
    await send(queue, ['a']);
    const [text = ''] = await line(/^pid /);
    await failure(/Task timed out after 2.00 seconds/);
    await until(() =>
      now()
        .lambda?.functions[0]?.pids()
        .includes(Number(text.slice(4))) === false
        ? true
        : undefined,
    );
    expect(() => process.kill(Number(text.slice(4)), 0)).toThrow('ESRCH');
    expect(await left(queue)).toBe('0 waiting, 1 in flight');
  });

  it('a function that throws at import fails with its file, its message is not deleted, and is retried at once when it is fixed', async () => {
    const queue = await run(`throw new Error('no such setting');`);
    // It fails once at the warm start, before any message, and once for the message.
    const error = await failure(/no such setting/);
    await send(queue, ['a']);
    await until(() => (now().events.filter(({ type }) => type === 'failed').length > 1 ? true : undefined));
    expect(error).toMatchObject({ errorType: 'Runtime.ImportModuleError' });
    expect(JSON.stringify(error)).toContain(path.join(now().root, 'dist/f/index.mjs'));
    expect(await left(queue)).toBe('0 waiting, 1 in flight');
    await write(`export const handler = async () => console.log('fixed');`);
    await now().lambda?.reload();
    await line(/^fixed/);
  });

  it('a function that ends its process fails only that batch', async () => {
    const queue = await run(`export const handler = async ({ Records }) => {
      if (Records.some(({ body }) => body === 'bad')) process.exit(3);
      console.log('done ' + Records[0].body);
    }`);
    await send(queue, ['bad']);
    await failure(/exit status 3/);
    await send(queue, ['good']);
    await line(/^done good/);
    expect(await left(queue)).toMatch(/^0 waiting/);
  });

  it('a message that the code of a function sends to its parent process is ignored', async () => {
    const queue = await run(`export const handler = async ({ Records }) => {
      process.send('mine');
      console.log('done ' + Records[0].body);
    }`);
    await send(queue, ['a']);
    await line(/^done a/);
    await send(queue, ['b']);
    await line(/^done b/);
    expect(await left(queue)).toMatch(/^0 waiting/);
  });

  it('a function with an unhandled rejection fails as on Lambda', async () => {
    const queue = await run(
      `export const handler = async () => { Promise.reject(new Error('lost')); await new Promise(() => {}); }`,
    );
    await send(queue, ['a']);
    expect(await failure(/lost/)).toMatchObject({ errorType: 'Runtime.UnhandledPromiseRejection' });
  });

  it('a stopped service leaves no process of a function', async () => {
    await run(`export const handler = async () => {}`);
    const pids = await until(() =>
      now().lambda?.functions[0]?.pids().length === 1 ? now().lambda?.functions[0]?.pids() : undefined,
    );
    await now().lambda?.stop();
    for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });
});
