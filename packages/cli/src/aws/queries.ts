// Saved CloudWatch Logs Insights queries for the functions' logs, under the deployment's name. They show figures by key
// and cluster, which are no dimensions of the metrics.
import type { ControllerDefinition } from 'outrigger/internal/api/definition';
import type { Json, JsonObject } from 'outrigger/internal/core/json';
import { logicalId, resyncQueue, timersQueue } from 'outrigger/internal/core/names';
import { namePrefix, ref } from './names.ts';
import { wakers } from './wakes.ts';

/** The quota "log groups per query" of CloudWatch Logs Insights. */
const maxLogGroups = 50;

/** A saved query. Its lines are joined by pipes. */
type LogQuery = { readonly id: string; readonly title: string; readonly lines: readonly string[] };

const queries: readonly LogQuery[] = [
  {
    id: 'OneKey',
    title: 'history of one key',
    lines: [
      'fields @timestamp, service, message, cause, causedBy, attempt, postponements, outcome, reason, error, writes, ' +
        'latencyMs, durationMs, nextCause, dueAt, deadLetterReason, messageId',
      '# Replace cluster, namespace and name.',
      'filter cluster = "CLUSTER" and namespace = "NAMESPACE" and name = "NAME"',
      'sort @timestamp asc',
      'limit 1000',
    ],
  },
  {
    id: 'ByCause',
    title: 'reconciles, by cause',
    lines: [
      'filter ispresent(outcome)',
      'stats count(*) as reconciles, sum(writes) as written, sum(durationMs) / 1000 as seconds ' +
        'by service, cause, outcome',
      'sort reconciles desc',
      'limit 200',
    ],
  },
  {
    id: 'ByCluster',
    title: 'latency and outcomes, by cluster',
    lines: [
      'filter ispresent(outcome) and cause in ["change", "retry"]',
      'stats count(*) as reconciles, pct(latencyMs, 50) as latency50, pct(latencyMs, 99) as latency99 ' +
        'by cluster, service, outcome',
      'sort reconciles desc',
      'limit 200',
    ],
  },
  {
    id: 'WhatFails',
    title: 'errors by cluster and controller',
    lines: [
      'filter outcome in ["failed", "terminal", "refused", "postponed"]',
      'stats count(*) as times, max(@timestamp) as last by cluster, service, outcome, error',
      'sort times desc',
      'limit 100',
    ],
  },
  {
    id: 'DeadLetters',
    title: 'dead letters',
    lines: [
      'filter ispresent(deadLetterReason) or message = "message refused"',
      'fields @timestamp, service, cluster, key, attempt, deadLetterReason, reason, error, messageId',
      'sort @timestamp desc',
      'limit 200',
    ],
  },
  {
    id: 'Slowest',
    title: 'slowest reconciles',
    lines: [
      'filter ispresent(durationMs)',
      'fields @timestamp, service, cluster, key, durationMs, latencyMs, writes, outcome',
      'sort durationMs desc',
      'limit 50',
    ],
  },
  {
    id: 'UnreachableClusters',
    title: 'unreachable clusters',
    lines: [
      'filter reason = "unreachable" or message = "list failed"',
      'stats count(*) as times, max(@timestamp) as last by cluster, error',
      'sort last desc',
      'limit 100',
    ],
  },
  {
    id: 'Watchers',
    title: 'watchers that are down',
    lines: [
      'filter message in ["watcher down", "watcher status unknown"]',
      'fields @timestamp, cluster, reason, error',
      'sort @timestamp desc',
      'limit 100',
    ],
  },
  {
    id: 'Resync',
    title: 'resync results',
    lines: [
      'filter message = "kind listed"',
      'stats sum(objects) as listed, sum(unobserved) as missed, sum(sent) as enqueued, max(@timestamp) as last ' +
        'by cluster, controller',
      'sort missed desc',
      'limit 200',
    ],
  },
  {
    id: 'Invocations',
    title: 'time and memory of the functions',
    lines: [
      'filter @type = "REPORT"',
      'stats count(*) as invocations, sum(@billedDuration) / 1000 as seconds, pct(@duration, 99) as duration99, ' +
        'max(@maxMemoryUsed) / 1000000 as megabytes by @log',
      'sort seconds desc',
    ],
  },
];

/** Makes the saved queries, by id. */
export function queriesOf(registry: readonly ControllerDefinition[]): JsonObject {
  const groups = functionsOf(registry).map((name): Json => ref(`${logicalId(name)}LogGroup`));
  return Object.fromEntries(
    queries.map(({ id, title, lines }) => [
      `${id}Query`,
      {
        Type: 'AWS::Logs::QueryDefinition',
        Properties: { Name: `${namePrefix.slice(0, -1)}/${title}`, LogGroupNames: groups, QueryString: join(lines) },
      },
    ]),
  );
}

function functionsOf(registry: readonly ControllerDefinition[]): readonly string[] {
  return [...registry.map(({ name }) => name), timersQueue, resyncQueue, ...wakers(registry)].slice(0, maxLogGroups);
}

/** Joins lines by pipes. A comment has its own line, without a pipe. */
function join(lines: readonly string[]): string {
  return lines.map((line, index) => (index === 0 || line.startsWith('#') ? line : `| ${line}`)).join('\n');
}
