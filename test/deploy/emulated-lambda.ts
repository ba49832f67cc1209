// The Lambda service around AWS's own runtime: every function of a packaged template in an emulator, invoked by the
// event source mappings and schedules of the local service. The mappings and schedules are ours; the runtime of the
// functions is AWS's.
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { SQSClient } from '@aws-sdk/client-sqs';
import { startEventSource } from '@outrigger/cli/dev/lambda/event-source';
import { localAddresses } from '@outrigger/cli/dev/lambda/local-lambda';
import { sdkQueueCalls } from '@outrigger/cli/dev/lambda/queue-calls';
import type { LocalQueue } from '@outrigger/cli/dev/lambda/queues';
import { startSchedule } from '@outrigger/cli/dev/lambda/schedule';
import type { Stack } from '@outrigger/cli/dev/lambda/stack';
import { awsQueueBase } from '@outrigger/cli/dev/lambda/template';
import { createChildProcesses } from '../../tools/control-plane/child-processes.ts';
import { podAddresses } from '../../tools/kubelet/addresses.ts';
import { type EmulatedFunction, lambdaRuntime, startEmulatedFunction } from './emulated-function.ts';

/** The dependencies of the service. */
export type EmulatedLambdaDeps = {
  readonly stack: Stack;
  readonly queues: readonly LocalQueue[];
  readonly client: SQSClient;
  readonly taskRoot: string;
  /**
   * The variables that AWS would add to a function's environment: region, its role's credentials, and here the endpoint
   * of AWS.
   */
  readonly environment: (name: string) => Readonly<Record<string, string>>;
};

/** The region and account for which the template was resolved. */
export type AwsLocation = { readonly region: string; readonly accountId: string };

/** The functions; nothing invokes them yet. */
export type EmulatedLambda = AsyncDisposable & {
  readonly functions: readonly EmulatedFunction[];
  /** Finds a function by the name of its queue (`foo`, `timers`). Throws when there is none. */
  byQueue(queue: string): EmulatedFunction;
  /** Starts the mappings and, at this interval, the schedules. */
  feed(options: { readonly scheduleSeconds: number }): void;
  /** The failed invocations so far: errors of functions, and of the service. */
  readonly failures: readonly string[];
  /** The responses of a function's invocations so far. */
  answers(name: string): readonly unknown[];
};

/** Starts an emulator for each function. */
export async function startEmulatedLambda(
  { stack, queues, client, taskRoot, environment }: EmulatedLambdaDeps,
  { region, accountId }: AwsLocation,
): Promise<EmulatedLambda> {
  await using parts = new AsyncDisposableStack();
  const children = createChildProcesses(await mkdtemp(path.join(tmpdir(), 'outrigger-emulators-')));
  parts.defer(() => children.close());
  const deps = { runtime: await lambdaRuntime(), children, addresses: podAddresses(), taskRoot };
  const local = localAddresses(queues, awsQueueBase(region, accountId));
  const functions = await Promise.all(
    stack.functions.map(async (definition) => {
      const own = Object.entries(definition.environment).map(([name, value]) => [name, local(value)]);
      const deployed = { ...definition, environment: Object.fromEntries(own) };
      const started = await startEmulatedFunction(deps, deployed, environment(definition.name));
      parts.defer(() => started.stop());
      return started;
    }),
  );
  const failures: string[] = [];
  const answers = new Map<string, unknown[]>();
  const onFailure = (error: Error) => failures.push(error.message);
  const find = (arn: string): EmulatedFunction => {
    const found = functions.find((one) => one.arn === arn);
    if (found === undefined) throw new Error(`function not found: ${arn}`);
    return found;
  };
  const invoke = (target: EmulatedFunction) => async (event: unknown) => {
    const answer = await target.invoke(event);
    answers.set(target.name, [...(answers.get(target.name) ?? []), answer]);
    return answer;
  };
  const resources = parts.move();
  return {
    functions,
    failures,
    answers: (name) => answers.get(name) ?? [],
    byQueue: (queue) => {
      const found = functions.find(({ name }) => name.endsWith(`-${queue}`));
      if (found === undefined) throw new Error(`function not found for the queue ${queue}`);
      return found;
    },
    feed: ({ scheduleSeconds }) => {
      for (const { queueArn, functionArn, batchSize, reportsFailures } of stack.mappings) {
        const queueUrl = queues.find(({ arn }) => arn === queueArn)?.url ?? queueArn;
        // One environment runs one batch at a time.
        const options = { queueUrl, queueArn, region, batchSize, reportsFailures, concurrency: 1, longPollSeconds: 1 };
        const source = startEventSource(
          { client, calls: sdkQueueCalls(client), invoke: invoke(find(functionArn)), onFailure },
          options,
        );
        resources.defer(() => source.stop());
      }
      for (const definition of stack.schedules) {
        const needed = { invoke: invoke(find(definition.functionArn)), onFailure, now: Date.now };
        const schedule = startSchedule(needed, { ...definition, everySeconds: scheduleSeconds });
        resources.defer(() => schedule.stop());
      }
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}
