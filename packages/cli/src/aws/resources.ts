// What a deployment consists of: for each controller a FIFO queue with a dead-letter queue, a function with a role,
// alarms, and a stack parameter for each setting; and what exists once (shared.ts). The plugin of osls adds it to the
// author's serverless.yml.
import type { ControllerDefinition } from 'outrigger/internal/api/definition';
import {
  type FunctionOption,
  maxReceiveCountOf,
  optionParameter,
  visibilitySecondsOf,
} from 'outrigger/internal/core/controller-options';
import type { JsonObject } from 'outrigger/internal/core/json';
import { controllerDeadLetterQueue, controllerQueue, logicalId } from 'outrigger/internal/core/names';
import { alarmsOf } from './alarms.ts';
import { dashboardOf } from './dashboard.ts';
import { type Deployment, named, parameter } from './deployment.ts';
import { clustersTable, deduplicationSecret, lambdaFunction, ref, roleIds, watchedQueuesPolicy } from './names.ts';
import { parametersOf, settingsEnvironment, stackParametersOf } from './parameters.ts';
import { queriesOf } from './queries.ts';
import { permissionPoliciesOf, policyDocument, roleOf, sendsToItself } from './role.ts';
import { consumes, queueWithDeadLetters, sharedFunctionsOf, sharedResourcesOf, type TimeoutOf } from './shared.ts';
import { alarmResourcesOf } from './shared-alarms.ts';
import { functionNames, plainHttpDenied, rulesStatements, wakeFunctionOf, wakeResourcesOf } from './wakes.ts';

/** The collector of traces, as an option of the deployment. */
const traceVariables = ['ENDPOINT', 'HEADERS', 'HEADERS_SECRET'].map((end) => `OTEL_EXPORTER_OTLP_${end}`);

/** The functions, as osls has them, and the resources, parameters and outputs of a template. */
export type Aws = {
  readonly functions: Readonly<Record<string, JsonObject>>;
  readonly stackParameters: readonly JsonObject[];
  readonly resources: {
    readonly Parameters: JsonObject;
    readonly Resources: Readonly<Record<string, JsonObject>>;
    readonly Outputs: JsonObject;
  };
};

/**
 * Makes the parts of a deployment. Throws SchemaError for a setting that cannot be a parameter.
 * @param deployment fills in the names; absent: the names have variables
 * @param functions those of the deployment, resolved: what follows from a time limit follows from theirs
 */
export function awsOf(
  registry: readonly ControllerDefinition[],
  deployment?: Deployment,
  functions: Readonly<Record<string, { readonly timeout?: unknown } | undefined>> = {},
): Aws {
  const timeoutOf: TimeoutOf = (id, declaredSeconds) => Number(functions[id]?.timeout ?? declaredSeconds);
  const shared = sharedResourcesOf(registry, timeoutOf);
  const parts = {
    functions: {
      ...merge(registry.map((controller) => ({ [functionId(controller.name)]: functionOf(controller) }))),
      ...wakeFunctionOf(registry),
      ...sharedFunctionsOf(registry),
    },
    stackParameters: stackParametersOf(registry),
    resources: {
      Parameters: parametersOf(registry),
      Resources: {
        ...merge(registry.map((controller) => resourcesOf(controller, timeoutOf))),
        ...queuePoliciesOf(registry),
        ...wakeResourcesOf(registry),
        ...queriesOf(registry),
        Dashboard: dashboardOf(registry),
        ...shared.Resources,
        ...alarmResourcesOf(registry),
      },
      Outputs: shared.Outputs,
    },
  };
  return deployment === undefined ? parts : named(parts, deployment);
}

/** The name of a controller's function in serverless.yml: `waterTank`. */
export function functionId(controller: string): string {
  const id = logicalId(controller);
  return id.charAt(0).toLowerCase() + id.slice(1);
}

function functionOf(controller: ControllerDefinition): JsonObject {
  const { name } = controller;
  const { options } = controller.declaration;
  const option = (of: FunctionOption) => parameter(optionParameter(name, of), options[of]);
  return lambdaFunction(name, {
    timeout: option('timeoutSeconds'),
    memorySize: option('memoryMb'),
    ...(options.reservedConcurrency ? { reservedConcurrency: option('concurrency') } : {}),
    environment: {
      CLUSTERS: clustersTable,
      SENDER_IDS: roleIds(functionNames([controller])),
      // Here and not for all functions: only reconciles are traced, and the headers may have a key.
      ...Object.fromEntries(traceVariables.map((one) => [one, parameter(one)])),
      ...(sendsToItself(controller.declaration) ? { DEDUPLICATION_SECRET: ref(deduplicationSecret) } : {}),
      ...settingsEnvironment(controller),
    },
    events: [
      consumes(`${logicalId(name)}Queue`, {
        batchSize: option('batchSize'),
        maximumConcurrency: option('concurrency'),
      }),
    ],
  });
}

function resourcesOf(controller: ControllerDefinition, timeoutOf: TimeoutOf): Readonly<Record<string, JsonObject>> {
  const { name } = controller;
  const timeoutSeconds = timeoutOf(functionId(name), controller.declaration.options.timeoutSeconds);
  const id = logicalId(name);
  return {
    ...queueWithDeadLetters(id, {
      names: [controllerQueue(name), controllerDeadLetterQueue(name)],
      visibilitySeconds: visibilitySecondsOf(timeoutSeconds),
      receives: maxReceiveCountOf(timeoutSeconds),
      shared: fifoAttributes,
    }),
    [`${id}Role`]: roleOf(controller),
    ...permissionPoliciesOf(controller),
    ...alarmsOf(controller, timeoutSeconds),
  };
}

const fifoAttributes = {
  FifoQueue: true,
  // Both together are SQS's high-throughput mode, which deduplicates within a message group.
  DeduplicationScope: 'messageGroup',
  FifoThroughputLimit: 'perMessageGroupId',
};

/**
 * Makes the policies of the queues, which deny plain HTTP, by id: few, because a stack has at most 500 resources. Which
 * queues a policy has does not depend on the controllers' declarations: where a queue moves to another policy,
 * CloudFormation may delete the former one, and with it that of the queue, after it has set the other.
 */
function queuePoliciesOf(registry: readonly ControllerDefinition[]): Readonly<Record<string, JsonObject>> {
  const idsOf = (end: string) => registry.map(({ name }) => `${logicalId(name)}${end}`);
  const policy = (queues: readonly string[], more: readonly JsonObject[] = []): JsonObject => ({
    Type: 'AWS::SQS::QueuePolicy',
    Properties: { Queues: queues.map(ref), PolicyDocument: policyDocument([plainHttpDenied, ...more]) },
  });
  // A queue that the policy of the watched queues has had gets another one afterwards.
  const DependsOn = [watchedQueuesPolicy];
  return {
    [watchedQueuesPolicy]: policy(['TimersQueue', ...idsOf('Queue')]),
    WakeDeadLettersPolicy: { ...policy(['TimersDeadLetters'], rulesStatements(registry)), DependsOn },
    DeadLettersPolicy: { ...policy(['ResyncQueue', 'ResyncDeadLetters', ...idsOf('DeadLetters')]), DependsOn },
  };
}

function merge<T>(parts: readonly Readonly<Record<string, T>>[]): Readonly<Record<string, T>> {
  return Object.assign({}, ...parts);
}
