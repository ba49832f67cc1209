// The Lambda service of one machine: the functions, mappings and schedules of a stack, running. What differs from AWS is
// given from outside and is little: how many batches at once, how often the schedule ticks.
import type { SQSClient } from '@aws-sdk/client-sqs';
import { localAccountId, localRegion } from '../../local/lambda/account.ts';
import { type EventSource, startEventSource } from './event-source.ts';
import type { OutputLine } from './function-process.ts';
import { createFunction, type LocalFunction } from './local-function.ts';
import { directCalls } from './queue-calls.ts';
import type { LocalQueue } from './queues.ts';
import { type Schedule, startSchedule } from './schedule.ts';
import type { Stack } from './stack.ts';
import { awsQueueBase, TemplateError } from './template.ts';

/** What happened in the service. */
export type LambdaEvent =
  | ({ readonly type: 'line'; readonly function: string } & OutputLine)
  | { readonly type: 'failed'; readonly function: string; readonly error: Error };

/** What the service needs. */
export type LambdaNeeds = {
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

/** What can be chosen. */
export type LambdaOptions = {
  readonly region?: string;
  readonly accountId?: string;
  /** Batches at once of each mapping, where the template allows that many. A laptop is not AWS. */
  readonly concurrency?: number;
  /** How long a poll of a queue waits, in seconds. Shorter for a server that does not wake a poll when a delay is over. */
  readonly longPollSeconds?: number;
  /** The schedule's rate, instead of the template's. */
  readonly tickSeconds?: number;
  /** Whether schedules tick at all. */
  readonly schedules?: boolean;
  readonly nodeArguments?: readonly string[];
};

/** A service that runs. */
export type LocalLambda = {
  readonly functions: readonly LocalFunction[];
  /** Goes on with new bundles, and tries at once what the old ones failed on. */
  reload(): Promise<void>;
  /** Tries at once what failed, instead of after its visibility time-out. */
  retry(): Promise<void>;
  /** Stops taking batches, finishes those in hand, ends every process. */
  stop(): Promise<void>;
};

/** Starts the service. Throws TemplateError when a mapping or schedule points to nothing. */
export function startLambda(
  { stack, queues, client, queueEndpoint, taskRoot, onEvent, onProcesses }: LambdaNeeds,
  {
    region = localRegion,
    accountId = localAccountId,
    concurrency = 3,
    longPollSeconds = 20,
    tickSeconds,
    schedules = true,
    nodeArguments = [],
  }: LambdaOptions = {},
): LocalLambda {
  const local = localAddresses(queues, awsQueueBase(region, accountId));
  const functions = stack.functions.map((definition) =>
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
    ),
  );
  const functionOf = (arn: string) => find(functions, arn);
  const calls = directCalls(client);
  const failure = (of: LocalFunction) => (error: Error) => onEvent({ type: 'failed', function: of.name, error });

  const sources: EventSource[] = stack.mappings
    .filter(({ enabled }) => enabled)
    .map(({ queueArn, functionArn, batchSize, reportsFailures, maximumConcurrency = concurrency }) => {
      const target = functionOf(functionArn);
      return startEventSource(
        { client, calls, invoke: (event) => target.invoke(event), onFailure: failure(target) },
        {
          queueUrl: find(queues, queueArn).url,
          queueArn,
          region,
          batchSize,
          reportsFailures,
          concurrency: Math.min(maximumConcurrency, concurrency),
          longPollSeconds,
        },
      );
    });
  const ticking: Schedule[] = stack.schedules
    .filter(({ enabled }) => enabled && schedules)
    .map((definition) => {
      const target = functionOf(definition.functionArn);
      return startSchedule(
        { invoke: (event) => target.invoke(event), onFailure: failure(target), now: Date.now },
        { ...definition, everySeconds: tickSeconds ?? definition.everySeconds },
      );
    });

  const retry = async () => {
    await Promise.all(sources.map((one) => one.retry()));
  };
  return {
    functions,
    retry,
    reload: async () => {
      for (const one of functions) one.reload();
      await retry();
    },
    stop: async () => {
      await Promise.all([...ticking, ...sources].map((one) => one.stop()));
      await Promise.all(functions.map((one) => one.stop()));
    },
  };
}

/**
 * What the service adds to every function. The credentials are none: emulators ask for some and look at none. The key's id is the
 * function's name, as its role's session would tell it, so that a server's log says who called.
 */
function serviceEnvironment(name: string, region: string, queueEndpoint: string): Readonly<Record<string, string>> {
  return {
    AWS_REGION: region,
    AWS_DEFAULT_REGION: region,
    AWS_ACCESS_KEY_ID: name,
    AWS_SECRET_ACCESS_KEY: 'local',
    // For every service, not SQS alone: a call that nobody foresaw must fail here and not reach somebody's account.
    AWS_ENDPOINT_URL: queueEndpoint,
    PATH: '/usr/local/bin:/usr/bin:/bin',
  };
}

/** Puts the addresses of the queues that exist in the place of those that AWS would have given them, in a text. */
export function localAddresses(queues: readonly LocalQueue[], awsBase: string): (text: string) => string {
  const [first] = queues;
  if (first === undefined) return (value) => value;
  return (value) => value.replaceAll(awsBase, first.url.slice(0, -first.name.length));
}

function find<T extends { readonly arn: string }>(all: readonly T[], arn: string): T {
  const found = all.find((one) => one.arn === arn);
  if (found === undefined) throw new TemplateError(`the template refers to ${arn}, but declares no such thing`);
  return found;
}
