// One dashboard for a deployment: the shared resources first, then rows for each controller with its alarms, reconcile
// latency, outcomes, queue depth and function metrics. Figures by cluster come from the logs by saved queries: a widget
// with a query would scan the logs, which AWS bills, at each refresh of a wall screen. Its format is in "Dashboard Body
// Structure and Syntax" of the CloudWatch API reference.

import { type ControllerDefinition, hasEvidence } from 'outrigger/internal/api/definition';
import type { Json, JsonObject } from 'outrigger/internal/core/json';
import { type MetricName, metricNames, serviceDimension } from 'outrigger/internal/core/metrics';
import { controllerDeadLetterQueue, controllerQueue, resyncQueue, timersQueue } from 'outrigger/internal/core/names';
import { documentation } from './alarms.ts';
import { metricsNamespace, namePrefix } from './names.ts';
import { sharedAlarmsOf } from './shared-alarms.ts';
import { functionNames } from './wakes.ts';

/** The alarms of a controller that alarms.ts makes, by the ends of their names. */
const controllerAlarms = ['late', 'dead-letters', 'missed-changes', 'errors', 'throttles'];

const wide = 24;
const alarmsHeight = 2;
const rowHeight = 6;
const introduction = [
  '# Overview',
  'The alarms are first; the description of each one names the first step. Then come the shared resources, and rows ' +
    'for each controller.',
  '**Reconcile latency** is the time from a change, as the watcher observed it, to its status. **Missed changes** ' +
    'were not forwarded by a watcher, and were found by the resync.',
  '**Drift corrected** counts objects that the resync had to change without a new generation. More is in ' +
    `${documentation}/alarms.`,
].join('\n');

/** Makes the dashboard. Its body is a string, in which CloudFormation fills in region and ARNs. */
export function dashboardOf(registry: readonly ControllerDefinition[]): JsonObject {
  const widgets: JsonObject[] = [];
  let y = 0;
  const row = (height: number, ...make: readonly ((area: Area) => JsonObject)[]) => {
    const width = wide / make.length;
    for (const [index, one] of make.entries()) widgets.push(one({ x: index * width, y, width, height }));
    y += height;
  };
  row(3, (area) => ({ type: 'text', ...area, properties: { markdown: introduction } }));
  // Lean monitoring has no dashboard.
  const shared = Object.keys(sharedAlarmsOf(registry)).filter((name) => name !== 'dead-letters');
  row(alarmsHeight, alarms('shared', shared));
  row(rowHeight, ...overview(registry));
  row(rowHeight, ...sharedResources(registry));
  for (const { name, declaration } of registry) {
    // Without evidence nothing shows a missed change, so there is no alarm for that.
    const ends = controllerAlarms.filter((end) => end !== 'missed-changes' || hasEvidence(declaration));
    row(
      alarmsHeight,
      alarms(
        name,
        ends.map((end) => `${name}-${end}`),
      ),
    );
    row(rowHeight, ...controllerWidgets(name));
  }
  return {
    Type: 'AWS::CloudWatch::Dashboard',
    Properties: {
      // With the region, because an account has the dashboards of all regions in one list ("PutDashboard" of AWS).
      DashboardName: { 'Fn::Sub': `${namePrefix}${region}` },
      DashboardBody: { 'Fn::Sub': JSON.stringify({ start: '-PT6H', widgets }) },
    },
  };
}

/** The same metric of every controller in one graph. */
function overview(registry: readonly ControllerDefinition[]) {
  const each = (line: (name: string) => MetricLine) => registry.map(({ name }) => ({ ...line(name), label: name }));
  return [
    metricWidget(
      'reconcile latency, p99',
      each((name) => own(name, metricNames.reconcileLatency, 'p99')),
    ),
    metricWidget(
      'dead letters',
      each((name) => queue(controllerDeadLetterQueue(name), 'ApproximateNumberOfMessagesVisible')),
    ),
    metricWidget('missed changes, and clusters whose watcher is down', [
      ...each((name) => own(name, metricNames.missedChanges)),
      { ...own(resyncQueue, metricNames.watcherDown), stat: 'Maximum', label: 'watcher down', right: true },
    ]),
  ];
}

/** Timers, the resync, and the throttles of all functions. */
function sharedResources(registry: readonly ControllerDefinition[]) {
  return [
    metricWidget('timers', [
      queue(timersQueue, 'ApproximateNumberOfMessagesVisible'),
      queue(timersQueue, 'ApproximateNumberOfMessagesDelayed'),
      { ...queue(timersQueue, 'NumberOfMessagesDeleted'), stat: 'Sum', label: 'forwarded' },
      { ...queue(timersQueue, 'ApproximateAgeOfOldestMessage'), label: 'age of the oldest, s', right: true },
    ]),
    metricWidget('resync', [
      own(resyncQueue, metricNames.resyncRuns),
      own(resyncQueue, metricNames.resyncFailures),
      own(resyncQueue, metricNames.resyncRetriesExhausted),
      { ...own(resyncQueue, metricNames.resyncObjects), right: true },
    ]),
    metricWidget(
      'throttles',
      functionNames(registry).map((name) => ({ ...lambda(name, 'Throttles'), label: name })),
    ),
  ];
}

function controllerWidgets(name: string) {
  return [
    metricWidget(`${name}: reconcile latency`, [
      own(name, metricNames.reconcileLatency, 'p50'),
      own(name, metricNames.reconcileLatency, 'p99'),
    ]),
    metricWidget(
      `${name}: reconciles`,
      [
        metricNames.reconcilesDone,
        metricNames.reconcilesNothing,
        metricNames.reconcilesPostponed,
        metricNames.reconcilesFailed,
        metricNames.reconcilesTerminal,
        metricNames.reconcilesRefused,
        metricNames.reconcileTimeouts,
        metricNames.missedChanges,
        metricNames.driftCorrected,
        metricNames.applyNoops,
      ].map((metric) => own(name, metric)),
    ),
    metricWidget(`${name}: queue depth`, [
      queue(controllerQueue(name), 'ApproximateNumberOfMessagesVisible'),
      { ...queue(controllerDeadLetterQueue(name), 'ApproximateNumberOfMessagesVisible'), label: 'dead letters' },
      { ...queue(controllerQueue(name), 'ApproximateAgeOfOldestMessage'), label: 'age of the oldest, s', right: true },
    ]),
    metricWidget(`${name}: function`, [
      lambda(name, 'Invocations'),
      lambda(name, 'Errors'),
      lambda(name, 'Throttles'),
      { ...lambda(name, 'Duration', 'p99'), right: true },
    ]),
  ];
}

function own(service: string, metric: MetricName, stat = 'Sum'): MetricLine {
  return { metric: [metricsNamespace, metric, serviceDimension, service], stat };
}

function queue(name: string, metric: string): MetricLine {
  return { metric: ['AWS/SQS', metric, 'QueueName', `${namePrefix}${name}`], stat: 'Maximum' };
}

function lambda(name: string, metric: string, stat = 'Sum'): MetricLine {
  return { metric: ['AWS/Lambda', metric, 'FunctionName', `${namePrefix}${name}`], stat };
}

/** Shows alarms by their ARNs. */
function alarms(title: string, names: readonly string[]): (area: Area) => JsonObject {
  const arns = names.map(
    (name): Json => `arn:\${AWS::Partition}:cloudwatch:\${AWS::Region}:\${AWS::AccountId}:alarm:${namePrefix}${name}`,
  );
  return (area) => ({ type: 'alarm', ...area, properties: { title, alarms: arns } });
}

/** The position of a widget on a grid of 24 columns. */
type Area = { readonly x: number; readonly y: number; readonly width: number; readonly height: number };

/** A line in a graph: namespace, name, dimension, its value. */
type MetricLine = {
  readonly metric: readonly [string, string, string, string];
  readonly stat: string;
  readonly label?: string;
  /** Uses the right axis, for another unit. */
  readonly right?: boolean;
};

/** The region of the deployment; filled in by Fn::Sub. */
const region = '${AWS::Region}';

const periodSeconds = 60;

/** Makes a graph for an area. */
function metricWidget(title: string, lines: readonly MetricLine[]): (area: Area) => JsonObject {
  const metrics = lines.map(({ metric, stat, label, right = false }): Json => {
    const more = { label, ...(right ? { yAxis: 'right' } : {}) };
    return [...metric, { stat, ...more }];
  });
  const properties = { title, view: 'timeSeries', period: periodSeconds, region, metrics };
  return (area) => ({ type: 'metric', ...area, properties });
}
