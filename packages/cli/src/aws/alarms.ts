// The alarms of each controller: keys wait too long, there are dead letters, the function fails or is throttled, or a
// change was missed. SQS and Lambda report no values for unused resources, so missing data does not breach. The alarms
// of the shared resources are in shared-alarms.ts.

import { type ControllerDefinition, hasEvidence } from 'outrigger/internal/api/definition';
import type { JsonObject } from 'outrigger/internal/core/json';
import { type MetricName, metricNames, serviceDimension } from 'outrigger/internal/core/metrics';
import { logicalId } from 'outrigger/internal/core/names';
import { metricsNamespace, namePrefix, ref } from './names.ts';

/**
 * A key that waits longer than this is late, and with a long timeout one that waits longer than two reconciles: its own
 * and the one before it. Planned waits are in the timers queue.
 */
const lateSeconds = 300;
export const periodSeconds = 300;
/**
 * Longer than the postponement of a key of an unreachable cluster: a change that was postponed in the window was not
 * missed.
 */
const missedSeconds = 1_200;

/** The name, description and metric of an alarm. */
export type AlarmDefinition = {
  readonly because: string;
  /** The first step for the operator; a command if there is one. */
  readonly first: string;
  /** The page of docs/alarms, without its extension. Default: the name of the alarm. */
  readonly runbook?: string;
  readonly threshold?: number;
  /** The number of periods that are looked at. */
  readonly periods?: number;
  /** How many of them must be above the threshold. Default: all. */
  readonly datapoints?: number;
  /** Breaches below the threshold instead of above. */
  readonly below?: boolean;
  /** What missing data means. Default: nothing, because SQS and Lambda report no values for unused resources. */
  readonly missing?: 'breaching' | 'notBreaching';
  readonly metric: JsonObject;
};

/** Makes a controller's alarms, by id. */
export function alarmsOf(
  { name, declaration }: ControllerDefinition,
  timeoutSeconds: number,
): Readonly<Record<string, JsonObject>> {
  const errorPeriodSeconds = periodSeconds * Math.ceil(timeoutSeconds / periodSeconds);
  const id = logicalId(name);
  const lambda = (metric: string): JsonObject => lambdaMetric(`${id}LambdaFunction`, metric);
  return {
    [`${id}LateAlarm`]: alarm(`${name}-late`, {
      because: `${name}: keys wait too long`,
      first: `npx outrigger status ${stage} --controller ${name}`,
      runbook: 'keys-wait',
      threshold: Math.max(lateSeconds, 2 * timeoutSeconds),
      periods: 3,
      metric: queueMetric(`${id}Queue`, 'ApproximateAgeOfOldestMessage'),
    }),
    [`${id}DeadLettersAlarm`]: alarm(`${name}-dead-letters`, {
      because: `${name}: there is a dead letter`,
      first: `npx outrigger dlq list ${stage} --controller ${name}`,
      runbook: 'dead-letters',
      metric: queueMetric(`${id}DeadLetters`, 'ApproximateNumberOfMessagesVisible'),
    }),
    [`${id}ErrorsAlarm`]: alarm(`${name}-errors`, {
      because: `${name}: the function keeps failing`,
      first: `npx outrigger doctor ${stage}`,
      runbook: 'function-errors',
      // A function that dies at its timeout has one error in that time, and a key that kills it is received again after
      // the visibility timeout and a little more: three errors of it are within three of these.
      periods: Math.max(3, Math.ceil((3 * 7 * timeoutSeconds) / errorPeriodSeconds)),
      datapoints: 3,
      metric: { ...lambda('Errors'), Period: errorPeriodSeconds },
    }),
    [`${id}ThrottlesAlarm`]: alarm(`${name}-throttles`, {
      because: `${name}: Lambda has throttled the function for 15 minutes`,
      first: `npx outrigger doctor ${stage}`,
      runbook: 'function-throttled',
      periods: 3,
      metric: lambda('Throttles'),
    }),
    // Without evidence nothing shows that a change was missed.
    ...(!hasEvidence(declaration)
      ? {}
      : {
          [`${id}MissedChangesAlarm`]: alarm(`${name}-missed-changes`, {
            because: `${name}: the resync found a change that no watcher had forwarded`,
            first: `npx outrigger status ${stage} --controller ${name}`,
            runbook: 'missed-changes',
            metric: missed(name),
          }),
        }),
  };
}

/** Where the documents are published: the homepage of the packages. */
export const documentation = 'https://outrigger.dev';

/** The option of commands that names the stage. */
export const stage = '--stage ${self:custom.stage}';

/** Makes an alarm. Its name is `what`, after the deployment's prefix. */
export function alarm(what: string, definition: AlarmDefinition): JsonObject {
  const { because, first, runbook = what, metric, threshold = 0, periods = 1, datapoints } = definition;
  return {
    Type: 'AWS::CloudWatch::Alarm',
    Properties: {
      AlarmName: `${namePrefix}${what}`,
      AlarmDescription: `${because}. First: ${first}. Runbook: ${documentation}/alarms/${runbook}`,
      ...metric,
      EvaluationPeriods: periods,
      ...(datapoints === undefined ? {} : { DatapointsToAlarm: datapoints }),
      Threshold: threshold,
      ComparisonOperator: definition.below === true ? 'LessThanThreshold' : 'GreaterThanThreshold',
      TreatMissingData: definition.missing ?? 'notBreaching',
      AlarmActions: [ref('AlarmTopic')],
      OKActions: [ref('AlarmTopic')],
    },
  };
}

/** A metric of a queue of the template. */
export function queueMetric(id: string, metric: string): JsonObject {
  return simple('AWS/SQS', metric, { Name: 'QueueName', Value: { 'Fn::GetAtt': [id, 'QueueName'] } }, 'Maximum');
}

/** A metric of a function of the template. */
export function lambdaMetric(id: string, metric: string): JsonObject {
  return simple('AWS/Lambda', metric, { Name: 'FunctionName', Value: ref(id) }, 'Sum');
}

/** A metric with one dimension. */
export function simple(namespace: string, metric: string, dimension: JsonObject, statistic: string): JsonObject {
  return {
    Namespace: namespace,
    MetricName: metric,
    Dimensions: [dimension],
    Statistic: statistic,
    Period: periodSeconds,
  };
}

/**
 * Missed changes. They do not count while keys of the controller are postponed because their cluster is unreachable or
 * slow, because those wait in the timers queue. The metrics have no clusters: one such cluster stands for all. The
 * resync counts the other metric with 0 when it counts missed changes, so the formula never lacks data of one.
 */
function missed(controller: string): JsonObject {
  const own = (id: string, metric: MetricName): JsonObject => ({
    Id: id,
    ReturnData: false,
    MetricStat: {
      Metric: {
        Namespace: metricsNamespace,
        MetricName: metric,
        Dimensions: [{ Name: serviceDimension, Value: controller }],
      },
      Stat: 'Sum',
      Period: missedSeconds,
    },
  });
  return {
    Metrics: [
      own('missed', metricNames.missedChanges),
      own('postponed', metricNames.clusterPostponements),
      {
        Id: 'unexplained',
        Expression: 'IF(postponed > 0, 0, missed)',
        Label: 'missed changes',
        ReturnData: true,
      },
    ],
  };
}
