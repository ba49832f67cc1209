// The verdict of `outrigger status`: what is wrong, what is not known, and one line about both. Pure.
import { few } from 'outrigger/internal/core/few';
import { sharedQueues } from 'outrigger/internal/core/names';
import { clusterHealth, functionText, queueHealth } from '../../console/health.ts';
import { asideText, missedText } from '../../console/problems.ts';
import { averageMs, type ControllerTimes } from '../../console/run-times.ts';
import type { ResyncRun, Tone } from '../../console/wire.ts';
import { ageText } from '../terminal.ts';
import { formatFailure, formatPolicyDenied } from './cluster-status.ts';
import { type NamedCluster, type NamedFunction, type NamedQueue, overdueLines } from './status-lines.ts';

/** What was read. `paused` are controllers; undefined if that is not known. `others` are problems of the project. */
export type Read = {
  readonly clusters: readonly NamedCluster[];
  readonly queues: readonly NamedQueue[];
  readonly functions: readonly NamedFunction[];
  readonly paused: readonly string[] | undefined;
  readonly others: readonly string[];
  /** The last run; undefined if none was read. */
  readonly resync: ResyncRun | undefined;
  /** Why the logs of the functions do not show each run. */
  readonly hidden?: string | undefined;
};

/**
 * The lines of what is wrong and of what is not known, the first line, what waits and what was missed, and the slowest
 * controller with the parts of its time, if one has run.
 */
export type Verdict = {
  readonly problems: readonly string[];
  readonly unknown: readonly string[];
  readonly line: string;
  readonly lag: string;
  readonly slowest?: { readonly controller: string } & ControllerTimes;
};

/** Judges a system. `at`: the options of a printed command. */
export function judge({ clusters, queues, functions, paused, others, resync }: Read, at = ''): Verdict {
  const objects = clusters.flatMap(({ controllers = [] }) => controllers);
  // A function whose failing objects are named is no other problem.
  const failing = new Set(objects.filter((one) => one.failing > 0).map(({ controller }) => controller));
  const parts = [
    ...clusters.map((one) => ({ name: one.name, ...clusterHealth(one) })),
    ...queues.map(({ name, problem }) => ({ name, ...queueHealth(problem) })),
    ...functions.map((one) => ({ ...one, text: functionText(one) })),
  ].filter(({ name, state }) => state !== 'failing' || !failing.has(name));
  // Parts that say the same have one cause, such as an API server that no function can reach.
  const linesOf = (tone: Tone) => {
    const causes = Map.groupBy(
      parts.filter((one) => one.tone === tone),
      ({ text, state }) => text ?? state,
    );
    return [...causes].map(([cause, all]) => `${few(all.map(({ name }) => name))}: ${cause}`);
  };
  const overdue = clusters.flatMap((one) => overdueLines(one, paused ?? [], at));
  const problems = [...others, ...linesOf('bad'), ...clusters.flatMap(problemsOf), ...overdue];
  const unknown = linesOf('unknown');
  const dead = sum(queues.map(({ deadLetters = 0 }) => deadLetters));
  const aside = asideText(clusters.map(clusterHealth), functions);
  const counts = [
    ...some(problems.length, 'problem'),
    ...(unknown.length === 0 ? [] : [`${unknown.length} not known`]),
    ...(aside === undefined ? [] : [aside]),
    ...some(dead, 'dead letter'),
  ];
  const ready = `${sum(objects.map((one) => one.ready ?? 0))} of ${sum(objects.map((one) => one.objects))}`;
  const line = counts.length === 0 ? `All is well: ${ready} objects are Ready` : counts.join(', ');
  return { problems, unknown, line, lag: lagOf({ clusters, queues, resync }), ...slowestOf(functions) };
}

function slowestOf(functions: readonly NamedFunction[]): Pick<Verdict, 'slowest'> {
  const timed = functions.flatMap(({ name, times }) => (times === undefined ? [] : { controller: name, ...times }));
  const [slowest] = timed.toSorted((a, b) => averageMs(b) - averageMs(a));
  return slowest === undefined ? {} : { slowest };
}

/** Says how many keys wait, since when a change does, and what the resync found that no event had brought. */
function lagOf({ clusters, queues, resync }: Pick<Read, 'clusters' | 'queues' | 'resync'>): string {
  const seconds = clusters.flatMap(({ controllers = [] }) => controllers.map(({ oldestSeconds = 0 }) => oldestSeconds));
  // The messages of the shared queues are no keys that wait for a controller.
  const own = queues.filter(({ name }) => !sharedQueues.some((one) => one.name === name));
  const keys = own.map(({ queued }) => queued);
  const behind = keys.includes(undefined) ? 'not known' : (some(sum(keys.map((one = 0) => one)), 'key')[0] ?? '0 keys');
  const longest = Math.max(0, ...seconds);
  const oldest = longest === 0 ? '' : `, the oldest change for ${ageText(longest)}`;
  const unread = clusters.filter(({ controllers, decommissioning }) => controllers === undefined && !decommissioning);
  const unknown = unread.length === 0 ? '' : `, changes not known for ${some(unread.length, 'cluster')[0]}`;
  const missed = resync === undefined ? 'not known: no resync was read' : missedText(resync, `of ${resync.run}`);
  return `behind: ${behind}${oldest}${unknown}; missed: ${missed}`;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

function some(number: number, what: string): readonly string[] {
  return number === 0 ? [] : [`${number} ${what}${number === 1 ? '' : 's'}`];
}

/** The problems of the objects of a cluster. */
function problemsOf({ name, controllers = [] }: NamedCluster): readonly string[] {
  return controllers.flatMap(({ controller, failing, lastFailure, policyDenied, problem }) => {
    const denied = policyDenied && formatPolicyDenied(policyDenied);
    const lines = [
      lastFailure && formatFailure(failing, lastFailure),
      denied && `${denied.what}; ${denied.fix}`,
      problem,
    ];
    return lines.flatMap((line) => (line === undefined ? [] : [`${name}: ${controller}: ${line}`]));
  });
}
