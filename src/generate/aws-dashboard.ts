// One dashboard for a deployment: what is shared first, then a row for each controller: its alarms, how long changes take, what
// becomes of them, how much waits, and how its function does. A cluster is no dimension; what is a cluster's comes from the logs.
// Its shape is CloudWatch's: "Dashboard Body Structure and Syntax" of the API reference.
import type { Registered } from '../core/controller.ts';
import { controllerDeadLetters, controllerQueue, resyncQueue, timersQueue } from '../core/names.ts';
import { metricsNamespace } from './aws/alarms.ts';
import { idOf, namePrefix } from './aws/names.ts';
import { askedOf, byCluster, whatFails } from './aws-queries.ts';
import { type Area, type Line, metricWidget, region } from './aws-widgets.ts';
import type { Json, JsonObject } from './json.ts';

/** What alarms.yml has, in the order in which one looks. */
const sharedAlarms = [
  'WatchersSilent',
  'ResyncNotRun',
  'PollsFail',
  'ResyncDeadLetters',
  'ResyncErrors',
  'ResyncThrottles',
  'TimersLate',
  'TimersDeadLetters',
  'TimersErrors',
  'TimersThrottles',
];
const controllerAlarms = ['Late', 'DeadLetters', 'Unobserved', 'Errors', 'Throttles'];

const wide = 24;
const alarmsHeight = 2;
const rowHeight = 6;
const introduction = [
  '# Is all well?',
  'Alarms first: each says in its description what to do. Below what all share, a row for each controller.',
  '**Lag** is the time from a change, as a watcher saw it, to its status. **Unobserved** changes were missed by the watchers and found by the resync;',
  'a **repaired** object had to be changed although nothing had happened to it. Everything else: docs/operating.md.',
].join('\n');

/** Makes the dashboard. Its body is text, with region and ARNs for AWS to fill in. */
export function dashboardOf(registry: readonly Registered[]): JsonObject {
  const widgets: JsonObject[] = [];
  let y = 0;
  const row = (height: number, ...make: readonly ((area: Area) => JsonObject)[]) => {
    const width = wide / make.length;
    for (const [index, one] of make.entries()) widgets.push(one({ x: index * width, y, width, height }));
    y += height;
  };
  row(3, (area) => ({ type: 'text', ...area, properties: { markdown: introduction } }));
  row(alarmsHeight, alarms('shared by all', sharedAlarms));
  row(rowHeight, ...overview(registry));
  row(rowHeight, ...machinery(registry));
  row(rowHeight, logs(registry, byCluster), logs(registry, whatFails));
  for (const { name } of registry) {
    const id = idOf(name);
    row(
      alarmsHeight,
      alarms(
        name,
        controllerAlarms.map((alarm) => `${id}${alarm}`),
      ),
    );
    row(rowHeight, ...aboutController(name));
  }
  return {
    Type: 'AWS::CloudWatch::Dashboard',
    Properties: {
      // Without the dash at the end.
      DashboardName: namePrefix.slice(0, -1),
      DashboardBody: { 'Fn::Sub': JSON.stringify({ start: '-PT6H', widgets }) },
    },
  };
}

/** The same figure of every controller, side by side. */
function overview(registry: readonly Registered[]) {
  const each = (line: (name: string) => Line) => registry.map(({ name }) => ({ ...line(name), label: name }));
  return [
    metricWidget(
      'lag, p99',
      each((name) => own(name, 'LagMilliseconds', 'p99')),
    ),
    metricWidget(
      'dead letters',
      each((name) => queue(controllerDeadLetters(name), 'ApproximateNumberOfMessagesVisible')),
    ),
    metricWidget('unobserved changes, and clusters with silent watchers', [
      ...each((name) => own(name, 'Unobserved')),
      { ...own(resyncQueue, 'WatchersSilent'), stat: 'Maximum', label: 'watchers silent', right: true },
    ]),
  ];
}

/** Timers, the resync, and what Lambda says of all functions. */
function machinery(registry: readonly Registered[]) {
  const functions = [...registry.map(({ name }) => name), timersQueue, resyncQueue];
  return [
    metricWidget('timers', [
      queue(timersQueue, 'ApproximateNumberOfMessagesVisible'),
      queue(timersQueue, 'ApproximateNumberOfMessagesDelayed'),
      { ...queue(timersQueue, 'NumberOfMessagesDeleted'), stat: 'Sum', label: 'sent on' },
      { ...queue(timersQueue, 'ApproximateAgeOfOldestMessage'), label: 'age of the oldest, s', right: true },
    ]),
    metricWidget('resync', [
      own(resyncQueue, 'ResyncTicks'),
      own(resyncQueue, 'ResyncFailures'),
      own(resyncQueue, 'ResyncGivenUp'),
      { ...own(resyncQueue, 'ResyncObjects'), right: true },
    ]),
    metricWidget(
      'throttles',
      functions.map((name) => ({ ...lambda(name, 'Throttles'), label: name })),
    ),
  ];
}

function aboutController(name: string) {
  return [
    metricWidget(`${name}: lag`, [own(name, 'LagMilliseconds', 'p50'), own(name, 'LagMilliseconds', 'p99')]),
    metricWidget(
      `${name}: reconciles`,
      [
        'ReconcilesDone',
        'ReconcilesNothing',
        'ReconcilesDeferred',
        'ReconcilesFailed',
        'ReconcilesTerminal',
        'ReconcilesRefused',
        'ReconcilesBrokenOff',
        'Unobserved',
        'Repaired',
        'ApplyNoops',
      ].map((metric) => own(name, metric)),
    ),
    metricWidget(`${name}: waiting`, [
      queue(controllerQueue(name), 'ApproximateNumberOfMessagesVisible'),
      { ...queue(controllerDeadLetters(name), 'ApproximateNumberOfMessagesVisible'), label: 'dead letters' },
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

function own(service: string, metric: string, stat = 'Sum'): Line {
  return { metric: [metricsNamespace, metric, 'service', service], stat };
}

function queue(name: string, metric: string): Line {
  return { metric: ['AWS/SQS', metric, 'QueueName', `${namePrefix}${name}`], stat: 'Maximum' };
}

function lambda(name: string, metric: string, stat = 'Sum'): Line {
  return { metric: ['AWS/Lambda', metric, 'FunctionName', `${namePrefix}${name}`], stat };
}

/** By name, as every other line here: `TimersLate` is the alarm timers-late. */
function alarms(title: string, names: readonly string[]): (area: Area) => JsonObject {
  const arns = names.map((name): Json => {
    const words = name.replaceAll(/(?<!^)[A-Z]/g, '-$&').toLowerCase();
    return `arn:\${AWS::Partition}:cloudwatch:\${AWS::Region}:\${AWS::AccountId}:alarm:${namePrefix}${words}`;
  });
  return (area) => ({ type: 'alarm', ...area, properties: { title, alarms: arns } });
}

function logs(registry: readonly Registered[], question: typeof byCluster): (area: Area) => JsonObject {
  const properties = { title: question.title, region, view: 'table', query: askedOf(registry, question) };
  return (area) => ({ type: 'log', ...area, properties });
}
