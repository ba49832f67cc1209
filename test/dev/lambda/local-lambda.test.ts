// Only a function under the local Lambda service: its environment, how it fails, and that its processes end. Small hand-written
// bundles, the embedded SQS, real processes. What queues and schedules do is event-sources.test.ts; the template's resolution
// is tested apart; our own functions are not here.
import path from 'node:path';
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { describe, expect, it } from 'vitest';
import { localLambdaAround } from './local-lambda-harness.ts';

const { failure, left, line, now, run, send, until, write } = localLambdaAround();

describe('a function', () => {
  it('sees its own environment, what Lambda sets, and nothing of ours', async () => {
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

  it('that outlives its time-out is killed, and its message stays', async () => {
    const queue = await run(
      `export const handler = async () => { console.log('pid ' + process.pid); await new Promise(() => setInterval(() => {}, 1000)); }`,
      { timeout: 3 },
    );
    await send(queue, ['a']);
    const [text = ''] = await line(/^pid /);
    await failure(/Task timed out after 3.00 seconds/);
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

  it('that throws at import names its file, and the message stays', async () => {
    const queue = await run(`throw new Error('no such setting');`);
    // Once by itself, so that a person sees it before any message comes, and once for the message.
    const error = await failure(/no such setting/);
    await send(queue, ['a']);
    await until(() => (now().events.filter(({ type }) => type === 'failed').length > 1 ? true : undefined));
    expect(error).toMatchObject({ errorType: 'Runtime.ImportModuleError' });
    expect(JSON.stringify(error)).toContain(path.join(now().root, 'dist/f/index.mjs'));
    expect(await left(queue)).toBe('0 waiting, 1 in flight');
  });

  it('that is mended goes on at once with the message that it failed on', async () => {
    const queue = await run(`throw new Error('no such setting');`);
    await failure(/no such setting/);
    await send(queue, ['a']);
    await until(() => (now().events.filter(({ type }) => type === 'failed').length > 1 ? true : undefined));
    await write(`export const handler = async () => console.log('mended');`);
    await now().lambda?.reload();
    await line(/^mended/);
  });

  it('that ends its own process fails that batch only', async () => {
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

  it('with an unhandled rejection fails as on Lambda, where the process is not trusted any more', async () => {
    const queue = await run(
      `export const handler = async () => { Promise.reject(new Error('lost')); await new Promise(() => {}); }`,
    );
    await send(queue, ['a']);
    expect(await failure(/lost/)).toMatchObject({ errorType: 'Runtime.UnhandledPromiseRejection' });
  });

  it('leaves no process behind when the service stops', async () => {
    await run(`export const handler = async () => {}`);
    const pids = await until(() =>
      now().lambda?.functions[0]?.pids().length === 1 ? now().lambda?.functions[0]?.pids() : undefined,
    );
    await now().lambda?.stop();
    for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });
});
