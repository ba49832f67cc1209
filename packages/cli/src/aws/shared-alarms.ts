// The alarms that every deployment has once. Operators subscribe to the topic. Each description names the first command
// and the section of the runbook.
import { resyncDefaults } from 'outrigger/internal/core/controller-options';
import type { JsonObject } from 'outrigger/internal/core/json';
import { metricNames, serviceDimension } from 'outrigger/internal/core/metrics';
import { logicalId, resyncQueue, timersQueue } from 'outrigger/internal/core/names';
import { type AlarmDefinition, alarm, lambdaMetric, periodSeconds, queueMetric, simple, stage } from './alarms.ts';
import { metricsNamespace, namePrefix } from './names.ts';
import { type NamedController, wakers } from './wakes.ts';

/** Longer than the schedule's period, so that a late run leaves no gap. */
const runSeconds = 1.5 * resyncDefaults.runIntervalSeconds;
/** The longest delay of a message is 900 s, and its age counts from its sending: so much is 300 s late. */
const timerLateSeconds = 1_200;

const doctor = `npx outrigger doctor ${stage}`;
const status = `npx outrigger status ${stage}`;
const deadLetters = `npx outrigger dlq list ${stage}`;
const ofFunction = { Period: runSeconds };

/** The alarms of a shared function that runs all the time. */
function functionAlarms(name: string): Readonly<Record<string, AlarmDefinition>> {
  const metric = (of: string) => lambdaMetric(`${logicalId(name)}LambdaFunction`, of);
  return {
    [`${name}-errors`]: {
      because: `The ${name} function fails or dies, for a quarter of an hour`,
      first: doctor,
      runbook: 'function-errors',
      periods: 3,
      metric: metric('Errors'),
    },
    [`${name}-throttles`]: {
      because: `Lambda refuses to run the ${name} function, for a quarter of an hour`,
      first: doctor,
      runbook: 'function-throttled',
      periods: 3,
      metric: metric('Throttles'),
    },
  };
}

/** The alarms by their names, in the order in which the dashboard shows them. */
export function sharedAlarmsOf(registry: readonly NamedController[]): Readonly<Record<string, AlarmDefinition>> {
  return Object.assign({}, alarms, ...wakers(registry).map(functionAlarms));
}

const alarms: Readonly<Record<string, AlarmDefinition>> = {
  // Each cluster is a contributor of this alarm with its own state and notification, so one does not hide the next
  // (CloudWatch, "Create an alarm based on a multi time series Metrics Insights query"). The resync writes the metric
  // only while something is wrong. Two of five periods are two resync runs, of which one may be late.
  'cluster-trouble': {
    because: 'Something is wrong with a cluster in two resync runs: the notification names it',
    first: status,
    periods: 5,
    datapoints: 2,
    metric: query(
      'trouble',
      `SELECT MAX(ClusterTrouble) FROM SCHEMA("${metricsNamespace}", cluster, service, what) ` +
        'GROUP BY cluster ORDER BY MAX() DESC',
    ),
  },
  // Recorded in every resync run: missing data means that the resync does not run, or that clusters are unreachable.
  'watcher-down': {
    because: 'The watchers of a cluster are down, or their status is unknown',
    first: status,
    missing: 'breaching',
    metric: ofResync(metricNames.watcherDown, 'Maximum'),
  },
  'resync-not-run': {
    because: 'No resync run for half an hour: missed changes are not found',
    first: doctor,
    threshold: 1,
    below: true,
    periods: 2,
    missing: 'breaching',
    metric: ofResync(metricNames.resyncRuns, 'Sum'),
  },
  'resync-failing': {
    because: 'The resync could not list the objects of a cluster, for three quarters of an hour',
    first: status,
    periods: 3,
    metric: ofResync(metricNames.resyncFailures, 'Sum'),
  },
  'resync-abandoned': {
    because: 'Lists of the resync did not start before the next run, for half an hour',
    first: doctor,
    runbook: 'resync-late',
    periods: 2,
    metric: ofResync(metricNames.resyncRetriesExhausted, 'Sum'),
  },
  // A list of a large kind continues with new messages, so the age of a message is not that of its list.
  'resync-late': {
    because: 'A list of the resync has waited for more than 1200 s, two periods of the schedule',
    first: doctor,
    threshold: 2 * resyncDefaults.runIntervalSeconds,
    periods: 3,
    metric: queueMetric('ResyncQueue', 'ApproximateAgeOfOldestMessage'),
  },
  'resync-dead-letters': {
    because: 'There is a dead letter of the resync',
    first: deadLetters,
    runbook: 'dead-letters',
    metric: queueMetric('ResyncDeadLetters', 'ApproximateNumberOfMessagesVisible'),
  },
  // The function may run only once in a period.
  'resync-errors': {
    because: 'The resync function fails or dies, for half an hour',
    first: doctor,
    runbook: 'function-errors',
    periods: 2,
    metric: { ...lambdaMetric('ResyncLambdaFunction', 'Errors'), ...ofFunction },
  },
  'resync-throttles': {
    because: 'Lambda refuses to run the resync function, for half an hour',
    first: doctor,
    runbook: 'function-throttled',
    periods: 2,
    metric: { ...lambdaMetric('ResyncLambdaFunction', 'Throttles'), ...ofFunction },
  },
  'timers-late': {
    because: 'A due message has waited for more than 300 s in timers',
    first: doctor,
    threshold: timerLateSeconds,
    periods: 3,
    metric: queueMetric('TimersQueue', 'ApproximateAgeOfOldestMessage'),
  },
  'timers-dead-letters': {
    because: 'There is a dead letter of timers',
    first: deadLetters,
    runbook: 'dead-letters',
    metric: queueMetric('TimersDeadLetters', 'ApproximateNumberOfMessagesVisible'),
  },
  ...functionAlarms(timersQueue),
  // One query over all functions, because most deployments never refuse a sender.
  'senders-refused': {
    because: 'A message was refused, because its sender may not say what it says',
    first: `${doctor}. It names the id that is expected and the command to set it`,
    periods: 3,
    datapoints: 1,
    metric: query('refused', `SELECT SUM(SendersRefused) FROM "${metricsNamespace}"`),
  },
  // A loop costs for as long as it lasts, and nothing else shows it: AWS's own brake is off (RecursiveLoop). One
  // query over all functions, because most deployments have no value.
  'reconciles-itself': {
    because: 'A controller reconciles objects again because of its own writes, more than 12 times a minute',
    first: status,
    threshold: 60,
    periods: 3,
    metric: query('loops', `SELECT SUM(SelfTriggered) FROM SCHEMA("${metricsNamespace}", service)`),
  },
  // They write the metric only while reads fail.
  'clusters-table-stale': {
    because:
      'The clusters table could not be read for 15 minutes: functions work with the one they have read, others wait',
    first: doctor,
    periods: 3,
    datapoints: 1,
    metric: query('stale', `SELECT SUM(ClustersTableStale) FROM SCHEMA("${metricsNamespace}", service)`),
  },
  // Of lean monitoring alone: with full monitoring, each dead-letter queue has its own. An alarm on the metrics of
  // the queues would cost as much as one for each queue. Each resync run counts the messages, also those that SQS
  // moved.
  'dead-letters': {
    because: 'There is a dead letter',
    first: deadLetters,
    metric: ofResync(metricNames.deadLetterQueueDepth, 'Maximum'),
  },
};

/** The ids that are not those of the names: an update would replace the alarm. */
const ids: Readonly<Record<string, string>> = { 'reconciles-itself': 'SelfTriggeredAlarm' };

/** Makes the topic and the alarms, by id. */
export function alarmResourcesOf(registry: readonly NamedController[]): Readonly<Record<string, JsonObject>> {
  const all = Object.entries(sharedAlarmsOf(registry)).map(([name, definition]) => [
    ids[name] ?? `${logicalId(name)}Alarm`,
    alarm(name, definition),
  ]);
  return {
    AlarmTopic: { Type: 'AWS::SNS::Topic', Properties: { TopicName: `${namePrefix}alarms` } },
    ...Object.fromEntries(all),
  };
}

function ofResync(metric: string, statistic: string): JsonObject {
  const dimension = { Name: serviceDimension, Value: resyncQueue };
  return { ...simple(metricsNamespace, metric, dimension, statistic), Period: runSeconds };
}

function query(id: string, expression: string): JsonObject {
  return { Metrics: [{ Id: id, Expression: expression, Period: periodSeconds, ReturnData: true }] };
}
