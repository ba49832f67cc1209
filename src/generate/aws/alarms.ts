// What must wake somebody, for each controller: it falls behind, a key was given up, its function dies or is throttled, a change
// was missed. SQS and Lambda report nothing for what nobody uses, so missing values are fine. What every deployment has once
// is in infra/aws/alarms.yml, in the same manner.
import type { Registered } from '../../core/controller.ts';
import { idOf, namePrefix, ref } from './names.ts';
import type { JsonObject } from '../json.ts';

/** What metrics of ours are called by: METRICS_NAMESPACE's default. */
export const metricsNamespace = 'Outrigger';

/** A key that waits for longer than this is not being reconciled; what waits on purpose waits in timers. */
const lateSeconds = 300;
const periodSeconds = 300;
/** Longer than a key is put off while its cluster is away: what was put off in the same window was not missed. */
const missedSeconds = 1_200;

/** What an alarm is called, says and looks at. */
type Asked = {
  /** Behind the controller's name. */
  readonly what: string;
  readonly because: string;
  /** What whoever is woken does first; a command of the README's, where there is one. */
  readonly first: string;
  /** A heading of docs/operating.md, as a link names it. */
  readonly runbook: string;
  readonly threshold?: number;
  /** How many periods in a row. */
  readonly periods?: number;
  readonly metric: JsonObject;
};

/** Makes a controller's alarms, by id. */
export function alarmsOf({ name }: Registered): JsonObject {
  const id = idOf(name);
  const queue = (of: string, metric: string): JsonObject =>
    simple('AWS/SQS', metric, { Name: 'QueueName', Value: { 'Fn::GetAtt': [of, 'QueueName'] } }, 'Maximum');
  const lambda = (metric: string): JsonObject =>
    simple('AWS/Lambda', metric, { Name: 'FunctionName', Value: ref(`${id}LambdaFunction`) }, 'Sum');
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of serverless.yml
  const stage = '--stage ${self:custom.stage}';
  return {
    [`${id}LateAlarm`]: alarm(name, {
      what: 'late',
      because: `keys wait for more than ${lateSeconds} s`,
      first: `npx outrigger status ${stage} --controller ${name}`,
      runbook: 'keys-wait',
      threshold: lateSeconds,
      periods: 3,
      metric: queue(`${id}Queue`, 'ApproximateAgeOfOldestMessage'),
    }),
    [`${id}DeadLettersAlarm`]: alarm(name, {
      what: 'dead-letters',
      because: 'a key was given up',
      first: `npx outrigger dlq list ${stage} --controller ${name}`,
      runbook: 'dead-letters',
      metric: queue(`${id}DeadLetters`, 'ApproximateNumberOfMessagesVisible'),
    }),
    [`${id}ErrorsAlarm`]: alarm(name, {
      what: 'errors',
      because: 'the function fails or dies, for a quarter of an hour',
      first: `npx outrigger doctor ${stage}`,
      runbook: 'function-errors',
      periods: 3,
      metric: lambda('Errors'),
    }),
    [`${id}ThrottlesAlarm`]: alarm(name, {
      what: 'throttles',
      because: 'Lambda refuses to run the function, for a quarter of an hour',
      first: `npx outrigger doctor ${stage}`,
      runbook: 'function-throttled',
      periods: 3,
      metric: lambda('Throttles'),
    }),
    [`${id}UnobservedAlarm`]: alarm(name, {
      what: 'unobserved',
      because: 'the resync found a change that no watcher had forwarded',
      first: `npx outrigger status ${stage} --controller ${name}`,
      runbook: 'changes-unobserved',
      metric: missed(name),
    }),
  };
}

function alarm(
  controller: string,
  { what, because, first, runbook, threshold = 0, periods = 1, metric }: Asked,
): JsonObject {
  return {
    Type: 'AWS::CloudWatch::Alarm',
    Properties: {
      AlarmName: `${namePrefix}${controller}-${what}`,
      AlarmDescription: `${controller}: ${because}. First: ${first}. Runbook: docs/operating.md#${runbook}`,
      ...metric,
      EvaluationPeriods: periods,
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

/** Unobserved changes, unless keys of the controller were put off at that time: those wait in timers, and come. */
function missed(controller: string): JsonObject {
  const own = (id: string, metric: string): JsonObject => ({
    Id: id,
    ReturnData: false,
    MetricStat: {
      Metric: {
        Namespace: metricsNamespace,
        MetricName: metric,
        Dimensions: [{ Name: 'service', Value: controller }],
      },
      Stat: 'Sum',
      Period: missedSeconds,
    },
  });
  return {
    Metrics: [
      own('unobserved', 'Unobserved'),
      own('deferred', 'ReconcilesDeferred'),
      {
        Id: 'missed',
        Expression: 'IF(FILL(deferred, 0) > 0, 0, unobserved)',
        Label: 'missed changes',
        ReturnData: true,
      },
    ],
  };
}
