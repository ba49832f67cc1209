// The Lambda service of one machine: it runs the functions, mappings and schedules of a stack. Only options differ from
// AWS: the concurrency, the interval of the schedule, and the long poll of queues.
import { randomUUID } from 'node:crypto';
import type { Message, SQSClient } from '@aws-sdk/client-sqs';
import { localAccountId, localRegion } from './account.ts';
import { type EventSource, startEventSource } from './event-source.ts';
import type { ProcessLine } from './function-process.ts';
import { createFunction, type LocalFunction } from './local-function.ts';
import { httpQueueCalls } from './queue-calls.ts';
import type { LocalQueue } from './queues.ts';
import { type Schedule, startSchedule } from './schedule.ts';
import type { Stack } from './stack.ts';
import { awsQueueBase, TemplateError } from './template.ts';

/** An event in the service. */
export type LambdaEvent =
  | ({ readonly type: 'line'; readonly function: string } & ProcessLine)
  | {
      readonly type: 'failed';
      readonly function: string;
      readonly error: Error;
      /** The message groups of its batch, which are keys. */
      readonly groups?: readonly string[];
    };

/** The dependencies of the service. */
export type LambdaDeps = {
  readonly stack: Stack;
  readonly queues: readonly LocalQueue[];
  readonly client: SQSClient;
  /** The SQS server, for the functions. */
  readonly queueEndpoint: string;
  /** The folder that was packaged. */
  readonly taskRoot: string;
  readonly onEvent: (event: LambdaEvent) => void;
  readonly onProcesses: () => void;
};

/** The options of the service. */
export type LambdaOptions = {
  readonly region?: string;
  readonly accountId?: string;
  /** The maximum of concurrent batches of each mapping, for a laptop. The template's maximum applies too. */
  readonly concurrency?: number;
  /** WaitTimeSeconds of a receive. Shorter for a server that does not wake a waiting receive when a delay is over. */
  readonly longPollSeconds?: number;
  /** The interval of schedules, instead of the template's. */
  readonly scheduleSeconds?: number;
  /** Whether schedules run. */
  readonly schedules?: boolean;
  readonly nodeArguments?: readonly string[];
};

/** An event source mapping. */
export type LocalMapping = EventSource & { readonly uuid: string; readonly queueArn: string };

/** A running service. */
export type LocalLambda = {
  readonly functions: readonly LocalFunction[];
  readonly mappings: readonly LocalMapping[];
  /** Starts functions and mappings of a stack beside those that run. Throws TemplateError as the start does. */
  add(stack: Pick<Stack, 'functions' | 'mappings'>, queues: readonly LocalQueue[]): void;
  /** Loads new bundles, and retries the messages on which the old ones failed. */
  reload(): Promise<void>;
  /** Retries failed messages at once, instead of after their visibility timeout. */
  retry(): Promise<void>;
  /** Stops receiving, finishes the batches in flight, and ends every process. */
  stop(): Promise<void>;
};

/** Starts the service. Throws TemplateError if a mapping or schedule refers to a missing resource. */
export function startLambda(
  { stack, queues, client, queueEndpoint, taskRoot, onEvent, onProcesses }: LambdaDeps,
  {
    region = localRegion,
    accountId = localAccountId,
    concurrency = 3,
    longPollSeconds = 20,
    scheduleSeconds,
    schedules = true,
    nodeArguments = [],
  }: LambdaOptions = {},
): LocalLambda {
  const local = localAddresses(queues, awsQueueBase(region, accountId));
  const functions: LocalFunction[] = [];
  const functionOf = (arn: string) => find(functions, arn);
  const sources: LocalMapping[] = [];
  const calls = httpQueueCalls(client);
  const failure =
    (of: LocalFunction) =>
    (error: Error, batch: readonly Message[] = []) => {
      const groups = new Set(batch.flatMap(({ Attributes }) => Attributes?.MessageGroupId ?? []));
      onEvent({ type: 'failed', function: of.name, error, groups: [...groups] });
    };
  const startFunction = (definition: Stack['functions'][number]) =>
    createFunction(
      {
        taskRoot,
        environment: serviceEnvironment(definition.name, region, queueEndpoint),
        onLine: (line) => onEvent({ type: 'line', function: definition.name, ...line }),
        onBroken: (error) => onEvent({ type: 'failed', function: definition.name, error }),
        onProcesses,
        nodeArguments,
      },
      {
        ...definition,
        environment: Object.fromEntries(
          Object.entries(definition.environment).map(([name, value]) => [name, local(value)]),
        ),
      },
      { warm: true },
    );
  const startSource = (
    { queueArn, functionArn, enabled, maximumConcurrency = concurrency, ...mapping }: Stack['mappings'][number],
    queueUrl: string,
  ): LocalMapping => {
    const { batchSize, reportsFailures } = mapping;
    const target = functionOf(functionArn);
    const source = startEventSource(
      { client, calls, invoke: (event) => target.invoke(event), onFailure: failure(target) },
      {
        queueUrl,
        queueArn,
        region,
        batchSize,
        reportsFailures,
        concurrency: Math.min(maximumConcurrency, concurrency),
        longPollSeconds,
      },
      { paused: !enabled },
    );
    return { ...source, uuid: randomUUID(), queueArn };
  };
  const add: LocalLambda['add'] = (more, from) => {
    functions.push(...more.functions.map(startFunction));
    sources.push(...more.mappings.map((one) => startSource(one, find(from, one.queueArn).url)));
  };
  add(stack, queues);
  const schedulesRunning: Schedule[] = stack.schedules
    .filter(({ enabled }) => enabled && schedules)
    .map((definition) => {
      const target = functionOf(definition.functionArn);
      return startSchedule(
        { invoke: (event) => target.invoke(event), onFailure: failure(target), now: Date.now },
        { ...definition, everySeconds: scheduleSeconds ?? definition.everySeconds },
      );
    });

  const retry = async () => {
    await Promise.all(sources.map((one) => one.retry()));
  };
  return {
    functions,
    mappings: sources,
    add,
    retry,
    reload: async () => {
      for (const one of functions) one.reload();
      await retry();
    },
    stop: async () => {
      await Promise.all([...schedulesRunning, ...sources].map((one) => one.stop()));
      await Promise.all(functions.map((one) => one.stop()));
    },
  };
}

/**
 * The variables that the service adds to every function. Emulators require credentials, and do not check them. The
 * access key id is the function's name, so that a server's log names the function.
 */
function serviceEnvironment(name: string, region: string, queueEndpoint: string): Readonly<Record<string, string>> {
  return {
    AWS_REGION: region,
    AWS_DEFAULT_REGION: region,
    AWS_ACCESS_KEY_ID: name,
    AWS_SECRET_ACCESS_KEY: 'local',
    // For every AWS service, not only SQS: an unexpected call fails here, and does not reach an AWS account.
    AWS_ENDPOINT_URL: queueEndpoint,
    PATH: '/usr/local/bin:/usr/bin:/bin',
  };
}

/** Makes a function that replaces the AWS addresses of queues in a text with the local ones. */
export function localAddresses(queues: readonly LocalQueue[], awsBase: string): (text: string) => string {
  const [first] = queues;
  if (first === undefined) return (value) => value;
  return (value) => value.replaceAll(awsBase, first.url.slice(0, -first.name.length));
}

function find<T extends { readonly arn: string }>(all: readonly T[], arn: string): T {
  const found = all.find((one) => one.arn === arn);
  if (found === undefined) throw new TemplateError(`the template refers to ${arn}, but does not declare it`);
  return found;
}
