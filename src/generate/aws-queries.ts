// Questions to the functions' logs that are asked again and again, saved in CloudWatch under the deployment's name: what a
// metric does not tell, because a key or a cluster is no dimension. The dashboard asks some of them, too.
import type { Registered } from '../core/controller.ts';
import { resyncQueue, timersQueue } from '../core/names.ts';
import { idOf, namePrefix, ref } from './aws/names.ts';
import type { Json, JsonObject } from './json.ts';

/** CloudWatch Logs Insights asks no more log groups at once (quota "log groups per query"). */
const maxLogGroups = 50;

/** A saved question: its lines are joined by pipes. */
type Question = { readonly id: string; readonly title: string; readonly lines: readonly string[] };

/** How long changes took and what became of their reconciles, for each cluster. */
export const byCluster: Question = {
  id: 'ByCluster',
  title: 'lag and outcomes, by cluster',
  lines: [
    'filter ispresent(outcome) and lane in ["watch", "retry"]',
    'stats count(*) as reconciles, pct(lagMs, 50) as lag50, pct(lagMs, 99) as lag99 by cluster, service, outcome',
    'sort reconciles desc',
    'limit 200',
  ],
};

/** What goes wrong, most often first. */
export const whatFails: Question = {
  id: 'WhatFails',
  title: 'what fails, and why',
  lines: [
    'filter outcome in ["failed", "terminal", "refused", "deferred"]',
    'stats count(*) as times, max(@timestamp) as last by cluster, service, outcome, error',
    'sort times desc',
    'limit 100',
  ],
};

const questions: readonly Question[] = [
  {
    id: 'OneKey',
    title: 'the life of one key',
    lines: [
      'fields @timestamp, service, message, lane, attempt, deferrals, outcome, why, error, writes, lagMs, tookMs, nextLane, dueAt, givenUp, messageId',
      '# Whose life it is: put your own cluster, namespace and name here.',
      'filter cluster = "CLUSTER" and namespace = "NAMESPACE" and name = "NAME"',
      'sort @timestamp asc',
      'limit 1000',
    ],
  },
  byCluster,
  whatFails,
  {
    id: 'GivenUp',
    title: 'what was given up',
    lines: [
      'filter ispresent(givenUp) or message = "message refused"',
      'fields @timestamp, service, cluster, key, attempt, givenUp, reason, error, messageId',
      'sort @timestamp desc',
      'limit 200',
    ],
  },
  {
    id: 'Slowest',
    title: 'the slowest reconciles',
    lines: [
      'filter ispresent(tookMs)',
      'fields @timestamp, service, cluster, key, tookMs, lagMs, writes, outcome',
      'sort tookMs desc',
      'limit 50',
    ],
  },
  {
    id: 'AwayClusters',
    title: 'clusters that cannot be reached',
    lines: [
      'filter why = "unreachable" or message = "poll broke off"',
      'stats count(*) as times, max(@timestamp) as last by cluster, error',
      'sort last desc',
      'limit 100',
    ],
  },
  {
    id: 'Watchers',
    title: 'silent watchers',
    lines: [
      'filter message in ["the watchers are silent", "nobody can tell whether the watchers are silent"]',
      'fields @timestamp, cluster, why, error',
      'sort @timestamp desc',
      'limit 100',
    ],
  },
  {
    id: 'Polls',
    title: 'what the resync found',
    lines: [
      'filter message = "polled"',
      'stats sum(objects) as looked, sum(unobserved) as missed, sum(sent) as sentOn, max(@timestamp) as last by cluster, controller',
      'sort missed desc',
      'limit 200',
    ],
  },
  {
    id: 'Invocations',
    title: 'time and memory of the functions',
    lines: [
      'filter @type = "REPORT"',
      'stats count(*) as invocations, sum(@billedDuration) / 1000 as seconds, pct(@duration, 99) as duration99, max(@maxMemoryUsed) / 1000000 as megabytes by @log',
      'sort seconds desc',
    ],
  },
];

/** Makes the saved questions, by id. */
export function queriesOf(registry: readonly Registered[]): JsonObject {
  const groups = functionsOf(registry).map((name): Json => ref(`${idOf(name)}LogGroup`));
  return Object.fromEntries(
    questions.map(({ id, title, lines }) => [
      `${id}Query`,
      {
        Type: 'AWS::Logs::QueryDefinition',
        Properties: { Name: `${namePrefix.slice(0, -1)}/${title}`, LogGroupNames: groups, QueryString: join(lines) },
      },
    ]),
  );
}

/** A question as the dashboard asks it: it names the log groups itself. */
export function askedOf(registry: readonly Registered[], { lines }: Question): string {
  const sources = functionsOf(registry).map((name) => `SOURCE '/aws/lambda/${namePrefix}${name}'`);
  return `${sources.join(' | ')} | ${join(lines)}`;
}

function functionsOf(registry: readonly Registered[]): readonly string[] {
  return [...registry.map(({ name }) => name), timersQueue, resyncQueue].slice(0, maxLogGroups);
}

/** A comment stands on a line of its own, without a pipe. */
function join(lines: readonly string[]): string {
  return lines.map((line, index) => (index === 0 || line.startsWith('#') ? line : `| ${line}`)).join('\n');
}
