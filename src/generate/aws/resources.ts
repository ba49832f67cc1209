// What AWS holds for each controller: a FIFO queue with its dead letters, a function with its role, alarms, and a stack
// parameter for each of its settings. serverless.yml includes it beside what is there once (infra/aws).
import type { Registered } from '../../core/controller.ts';
import {
  controllerDeadLetters,
  controllerQueue,
  resyncDeadLetters,
  resyncQueue,
  timersDeadLetters,
  timersQueue,
} from '../../core/names.ts';
import { alarmsOf } from './alarms.ts';
import { dashboardOf } from '../aws-dashboard.ts';
import { arnOf, idOf, namePrefix, ref } from './names.ts';
import { parametersOf, settingNames, settingsEnvironment, stackParametersOf } from '../aws-parameters.ts';
import { queriesOf } from '../aws-queries.ts';
import { roleOf } from './role.ts';
import type { JsonObject } from '../json.ts';

const functionSeconds = 30;
/** AWS Lambda, "Using Lambda with Amazon SQS": at least six times the function's time-out. */
const visibilitySeconds = 6 * functionSeconds;
/** Throttles and bad deployments count as receives too, so it must be high. */
const maxReceiveCount = 10;
/** The longest that SQS keeps a message: 14 days. */
const retentionSeconds = 1_209_600;
/** A FIFO queue delivers no more than this at once. */
const batchSize = 10;
/** Batches of one controller at the same time. */
const maximumConcurrency = 10;

/** Makes what serverless.yml includes: functions, resources, stack parameters, and names and ARNs for what is there once. */
export function awsOf(registry: readonly Registered[]): JsonObject {
  return {
    functions: merge(registry.map((controller) => ({ [camelCase(idOf(controller.name))]: functionOf(controller) }))),
    settings: settingNames(registry),
    stackParameters: stackParametersOf(registry),
    // Every controller's queue, for those who send to all.
    queueArns: registry.map(({ name }) => arnOf(`${idOf(name)}Queue`)),
    // Names of the queues that every deployment has once; a name is said in src/core/words.ts only.
    queueNames: Object.fromEntries(
      Object.entries({ timersQueue, timersDeadLetters, resyncQueue, resyncDeadLetters }).map(([what, name]) => [
        what,
        `${namePrefix}${name}`,
      ]),
    ),
    resources: {
      Parameters: parametersOf(registry),
      Resources: { ...merge(registry.map(resourcesOf)), ...queriesOf(registry), Dashboard: dashboardOf(registry) },
    },
  };
}

function functionOf(controller: Registered): JsonObject {
  const { name } = controller;
  const id = idOf(name);
  return {
    name: `${namePrefix}${name}`,
    handler: `dist/${name}/index.handler`,
    timeout: functionSeconds,
    // osls cannot validate the template with a bare name or a GetAtt here.
    role: { 'Fn::Sub': `\${${id}Role.Arn}` },
    // The loop function → timers → function is wanted; Lambda would cut it after about 16 rounds.
    recursiveLoop: 'Allow',
    package: { patterns: ['!**', `dist/${name}/**`] },
    environment: { CLUSTERS: ref('ClustersTable'), ...settingsEnvironment(controller) },
    events: [
      {
        sqs: {
          arn: arnOf(`${id}Queue`),
          batchSize,
          maximumConcurrency,
          functionResponseType: 'ReportBatchItemFailures',
        },
      },
    ],
  };
}

function resourcesOf(controller: Registered): JsonObject {
  const { name } = controller;
  const id = idOf(name);
  return {
    [`${id}Queue`]: fifoQueue(controllerQueue(name), {
      VisibilityTimeout: visibilitySeconds,
      RedrivePolicy: { deadLetterTargetArn: arnOf(`${id}DeadLetters`), maxReceiveCount },
    }),
    [`${id}DeadLetters`]: fifoQueue(controllerDeadLetters(name), {}),
    [`${id}QueuePolicy`]: secureTransportOnly(`${id}Queue`),
    [`${id}DeadLettersPolicy`]: secureTransportOnly(`${id}DeadLetters`),
    [`${id}Role`]: roleOf(controller),
    ...alarmsOf(controller),
  };
}

function fifoQueue(name: string, more: JsonObject): JsonObject {
  return {
    Type: 'AWS::SQS::Queue',
    Properties: {
      QueueName: `${namePrefix}${name}`,
      FifoQueue: true,
      // Both together are SQS's high-throughput mode, in which deduplication is a group's own.
      DeduplicationScope: 'messageGroup',
      FifoThroughputLimit: 'perMessageGroupId',
      MessageRetentionPeriod: retentionSeconds,
      ...more,
    },
  };
}

/** Nobody reads or writes keys in plain HTTP. */
function secureTransportOnly(queue: string): JsonObject {
  const statement = {
    Effect: 'Deny',
    Principal: '*',
    Action: 'sqs:*',
    Resource: arnOf(queue),
    Condition: { Bool: { 'aws:SecureTransport': 'false' } },
  };
  return {
    Type: 'AWS::SQS::QueuePolicy',
    Properties: { Queues: [ref(queue)], PolicyDocument: { Version: '2012-10-17', Statement: [statement] } },
  };
}

function merge(parts: readonly JsonObject[]): JsonObject {
  return Object.assign({}, ...parts);
}

function camelCase(id: string): string {
  return id.charAt(0).toLowerCase() + id.slice(1);
}
