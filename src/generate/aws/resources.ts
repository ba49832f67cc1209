// The AWS resources of each controller: a FIFO queue with a dead-letter queue, a function with a role, alarms, and a
// stack parameter for each setting. serverless.yml includes them next to the shared resources (infra/aws).
import type { ControllerDefinition } from '../../api/definition.ts';
import { maxReceiveCountOf, visibilitySecondsOf } from '../../core/controller-options.ts';
import type { JsonObject } from '../../core/json.ts';
import {
  controllerDeadLetterQueue,
  controllerQueue,
  resyncDeadLetterQueue,
  resyncQueue,
  timersDeadLetterQueue,
  timersQueue,
} from '../../core/names.ts';
import { alarmsOf } from './alarms.ts';
import { dashboardOf } from './dashboard.ts';
import { arnOf, clustersTable, deduplicationSecret, logicalId, namePrefix, ownArn, ref, roleIds } from './names.ts';
import {
  environmentNames,
  optionParametersOf,
  parametersOf,
  settingsEnvironment,
  stackParametersOf,
} from './parameters.ts';
import { queriesOf } from './queries.ts';
import { permissionPoliciesOf, roleOf, sendsToItself } from './role.ts';
import { plainHttpDenied, wakeFunctionOf, wakeResourcesOf, wakers } from './wakes.ts';

/** The maximum of SQS: 14 days. */
const retentionSeconds = 1_209_600;
/** The collector of traces, as an option of the deployment. */
const traceVariables = ['ENDPOINT', 'HEADERS', 'HEADERS_SECRET'].map((end) => `OTEL_EXPORTER_OTLP_${end}`);

/**
 * Makes the parts of serverless.yml: functions, resources, stack parameters, and the names and ARNs that the shared
 * resources use.
 */
export function awsOf(registry: readonly ControllerDefinition[]): JsonObject {
  return {
    functions: {
      ...merge(registry.map((controller) => ({ [camelCase(logicalId(controller.name))]: functionOf(controller) }))),
      ...wakeFunctionOf(registry),
    },
    settings: environmentNames(registry),
    controllerOptions: optionParametersOf(registry),
    stackParameters: stackParametersOf(registry),
    // The queues of all controllers, for the roles that send to all of them.
    queueArns: registry.map(({ name }) => arnOf(`${logicalId(name)}Queue`)),
    // The roles of all functions, for the sender check of timers.
    senderIds: roleIds([...registry.map(({ name }) => name), timersQueue, resyncQueue, ...wakers(registry)]),
    // The names of the shared queues, from src/core/names.ts.
    queueNames: Object.fromEntries(
      Object.entries({
        timersQueue,
        timersDeadLetters: timersDeadLetterQueue,
        resyncQueue,
        resyncDeadLetters: resyncDeadLetterQueue,
      }).map(([what, name]) => [what, `${namePrefix}${name}`]),
    ),
    resources: {
      Parameters: parametersOf(registry),
      Resources: {
        ...merge(registry.map(resourcesOf)),
        // The name of a resource that every stack has had, so that an update does not replace it.
        TimersQueuePolicy: secureTransportOnly([...sharedQueues(registry), ...registry.flatMap(queuesOf)]),
        ...wakeResourcesOf(registry),
        ...queriesOf(registry),
        Dashboard: dashboardOf(registry),
      },
    },
  };
}

function functionOf(controller: ControllerDefinition): JsonObject {
  const { name } = controller;
  const { timeoutSeconds, memoryMb, batchSize, concurrency, reservedConcurrency } = controller.declaration.options;
  const id = logicalId(name);
  return {
    name: `${namePrefix}${name}`,
    handler: `dist/${name}/index.handler`,
    timeout: timeoutSeconds,
    memorySize: memoryMb,
    ...(reservedConcurrency ? { reservedConcurrency: concurrency } : {}),
    // osls cannot validate the template with a bare name or a GetAtt here.
    role: { 'Fn::Sub': `\${${id}Role.Arn}` },
    // The loop function → timers → function is intended; Lambda would stop it after about 16 rounds.
    recursiveLoop: 'Allow',
    package: { patterns: ['!**', `dist/${name}/**`] },
    environment: {
      CLUSTERS: clustersTable,
      SENDER_IDS: roleIds([name, timersQueue, resyncQueue, ...wakers([controller])]),
      // Here and not for all functions: only reconciles are traced, and the headers may have a key.
      ...Object.fromEntries(traceVariables.map((one) => [one, `\${param:${one}}`])),
      ...(sendsToItself(controller.declaration) ? { DEDUPLICATION_SECRET: ref(deduplicationSecret) } : {}),
      ...settingsEnvironment(controller),
    },
    events: [
      {
        sqs: {
          arn: arnOf(`${id}Queue`),
          batchSize,
          maximumConcurrency: concurrency,
          functionResponseType: 'ReportBatchItemFailures',
        },
      },
    ],
  };
}

/** The queues of infra/aws/resources.yml. With wakes, the rules send to one of them, which has its own policy. */
function sharedQueues(registry: readonly ControllerDefinition[]): readonly string[] {
  const deadLetters = wakers(registry).length === 0 ? ['TimersDeadLetters'] : [];
  return ['TimersQueue', ...deadLetters, 'ResyncQueue', 'ResyncDeadLetters'];
}

function queuesOf({ name }: ControllerDefinition): readonly string[] {
  return [`${logicalId(name)}Queue`, `${logicalId(name)}DeadLetters`];
}

function resourcesOf(controller: ControllerDefinition): JsonObject {
  const { name } = controller;
  const id = logicalId(name);
  const { timeoutSeconds } = controller.declaration.options;
  return {
    [`${id}Queue`]: fifoQueue(controllerQueue(name), {
      // infra/aws/controller-options.ts has both formulas, for a timeout of --param.
      VisibilityTimeout: visibilitySecondsOf(timeoutSeconds),
      RedrivePolicy: {
        deadLetterTargetArn: arnOf(`${id}DeadLetters`),
        maxReceiveCount: maxReceiveCountOf(timeoutSeconds),
      },
    }),
    [`${id}DeadLetters`]: fifoQueue(controllerDeadLetterQueue(name), {
      RedriveAllowPolicy: {
        redrivePermission: 'byQueue',
        // By name: a GetAtt would be a circle, since the source names this queue, too.
        sourceQueueArns: [ownArn('sqs', `${namePrefix}${controllerQueue(name)}`)],
      },
    }),
    [`${id}Role`]: roleOf(controller),
    ...permissionPoliciesOf(controller),
    ...alarmsOf(controller),
  };
}

function fifoQueue(name: string, more: JsonObject): JsonObject {
  return {
    Type: 'AWS::SQS::Queue',
    Properties: {
      QueueName: `${namePrefix}${name}`,
      FifoQueue: true,
      // Both together are SQS's high-throughput mode, which deduplicates within a message group.
      DeduplicationScope: 'messageGroup',
      FifoThroughputLimit: 'perMessageGroupId',
      MessageRetentionPeriod: retentionSeconds,
      ...more,
    },
  };
}

/**
 * The policy of all queues, which denies plain HTTP. One resource for all, because a stack has at most 500. SQS takes
 * `*` as the queue itself.
 */
function secureTransportOnly(queues: readonly string[]): JsonObject {
  return {
    Type: 'AWS::SQS::QueuePolicy',
    Properties: { Queues: queues.map(ref), PolicyDocument: { Version: '2012-10-17', Statement: [plainHttpDenied] } },
  };
}

function merge(parts: readonly JsonObject[]): JsonObject {
  return Object.assign({}, ...parts);
}

function camelCase(id: string): string {
  return id.charAt(0).toLowerCase() + id.slice(1);
}
