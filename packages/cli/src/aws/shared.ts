// What every deployment has once: the timers and resync functions with their queues and roles, the bucket of the
// clusters table, the schedule of the resync, the secret of deduplication ids, and the policy of the watchers.
import { readYaml } from '@outrigger/common/yaml/read';
import type { ControllerDefinition } from 'outrigger/internal/api/definition';
import { resyncDefaults, visibilitySecondsOf } from 'outrigger/internal/core/controller-options';
import type { JsonObject } from 'outrigger/internal/core/json';
import {
  logicalId,
  resyncDeadLetterQueue,
  resyncQueue,
  timersDeadLetterQueue,
  timersQueue,
} from 'outrigger/internal/core/names';
import { resyncLists, sharedTimeouts, timersBatches } from 'outrigger/internal/core/shared-functions';
import { parameter, queueUrlPrefix } from './deployment.ts';
import {
  arnOf,
  clustersTable,
  deduplicationSecret,
  lambdaFunction,
  namePrefix,
  ownArn,
  ref,
  roleIds,
} from './names.ts';
import { ownFile } from './own-file.ts';
import { allow, functionRole, policyDocument, readsTable, receivesFrom, serviceRole, writesLogs } from './role.ts';
import { functionNames } from './wakes.ts';

/** The longest that SQS keeps a message: 14 days. */
export const maxRetentionSeconds = 1_209_600;

/** Returns the time limit of a function in seconds, by its name in serverless.yml and the one that is declared. */
export type TimeoutOf = (functionId: string, declaredSeconds: number) => number;

/** Makes the timers and resync functions, as osls has functions. Each has the name of its queue. */
export function sharedFunctionsOf(registry: readonly ControllerDefinition[]): Readonly<Record<string, JsonObject>> {
  return {
    timers: lambdaFunction(timersQueue, {
      timeout: sharedTimeouts.timers,
      environment: { DEDUPLICATION_SECRET: ref(deduplicationSecret), SENDER_IDS: roleIds(functionNames(registry)) },
      // No batching window, because it would delay due messages.
      events: [consumes('TimersQueue', { batchSize: 10, maximumConcurrency: timersBatches })],
    }),
    resync: lambdaFunction(resyncQueue, {
      // A list of a large kind takes long. When the time ends, the next message continues it.
      timeout: sharedTimeouts.resync,
      memorySize: 512,
      // Of the schedule's events: the next run covers an event that is older than one period.
      maximumEventAge: resyncDefaults.runIntervalSeconds,
      maximumRetryAttempts: 2,
      environment: {
        CLUSTERS: clustersTable,
        SENDER_IDS: roleIds([resyncQueue]),
        RESYNC_PERIOD_SECONDS: parameter('RESYNC_PERIOD_SECONDS'),
        RESYNC_MISSED_AFTER_SECONDS: parameter('RESYNC_MISSED_AFTER_SECONDS'),
      },
      events: [
        // Each record is a list that keeps a page of objects in memory.
        consumes('ResyncQueue', { batchSize: 2, maximumConcurrency: resyncLists }),
        {
          schedule: {
            method: 'scheduler',
            // Commands ask for it by its name.
            name: `${namePrefix}${resyncQueue}`,
            rate: [`rate(${resyncDefaults.runIntervalSeconds / 60} minutes)`],
            roleArn: arnOf('ScheduleRole'),
            // The scheduled time names the run. Without it, a retry of Scheduler would start a second run.
            input: { time: '<aws.scheduler.scheduled-time>' },
          },
        },
      ],
    }),
  };
}

/** Makes the resources and outputs. */
export function sharedResourcesOf(
  registry: readonly ControllerDefinition[],
  timeoutOf: TimeoutOf,
): {
  readonly Resources: Readonly<Record<string, JsonObject>>;
  readonly Outputs: JsonObject;
} {
  const queueArns = registry.map(({ name }) => arnOf(`${logicalId(name)}Queue`));
  return {
    Resources: {
      ...Object(readYaml(ownFile('shared.yaml'))),
      ...queueWithDeadLetters('Timers', {
        names: [timersQueue, timersDeadLetterQueue],
        visibilitySeconds: visibilitySecondsOf(timeoutOf('timers', sharedTimeouts.timers)),
        // The maximum of SQS. Throttles count as receives, and the dead letter of a requeue ends its chain. The
        // function itself sends what can never be forwarded to the dead-letter queue, at its first receive.
        receives: 1_000,
      }),
      ...queueWithDeadLetters('Resync', {
        names: [resyncQueue, resyncDeadLetterQueue],
        visibilitySeconds: visibilitySecondsOf(timeoutOf('resync', sharedTimeouts.resync)),
        retention: 86_400,
        receives: 3,
      }),
      TimersRole: functionRole(timersQueue, [
        receivesFrom('TimersQueue'),
        allow(['sqs:SendMessage'], queueArns),
        // The next delay of a message that is not due yet, and messages that can never be forwarded.
        allow(['sqs:SendMessage'], [arnOf('TimersQueue'), arnOf('TimersDeadLetters')]),
        allow(['secretsmanager:GetSecretValue'], ref(deduplicationSecret)),
        writesLogs(timersQueue),
      ]),
      ResyncRole: functionRole(
        resyncQueue,
        [
          allow(['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'], arnOf('ResyncQueue')),
          // The depth of the controllers' queues decides whether an unobserved change was missed.
          allow(['sqs:GetQueueAttributes'], queueArns),
          // Keys are sent to timers, rate-limited. A long list continues by a message on the resync queue.
          allow(['sqs:SendMessage'], [arnOf('TimersQueue'), arnOf('ResyncQueue'), arnOf('ResyncDeadLetters')]),
          ...readsTable(),
          readsClusterSecrets,
          writesLogs(resyncQueue),
        ],
        // Of lean monitoring alone: the depth of the dead-letter queues is a metric. By a pattern, because the policies
        // of a role have at most 10,240 characters.
        { 'dead-letter-queues': [allow(['sqs:GetQueueAttributes'], ownArn('sqs', `${namePrefix}*-dlq*`))] },
      ),
      // Only schedules of this account may assume it (EventBridge Scheduler, "Cross-service confused deputy
      // prevention").
      ScheduleRole: serviceRole(
        'schedule',
        {
          Principal: { Service: 'scheduler.amazonaws.com' },
          Condition: { StringEquals: { 'aws:SourceAccount': ref('AWS::AccountId') } },
        },
        { schedule: [allow(['lambda:InvokeFunction'], ownArn('lambda', `function:${namePrefix}${resyncQueue}`))] },
      ),
      // Merged into the schedule that osls compiles, which has no option for this.
      ResyncSchedulerSchedule1: {
        Type: 'AWS::Scheduler::Schedule',
        Properties: {
          Target: {
            RetryPolicy: { MaximumEventAgeInSeconds: resyncDefaults.runIntervalSeconds, MaximumRetryAttempts: 10 },
          },
        },
      },
      // The policy for the identity of each watcher (IRSA, Pod Identity). It permits sending keys, and nothing else.
      WatcherPolicy: {
        Type: 'AWS::IAM::ManagedPolicy',
        Properties: {
          ManagedPolicyName: { 'Fn::Sub': `${namePrefix}watcher-\${AWS::Region}` },
          Description: 'Permits a watcher of Outrigger to send keys.',
          PolicyDocument: policyDocument([
            allow(['sqs:SendMessage'], queueArns),
            allow(['sqs:SendMessage'], arnOf('TimersQueue')),
          ]),
        },
      },
      // A fleet watcher also reads the table, and the credentials of clusters outside of EKS. Tokens of EKS clusters
      // need no permission in IAM.
      FleetPolicy: {
        Type: 'AWS::IAM::ManagedPolicy',
        Properties: {
          Description: 'Permits a fleet watcher of Outrigger to read the clusters table.',
          PolicyDocument: policyDocument([...readsTable(), readsClusterSecrets]),
        },
      },
    },
    Outputs: {
      FleetPolicyArn: { Description: 'The further policy for the role of a fleet watcher.', Value: ref('FleetPolicy') },
      ClustersTable: {
        Description: 'The clusters table, which outrigger clusters writes, and CLUSTERS of a fleet watcher.',
        Value: clustersTable,
      },
      WatcherPolicyArn: { Description: 'The policy for the role of each watcher.', Value: ref('WatcherPolicy') },
      QueueUrlPrefix: { Description: 'The QUEUE_URL_PREFIX of the watchers.', Value: queueUrlPrefix },
    },
  };
}

const readsClusterSecrets = allow(
  ['secretsmanager:GetSecretValue'],
  ownArn('secretsmanager', `secret:\${self:service}/\${self:custom.stage}/clusters/*`),
);

/** The event of a function that receives from a queue, by the queue's id. */
export function consumes(queue: string, more: JsonObject): JsonObject {
  return { sqs: { arn: arnOf(queue), ...more, functionResponseType: 'ReportBatchItemFailures' } };
}

type QueuePair = {
  readonly names: readonly [queue: string, deadLetters: string];
  readonly visibilitySeconds: number;
  /** How long the first keeps a message, in seconds. */
  readonly retention?: number;
  readonly receives: number;
  /** Further attributes of both. */
  readonly shared?: JsonObject;
};

/** Makes a queue and its dead-letter queue, by id. */
export function queueWithDeadLetters(
  id: string,
  { names: [queue, deadLetters], visibilitySeconds, retention = maxRetentionSeconds, receives, shared }: QueuePair,
): Readonly<Record<string, JsonObject>> {
  const make = (name: string, more: JsonObject) => ({
    Type: 'AWS::SQS::Queue',
    Properties: { QueueName: `${namePrefix}${name}`, ...shared, ...more },
  });
  return {
    [`${id}Queue`]: make(queue, {
      VisibilityTimeout: visibilitySeconds,
      MessageRetentionPeriod: retention,
      RedrivePolicy: { deadLetterTargetArn: arnOf(`${id}DeadLetters`), maxReceiveCount: receives },
    }),
    [`${id}DeadLetters`]: make(deadLetters, {
      MessageRetentionPeriod: maxRetentionSeconds,
      // By name: a GetAtt would be a circle, since the source names this queue, too.
      RedriveAllowPolicy: {
        redrivePermission: 'byQueue',
        sourceQueueArns: [ownArn('sqs', `${namePrefix}${queue}`)],
      },
    }),
  };
}
