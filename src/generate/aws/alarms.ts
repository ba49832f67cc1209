// The alarms of each controller: keys wait too long, there are dead letters, the function fails or is throttled, or a
// change was missed. SQS and Lambda report no values for unused resources, so missing data does not breach. The alarms
// of the shared resources are in infra/aws/alarms.yml, in the same form.
import { type ControllerDefinition, hasEvidence } from '../../api/definition.ts';
import type { JsonObject } from '../../core/json.ts';
import { type MetricName, metricNames, serviceDimension } from '../../core/metrics.ts';
import { logicalId, metricsNamespace, namePrefix, ref } from './names.ts';

/**
 * A key that waits longer than this is late, and with a long timeout one that waits longer than two reconciles: its own
 * and the one before it. Planned waits are in the timers queue.
 */
const lateSeconds = 300;
const periodSeconds = 300;
/**
 * Longer than the postponement of a key of an unreachable cluster: a change that was postponed in the window was not
 * missed.
 */
const missedSeconds = 1_200;

/** The name, description and metric of an alarm. */
type AlarmDefinition = {
  /** The suffix of the alarm's name, after the controller's. */
  readonly what: string;
  readonly because: string;
  /** The first step for the operator; a command if there is one. */
  readonly first: string;
  /** A heading of docs/operating.md, as a link names it. */
  readonly runbook: string;
  readonly threshold?: number;
  /** The number of periods that are looked at. */
  readonly periods?: number;
  /** How many of them must be above the threshold. Default: all. */
  readonly datapoints?: number;
  readonly metric: JsonObject;
};

/** Makes a controller's alarms, by id. */
export function alarmsOf({ name, declaration }: ControllerDefinition): JsonObject {
  const { timeoutSeconds } = declaration.options;
  const errorPeriodSeconds = periodSeconds * Math.ceil(timeoutSeconds / periodSeconds);
  const id = logicalId(name);
  const queue = (of: string, metric: string): JsonObject =>
    simple('AWS/SQS', metric, { Name: 'QueueName', Value: { 'Fn::GetAtt': [of, 'QueueName'] } }, 'Maximum');
  const lambda = (metric: string): JsonObject =>
    simple('AWS/Lambda', metric, { Name: 'FunctionName', Value: ref(`${id}LambdaFunction`) }, 'Sum');
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of serverless.yml
  const stage = '--stage ${self:custom.stage}';
  return {
    [`${id}LateAlarm`]: alarm(name, {
      what: 'late',
      because: 'keys wait too long',
      first: `npx outrigger status ${stage} --controller ${name}`,
      runbook: 'keys-wait',
      // infra/aws/controller-options.ts has both formulas, for a timeout of --param.
      threshold: Math.max(lateSeconds, 2 * timeoutSeconds),
      periods: 3,
      metric: queue(`${id}Queue`, 'ApproximateAgeOfOldestMessage'),
    }),
    [`${id}DeadLettersAlarm`]: alarm(name, {
      what: 'dead-letters',
      because: 'there is a dead letter',
      first: `npx outrigger dlq list ${stage} --controller ${name}`,
      runbook: 'dead-letters',
      metric: queue(`${id}DeadLetters`, 'ApproximateNumberOfMessagesVisible'),
    }),
    [`${id}ErrorsAlarm`]: alarm(name, {
      what: 'errors',
      because: 'the function keeps failing',
      first: `npx outrigger doctor ${stage}`,
      runbook: 'function-errors',
      // A function that dies at its timeout has one error in that time, and a key that kills it is received again after
      // the visibility timeout and a little more: three errors of it are within three of these.
      periods: Math.max(3, Math.ceil((3 * 7 * timeoutSeconds) / errorPeriodSeconds)),
      datapoints: 3,
      metric: { ...lambda('Errors'), Period: errorPeriodSeconds },
    }),
    [`${id}ThrottlesAlarm`]: alarm(name, {
      what: 'throttles',
      because: 'Lambda has throttled the function for 15 minutes',
      first: `npx outrigger doctor ${stage}`,
      runbook: 'function-throttled',
      periods: 3,
      metric: lambda('Throttles'),
    }),
    // Without evidence nothing shows that a change was missed.
    ...(!hasEvidence(declaration)
      ? {}
      : {
          [`${id}MissedChangesAlarm`]: alarm(name, {
            what: 'missed-changes',
            because: 'the resync found a change that no watcher had forwarded',
            first: `npx outrigger status ${stage} --controller ${name}`,
            runbook: 'missed-changes',
            metric: missed(name),
          }),
        }),
  };
}

function alarm(
  controller: string,
  { what, because, first, runbook, threshold = 0, periods = 1, datapoints = periods, metric }: AlarmDefinition,
): JsonObject {
  return {
    Type: 'AWS::CloudWatch::Alarm',
    Properties: {
      AlarmName: `${namePrefix}${controller}-${what}`,
      AlarmDescription: `${controller}: ${because}. First: ${first}. Runbook: docs/operating.md#${runbook}`,
      ...metric,
      EvaluationPeriods: periods,
      ...(datapoints === periods ? {} : { DatapointsToAlarm: datapoints }),
      Threshold: threshold,
      ComparisonOperator: 'GreaterThanThreshold',
      TreatMissingData: 'notBreaching',
      AlarmActions: [ref('AlarmTopic')],
      OKActions: [ref('AlarmTopic')],
    },
  };
}

function simple(namespace: string, metric: string, dimension: JsonObject, statistic: string): JsonObject {
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
