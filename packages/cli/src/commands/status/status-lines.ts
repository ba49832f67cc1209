// Formats the three tables of `outrigger status`. A problem is easy to see: a system without problems shows zeros and
// dashes.
import { redact } from 'outrigger/internal/core/redact';
import { clusterHealth } from '../../console/health.ts';
import type { ControllerTimes } from '../../console/run-times.ts';
import type { Health } from '../../console/wire.ts';
import { alignColumns } from '../../dev/columns.ts';
import { ageText } from '../terminal.ts';
import type { ClusterStatus } from './cluster-status.ts';

/** A cluster of the table: its status, that it is being decommissioned, or the reason why it cannot be read. */
export type NamedCluster = {
  readonly name: string;
  readonly decommissioning?: true;
  /** Nothing of it is reconciled until it is resumed. */
  readonly paused?: true | undefined;
  /** `to STAGE` or `from STAGE`, while a move is under way. */
  readonly moving?: string | undefined;
  readonly problem?: string;
} & Partial<ClusterStatus>;

/** The queue of a controller, timers or resync, with its dead letters. Without counts it could not be read. */
export type NamedQueue = {
  readonly name: string;
  readonly queued?: number;
  readonly inFlight?: number;
  readonly delayed?: number;
  readonly deadLetters?: number;
  readonly problem?: string;
};

/** The health of a function; of a controller's the times of its runs in the last 15 minutes. */
export type NamedFunction = Health & { readonly name: string; readonly times?: ControllerTimes | undefined };

/** Formats the tables. */
export function statusLines(
  clusters: readonly NamedCluster[],
  queues: readonly NamedQueue[],
  functions: readonly NamedFunction[] = [],
): readonly string[] {
  const objects = clusters.flatMap(({ name, controllers = [] }) => controllers.map((one) => ({ name, one })));
  return [
    ...alignColumns([['CLUSTER', 'SERVER', 'WATCHERS'], ...clusters.map(clusterCells)]),
    '',
    ...alignColumns([
      ['QUEUE', 'QUEUED', 'IN FLIGHT', 'DELAYED', 'DEAD LETTERS', 'FUNCTION'],
      ...queues.map(({ name, queued, inFlight, delayed, deadLetters }) => [
        name,
        ...[queued, inFlight, delayed, deadLetters].map((count) => String(count ?? '?')),
        functions.find((one) => one.name === name)?.state ?? '-',
      ]),
      // The wake function has no queue.
      ...functions.flatMap(({ name, state }) =>
        queues.some((one) => one.name === name) ? [] : [[name, '-', '-', '-', '-', state]],
      ),
    ]),
    '',
    ...alignColumns([
      ['CLUSTER', 'CONTROLLER', 'OBJECTS', 'READY', 'FAILING', 'STALLED', 'PAUSED', 'UNOBSERVED', 'OLDEST'],
      ...objects.map(
        ({ name, one: { controller, objects, more, ready, failing, stalled, paused, unobserved, oldestSeconds } }) => [
          name,
          controller,
          `${objects}${more ? '+' : ''}`,
          ...[ready, failing, stalled, paused, unobserved].map((count) => String(count ?? '-')),
          oldestSeconds === undefined ? '-' : ageText(oldestSeconds),
        ],
      ),
    ]),
  ];
}

/**
 * Names the controllers with a change that is overdue. The cause may be in no status: a cluster that refuses the
 * function, or throttles it.
 */
export function overdueLines(
  { name, paused, controllers = [] }: NamedCluster,
  pausedControllers: readonly string[],
  at = '',
): readonly string[] {
  return controllers.flatMap(({ controller, unobserved, oldestSeconds, overdue }) => {
    if (paused === true || pausedControllers.includes(controller) || overdue !== true) return [];
    const changes = unobserved === 1 ? '1 change is' : `${unobserved} changes are`;
    const oldest = `the oldest for ${ageText(oldestSeconds ?? 0)}; outrigger logs${at} has the errors of an object`;
    return [`${name}: ${controller}: ${changes} not reconciled, ${oldest}`];
  });
}

function clusterCells(cluster: NamedCluster): readonly string[] {
  const { name, moving, paused, problem, version = '-' } = cluster;
  const { state, text = '' } = clusterHealth(cluster);
  const mark = moving !== undefined ? `MOVING ${moving}, ` : paused === true ? 'PAUSED, ' : '';
  const shown =
    state === 'down' ? 'DOWN' : ['working', 'paused', 'reconnecting', 'silent'].includes(state) ? text : state;
  // The version is the server's own text.
  return [name, problem === undefined ? redact(version) : '-', `${mark}${shown}`];
}
