// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the placeholders are CloudFormation's.
// A harness for the local Lambda service: a hand-written bundle in a temporary folder, a template with one queue for
// it, the embedded SQS, and a way to wait for events of the service.
import { GetQueueAttributesCommand, SendMessageBatchCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { type LambdaEvent, type LocalLambda, startLambda } from '@outrigger/cli/dev/lambda/local-lambda';
import { createQueues, type LocalQueue } from '@outrigger/cli/dev/lambda/queues';
import { readStack } from '@outrigger/cli/dev/lambda/stack';
import { parseTemplate } from '@outrigger/cli/dev/lambda/template';
import { createLocalSqsClient, type LocalSqs, startSqs } from '@outrigger/cli/dev/sqs-server';
import { afterEach, beforeEach, expect, vi } from 'vitest';
import { useFolder } from '../../support/folder.ts';

/** Starts an SQS server and a folder for each test of a file. */
export function localLambdaFixture() {
  const folder = useFolder();
  const write = async (code: string) => await folder.write('dist/f/index.mjs', code);
  let sqs: LocalSqs;
  let client: SQSClient;
  let lambda: LocalLambda | undefined;
  let events: LambdaEvent[];

  beforeEach(async () => {
    sqs = await startSqs();
    client = createLocalSqsClient(sqs.endpoint);
    events = [];
  });
  afterEach(async () => {
    await lambda?.stop();
    lambda = undefined;
    client.destroy();
    await sqs.close();
  });

  /** Runs one function with one queue, which has a dead-letter queue after two receives. */
  async function run(
    code: string,
    { fifo = true, timeout = 10, mapping = {}, resources = {}, scheduleSeconds = 1 } = {},
  ): Promise<LocalQueue> {
    await write(code);
    const suffix = fifo ? '.fifo' : '';
    const kind = fifo ? { FifoQueue: true } : {};
    const prefix = 'https://sqs.${AWS::Region}.amazonaws.com/${AWS::AccountId}/';
    const template = {
      Resources: {
        Dead: { Type: 'AWS::SQS::Queue', Properties: { QueueName: `dead${suffix}`, ...kind } },
        Keys: {
          Type: 'AWS::SQS::Queue',
          Properties: {
            QueueName: `keys${suffix}`,
            VisibilityTimeout: 60,
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
            Environment: { Variables: { QUEUE_URL_PREFIX: { 'Fn::Sub': prefix } } },
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
        taskRoot: folder.path,
        onEvent: (event) => events.push(event),
        onProcesses: () => undefined,
      },
      { scheduleSeconds },
    );
    const keys = queues.find(({ name }) => name === `keys${suffix}`);
    if (keys === undefined) throw new Error('no queue');
    return keys;
  }

  /** Resolves with the check's result when it is not undefined. */
  async function until<T>(check: () => T | undefined): Promise<T> {
    return await vi.waitFor(() => check() ?? expect.fail(JSON.stringify(events)), { timeout: 60_000 });
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

  return {
    run,
    until,
    lines,
    line,
    failure,
    left,
    send,
    write,
    /** The current state. */
    now: () => ({ client, endpoint: sqs.endpoint, root: folder.path, lambda, events }),
  };
}
