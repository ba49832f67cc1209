// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the placeholders are CloudFormation's.
// Only the local Lambda service, from a message on a queue to what is left of it: small hand-written bundles in a temporary
// folder, the embedded SQS, real processes. The template's resolution is tested apart; our own functions are not here.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  GetQueueAttributesCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type LambdaEvent, type LocalLambda, startLambda } from '../../../src/local/lambda/local-lambda.ts';
import { createQueues, type LocalQueue } from '../../../src/local/lambda/queues.ts';
import { readStack } from '../../../src/local/lambda/stack.ts';
import { parseTemplate } from '../../../src/local/lambda/template.ts';
import { createLocalSqsClient, type LocalSqs, startSqs } from '../../../src/local/sqs.ts';

let sqs: LocalSqs;
let client: SQSClient;
let root: string;
let lambda: LocalLambda | undefined;
let events: LambdaEvent[];
let listeners: Set<() => void>;

beforeEach(async () => {
  sqs = await startSqs();
  client = createLocalSqsClient(sqs.endpoint);
  root = await mkdtemp(path.join(tmpdir(), 'outrigger-lambda-'));
  events = [];
  listeners = new Set();
});
afterEach(async () => {
  await lambda?.stop();
  lambda = undefined;
  client.destroy();
  await sqs.close();
  await rm(root, { recursive: true });
});

/** Runs one function, fed by one queue (and a dead-letter queue after two receives). */
async function run(
  code: string,
  { fifo = true, timeout = 10, visibility = 60, mapping = {}, resources = {}, tickSeconds = 1 } = {},
): Promise<LocalQueue> {
  await mkdir(path.join(root, 'dist/f'), { recursive: true });
  await writeFile(path.join(root, 'dist/f/index.mjs'), code);
  const suffix = fifo ? '.fifo' : '';
  const kind = fifo ? { FifoQueue: true } : {};
  const template = {
    Resources: {
      Dead: { Type: 'AWS::SQS::Queue', Properties: { QueueName: `dead${suffix}`, ...kind } },
      Keys: {
        Type: 'AWS::SQS::Queue',
        Properties: {
          QueueName: `keys${suffix}`,
          VisibilityTimeout: visibility,
          RedrivePolicy: { deadLetterTargetArn: { 'Fn::GetAtt': ['Dead', 'Arn'] }, maxReceiveCount: 2 },
          ...kind,
        },
      },
      F: {
        Type: 'AWS::Lambda::Function',
        Properties: {
          FunctionName: 'f',
          Handler: 'dist/f/index.handler',
          Timeout: timeout,
          Environment: {
            Variables: {
              QUEUE_URL_PREFIX: { 'Fn::Sub': 'https://sqs.${AWS::Region}.amazonaws.com/${AWS::AccountId}/' },
            },
          },
        },
      },
      Mapping: {
        Type: 'AWS::Lambda::EventSourceMapping',
        Properties: {
          EventSourceArn: { 'Fn::GetAtt': ['Keys', 'Arn'] },
          FunctionName: { 'Fn::GetAtt': ['F', 'Arn'] },
          FunctionResponseTypes: ['ReportBatchItemFailures'],
          ...mapping,
        },
      },
      ...resources,
    },
  };
  const stack = readStack(parseTemplate(JSON.stringify(template)));
  const queues = await createQueues(client, stack.queues, {
    endpoint: sqs.endpoint,
    signal: AbortSignal.timeout(5_000),
  });
  lambda = startLambda(
    {
      stack,
      queues,
      client,
      queueEndpoint: sqs.endpoint,
      taskRoot: root,
      onEvent: (event) => {
        events.push(event);
        for (const listener of listeners) listener();
      },
      onProcesses: () => {
        for (const listener of listeners) listener();
      },
    },
    { tickSeconds },
  );
  const keys = queues.find(({ name }) => name === `keys${suffix}`);
  if (keys === undefined) throw new Error('no queue');
  return keys;
}

/** Resolves as soon as the check gives something; it is asked again whenever the service said something. */
async function until<T>(check: () => T | undefined): Promise<T> {
  return await new Promise((resolve) => {
    const look = () => {
      const found = check();
      if (found === undefined) return;
      listeners.delete(look);
      resolve(found);
    };
    listeners.add(look);
    look();
  });
}
const lines = () => events.flatMap((event) => (event.type === 'line' ? [event.text] : []));
const line = (pattern: RegExp, count = 1) =>
  until(() => {
    const found = lines().filter((text) => pattern.test(text));
    return found.length >= count ? found : undefined;
  });
const failure = (pattern: RegExp) =>
  until(() =>
    events
      .flatMap((event) => (event.type === 'failed' ? [event.error] : []))
      .find(({ message }) => pattern.test(message)),
  );

async function left(queue: LocalQueue): Promise<string> {
  const { Attributes } = await client.send(
    new GetQueueAttributesCommand({ QueueUrl: queue.url, AttributeNames: ['All'] }),
  );
  return `${Attributes?.ApproximateNumberOfMessages} waiting, ${Attributes?.ApproximateNumberOfMessagesNotVisible} in flight`;
}
async function send(queue: LocalQueue, bodies: readonly string[], group = (body: string) => body): Promise<void> {
  await client.send(
    new SendMessageBatchCommand({
      QueueUrl: queue.url,
      Entries: bodies.map((body, index) => ({
        Id: String(index),
        MessageBody: body,
        ...(queue.name.endsWith('.fifo')
          ? { MessageGroupId: group(body), MessageDeduplicationId: `${body}-${index}` }
          : {}),
      })),
    }),
  );
}

describe('a function', () => {
  it('sees its own environment, what Lambda sets, and nothing of ours', async () => {
    const queue = await run(`export const handler = async (event, context) => {
      console.log('seen ' + JSON.stringify({ env: process.env, event, context, remaining: context.getRemainingTimeInMillis() }));
    }`);
    await client.send(
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
      QUEUE_URL_PREFIX: `${sqs.endpoint}/000000000000/`,
      AWS_REGION: 'us-east-1',
      AWS_ENDPOINT_URL: sqs.endpoint,
      AWS_LAMBDA_FUNCTION_NAME: 'f',
      _HANDLER: 'dist/f/index.handler',
      LAMBDA_TASK_ROOT: root,
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
      { timeout: 1 },
    );
    await send(queue, ['a']);
    const [text = ''] = await line(/^pid /);
    await failure(/Task timed out after 1.00 seconds/);
    await until(() => (lambda?.functions[0]?.pids().includes(Number(text.slice(4))) === false ? true : undefined));
    expect(() => process.kill(Number(text.slice(4)), 0)).toThrow('ESRCH');
    expect(await left(queue)).toBe('0 waiting, 1 in flight');
  });

  it('that throws at import names its file, and the message stays', async () => {
    const queue = await run(`throw new Error('no such setting');`);
    // Once by itself, so that a person sees it before any message comes, and once for the message.
    const error = await failure(/no such setting/);
    await send(queue, ['a']);
    await until(() => (events.filter(({ type }) => type === 'failed').length > 1 ? true : undefined));
    expect(error).toMatchObject({ errorType: 'Runtime.ImportModuleError' });
    expect(JSON.stringify(error)).toContain(path.join(root, 'dist/f/index.mjs'));
    expect(await left(queue)).toBe('0 waiting, 1 in flight');
  });

  it('that is mended goes on at once with the message that it failed on', async () => {
    const queue = await run(`throw new Error('no such setting');`);
    await failure(/no such setting/);
    await send(queue, ['a']);
    await until(() => (events.filter(({ type }) => type === 'failed').length > 1 ? true : undefined));
    await writeFile(path.join(root, 'dist/f/index.mjs'), `export const handler = async () => console.log('mended');`);
    await lambda?.reload();
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
      lambda?.functions[0]?.pids().length === 1 ? lambda.functions[0].pids() : undefined,
    );
    await lambda?.stop();
    for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });
});

describe('an event source', () => {
  it('deletes what succeeded, and brings the rest again until it is a dead letter', async () => {
    const queue = await run(
      `export const handler = async ({ Records }) => {
        console.log('batch ' + Records.map(({ body, attributes }) => body + attributes.ApproximateReceiveCount).join());
        return { batchItemFailures: Records.filter(({ body }) => body === 'b').map(({ messageId }) => ({ itemIdentifier: messageId })) };
      }`,
      { visibility: 1 },
    );
    await send(queue, ['a', 'b', 'c']);
    await line(/b2/);
    expect(lines().join()).not.toMatch(/a2|c2/);
    await lambda?.stop();
    expect(await left(queue)).not.toMatch(/[23] in flight/);
  });

  it('deletes nothing when the answer is malformed', async () => {
    const queue = await run(`export const handler = async ({ Records }) => {
      setTimeout(() => console.log('answered'));
      return { batchItemFailures: [{ itemIdentifier: 'unknown' }] };
    }`);
    await send(queue, ['a']);
    await line(/^answered/);
    await lambda?.stop();
    expect(await left(queue)).toBe('0 waiting, 1 in flight');
  });

  it('has one batch of a group in flight at a time, in the order sent', async () => {
    const queue = await run(`export const handler = async ({ Records }) => {
      for (const { body } of Records) console.log('start ' + body);
      await new Promise((resolve) => setTimeout(resolve, 50));
      for (const { body } of Records) console.log('end ' + body);
    }`);
    await send(queue, ['1', '2', '3', '4'], () => 'one group');
    await line(/^end 4/);
    const said = lines();
    for (const [before, after] of [
      ['1', '2'],
      ['2', '3'],
      ['3', '4'],
    ]) {
      expect(said.indexOf(`start ${before}`)).toBeLessThan(said.indexOf(`start ${after}`));
    }
    expect(said.filter((text) => text.startsWith('start'))).toHaveLength(4);
  });

  it('runs different groups beside each other, no more than allowed', async () => {
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

describe('a schedule', () => {
  it('invokes its function with the scheduled time on the grid of its rate', async () => {
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
});
