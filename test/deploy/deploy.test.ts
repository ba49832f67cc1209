// serverless.yml and the account after a deployment: osls deploys to an emulated AWS, everything is read through the
// services' own APIs and compared with the registry, a second deployment changes nothing, and removal leaves nothing.
// The resources that the emulator does not support are in unsupported-types.test.ts. Bundles are stubs.
import type { StackResourceSummary } from '@aws-sdk/client-cloudformation';
import { sendsToItself } from '@outrigger/cli/aws/role';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { registry } from '../../src/controllers/registry.ts';
import {
  controllerDeadLetterQueue,
  controllerQueue,
  resyncDeadLetterQueue,
  resyncQueue,
  timersDeadLetterQueue,
  timersQueue,
} from '../../src/core/names.ts';
import {
  type OslsResult,
  paramsOf,
  type ServiceFolder,
  sampleSettings,
  serviceFolder,
} from '../support/service-folder.ts';
import { type Account, createAccount } from './account.ts';
import { type EmulatedAccount, startEmulatedAccount } from './emulated-account.ts';
import { createTableBucket, openTableObject } from './emulated-table.ts';

const stage = 'proof';
const stack = `outrigger-${stage}`;
const prefix = `${stack}-`;
const days = 24 * 60 * 60;
const functions = [...registry.map(({ name }) => name), 'timers', 'resync', 'wake'];
const templateShape = z.object({ Resources: z.record(z.string(), z.looseObject({ Type: z.string() })) });
/** Types that moto's CloudFormation omits; each is tested in unsupported-types.test.ts, or in the tests of the console. */
const unsupportedTypes = [
  ...[
    'AWS::CloudWatch::Alarm',
    'AWS::Lambda::EventInvokeConfig',
    'AWS::Logs::QueryDefinition',
    'AWS::S3::BucketPolicy',
  ],
  ...['AWS::SQS::QueuePolicy', 'AWS::Scheduler::Schedule', 'AWS::SecretsManager::Secret'],
];

let aws: EmulatedAccount;
let service: ServiceFolder;
let account: Account;
let deployed: OslsResult;
let template: z.infer<typeof templateShape>;
let held: readonly StackResourceSummary[];

const runOsls = async (command: string): Promise<OslsResult> => {
  const params = command === 'deploy' ? paramsOf(sampleSettings) : [];
  return await service.osls([command, '--stage', stage, '--region', aws.region, ...params], aws.environment);
};

beforeAll(async () => {
  [aws, service] = await Promise.all([startEmulatedAccount(), serviceFolder()]);
  account = createAccount(aws, prefix);
  deployed = await runOsls('deploy');
  template = templateShape.parse(JSON.parse(await service.template()));
  held = deployed.status === 0 ? await account.stackResources(stack) : [];
});
afterAll(async () => {
  await aws?.close();
  await service?.remove();
});

const queueArn = (name: string): string => `arn:aws:sqs:${aws.region}:${aws.accountId}:${prefix}${name}`;
/** CloudFormation chooses the name of the bucket. */
const bucketName = (): string =>
  held.find(({ LogicalResourceId }) => LogicalResourceId === 'ClustersBucket')?.PhysicalResourceId ?? '';
const own = (service: string, rest: string): string => `arn:aws:${service}:${aws.region}:${aws.accountId}:${rest}`;

describe('a deployment with osls', () => {
  it('a deployment is one command', () => {
    expect(deployed).toMatchObject({ status: 0 });
    expect(deployed.progress).toContain(`Service deployed to stack outrigger-${stage}`);
  });

  it('every resource of the template is in the account, except types that the emulator does not support', () => {
    const there = new Set(held.map(({ LogicalResourceId }) => LogicalResourceId));
    const missing = Object.entries(template.Resources).filter(([id]) => !there.has(id));
    const declared = new Set(Object.values(template.Resources).map(({ Type }) => Type));
    expect([...new Set(missing.map(([, { Type }]) => Type))].sort()).toEqual(
      unsupportedTypes.filter((type) => declared.has(type)),
    );
    const incomplete = held.filter(({ ResourceStatus = '' }) => !/^(CREATE|UPDATE)_COMPLETE$/.test(ResourceStatus));
    expect(incomplete).toEqual([]);
  });

  it.each(
    registry.map(({ name }) => name),
  )('%s has a FIFO queue in high-throughput mode, with a dead-letter queue', async (name) => {
    const queue = await account.queue(controllerQueue(name));
    const highThroughput = {
      FifoQueue: 'true',
      DeduplicationScope: 'messageGroup',
      FifoThroughputLimit: 'perMessageGroupId',
      SqsManagedSseEnabled: 'true',
      MessageRetentionPeriod: String(14 * days),
    };
    expect(queue).toMatchObject({ ...highThroughput, VisibilityTimeout: '180' });
    expect(queue).not.toMatchObject({ ContentBasedDeduplication: 'true' });
    expect(JSON.parse(queue.RedrivePolicy ?? '')).toEqual({
      deadLetterTargetArn: queueArn(controllerDeadLetterQueue(name)),
      maxReceiveCount: 960,
    });
    expect(await account.queue(controllerDeadLetterQueue(name))).toMatchObject(highThroughput);
  });

  it.each([
    [timersQueue, timersDeadLetterQueue, 180, 1_000, 14],
    [resyncQueue, resyncDeadLetterQueue, 720, 3, 1],
  ])('%s is a standard queue, which accepts delays, with the dead-letter queue %s', async (name, deadLetters, visibility, receives, kept) => {
    const queue = await account.queue(name);
    const encrypted = (keptDays: number) => ({
      SqsManagedSseEnabled: 'true',
      MessageRetentionPeriod: String(keptDays * days),
    });
    expect(queue).toMatchObject({ ...encrypted(kept), VisibilityTimeout: String(visibility) });
    expect(queue.FifoQueue ?? 'false').toBe('false');
    expect(JSON.parse(queue.RedrivePolicy ?? '')).toEqual({
      deadLetterTargetArn: queueArn(deadLetters),
      maxReceiveCount: receives,
    });
    expect(await account.queue(deadLetters)).toMatchObject(encrypted(14));
  });

  it('the deployment has only the queues that core names', async () => {
    const names = registry.flatMap(({ name }) => [controllerQueue(name), controllerDeadLetterQueue(name)]);
    const once = [timersQueue, timersDeadLetterQueue, resyncQueue, resyncDeadLetterQueue];
    expect((await account.queueNames()).sort()).toEqual([...names, ...once].map((name) => prefix + name).sort());
  });

  it('each controller has a function with only its own settings', async () => {
    for (const { name, declaration } of registry) {
      const found = await account.function(name);
      expect(found).toMatchObject({
        Runtime: 'nodejs24.x',
        Handler: `dist/${name}/index.handler`,
        MemorySize: 256,
        Role: `arn:aws:iam::${aws.accountId}:role/${prefix}${name}-${aws.region}`,
      });
      const asked = Object.keys(declaration.settings?.shape ?? {});
      // The emulator does not create the secret of the deduplication ids.
      const { DEDUPLICATION_SECRET: _, SENDER_IDS, ...variables } = found.Environment?.Variables ?? {};
      const ids = await Promise.all(
        [name, 'timers', 'resync', ...(declaration.wakes.length > 0 ? ['wake'] : [])].map(
          async (one) => `${one}=${await account.roleId(one)}`,
        ),
      );
      expect(SENDER_IDS).toBe(ids.join(','));
      expect(variables).toEqual({
        QUEUE_URL_PREFIX: `https://sqs.${aws.region}.amazonaws.com/${aws.accountId}/${prefix}`,
        LOG_LEVEL: 'INFO',
        METRICS_NAMESPACE: `outrigger/${stage}`,
        PROJECT: 'outrigger',
        METRICS_PER_CLUSTER: 'false',
        MONITORING: 'full',
        OTEL_EXPORTER_OTLP_ENDPOINT: '',
        OTEL_EXPORTER_OTLP_HEADERS: '',
        OTEL_EXPORTER_OTLP_HEADERS_SECRET: '',
        SENDER_CHECK: 'on',
        SENDERS: '',
        UV_THREADPOOL_SIZE: '32',
        CLUSTERS: `s3://${bucketName()}/clusters.json`,
        ...Object.fromEntries(Object.entries(sampleSettings).filter(([setting]) => asked.includes(setting))),
      });
      expect(found.VpcConfig?.SubnetIds ?? []).toEqual([]);
    }
  });

  it('each function has its own queue as the source: batches of ten, concurrency ten, partial failures, no batching window', async () => {
    const mappings = await account.mappings();
    const expected = [
      ...registry.map(({ name }) => ({ queue: controllerQueue(name), name, BatchSize: 10, MaximumConcurrency: 10 })),
      { queue: timersQueue, name: 'timers', BatchSize: 10, MaximumConcurrency: 100 },
      { queue: resyncQueue, name: 'resync', BatchSize: 2, MaximumConcurrency: 10 },
    ];
    expect(mappings).toHaveLength(expected.length);
    for (const { queue, name, BatchSize, MaximumConcurrency } of expected) {
      const mapping = mappings.find(({ EventSourceArn }) => EventSourceArn === queueArn(queue));
      expect(mapping?.FunctionArn).toBe(own('lambda', `function:${prefix}${name}`));
      expect(mapping).toMatchObject({
        BatchSize,
        State: 'Enabled',
        FunctionResponseTypes: ['ReportBatchItemFailures'],
        ScalingConfig: { MaximumConcurrency },
      });
      expect(mapping?.MaximumBatchingWindowInSeconds ?? 0).toBe(0);
      expect(mapping?.ProvisionedPollerConfig).toBeUndefined();
    }
  });

  it.each(
    registry,
  )('the role of $name may only consume its queue, send messages, read entries and secrets, and log', async ({
    name,
    declaration,
  }) => {
    const consume = ['ReceiveMessage', 'DeleteMessage', 'ChangeMessageVisibility', 'GetQueueAttributes'];
    const deadLetters = controllerDeadLetterQueue(name);
    // Except for the secret of the deduplication ids, which the emulator does not create (unsupported-types.test.ts).
    const allowed = (await account.allowedTo(name)).filter(
      (one) => !/^secretsmanager:\S+ (None|null|undefined)?$/.test(one),
    );
    expect(allowed).toEqual(
      [
        ...consume.map((action) => `sqs:${action} ${queueArn(controllerQueue(name))}`),
        // Sends to its own queue are for requeueOwners of mapping functions.
        ...[...(sendsToItself(declaration) ? [controllerQueue(name)] : []), deadLetters, timersQueue].map(
          (queue) => `sqs:SendMessage ${queueArn(queue)}`,
        ),
        `s3:GetObject arn:aws:s3:::${bucketName()}/clusters.json`,
        `s3:ListBucket arn:aws:s3:::${bucketName()}`,
        `secretsmanager:GetSecretValue ${own('secretsmanager', `secret:outrigger/${stage}/clusters/*`)}`,
        ...['CreateLogStream', 'PutLogEvents'].map(
          (action) => `logs:${action} ${own('logs', `log-group:/aws/lambda/${prefix}${name}:*`)}`,
        ),
      ].sort(),
    );
  });

  it.each([
    ...functions.map((name) => [name, 'lambda.amazonaws.com'] as const),
    ['schedule', 'scheduler.amazonaws.com'] as const,
  ])('the role of %s can be assumed only by %s', async (name, service) => {
    expect(await account.trusted(name)).toEqual([service]);
  });

  // Control T2.
  it("the watchers' policy allows only sends of keys", async () => {
    const queues = [...registry.map(({ name }) => controllerQueue(name)), timersQueue];
    expect(await account.allowedToWatchers()).toEqual(
      queues.map((queue) => `sqs:SendMessage ${queueArn(queue)}`).sort(),
    );
  });

  it('a repeated deployment changes nothing', async () => {
    const again = await runOsls('deploy');
    expect(again).toMatchObject({ status: 0 });
    expect(again.progress).toContain('No changes to deploy. Deployment skipped.');
    expect(await account.stackResources(stack)).toEqual(held);
  });
});

it('a clusters table is created once, read only after a change, and never overwritten by a writer with an old version', async () => {
  const bucket = { ...aws.client, aws: aws.client.endpoint };
  await createTableBucket(bucket);
  const object = openTableObject(bucket);
  expect(await object.get()).toEqual({ type: 'missing' });
  expect(await object.put('{}', undefined)).toBe(true);
  expect(await object.put('{"lost": {}}', undefined)).toBe(false);
  const first = await object.get();
  if (first.type !== 'object') throw new Error(first.type);
  expect(first.text).toBe('{}');
  expect(await object.get(first.etag)).toEqual({ type: 'unchanged' });
  expect(await object.put('{"a": {}}', first.etag)).toBe(true);
  expect(await object.put('{"lost": {}}', first.etag)).toBe(false);
  expect(await object.get(first.etag)).toMatchObject({ type: 'object', text: '{"a": {}}' });
});

describe('a removal with osls', () => {
  it('a removal leaves the bucket of the clusters table, and nothing else', async () => {
    expect(await runOsls('remove')).toMatchObject({ status: 0 });
    await expect(account.stackResources(stack)).rejects.toThrow(/does not exist/);
    for (const left of [account.queueNames(), account.functions(), account.mappings(), account.roleNames()])
      expect(await left).toEqual([]);
    // moto does not support the deletion of a managed policy. None of ours has a retention policy.
    expect(await account.policyNames()).toEqual([
      expect.stringContaining('-FleetPolicy-'),
      `${stack}-watcher-${aws.region}`,
    ]);
    // D11: a creation that is rolled back leaves none.
    const kept = Object.entries(template.Resources).flatMap(([id, one]) =>
      'DeletionPolicy' in one ? [[id, one.DeletionPolicy]] : [],
    );
    expect(kept).toEqual([
      ['ClustersBucket', 'RetainExceptOnCreate'],
      ['ClustersBucketPolicy', 'RetainExceptOnCreate'],
    ]);
  });
});
