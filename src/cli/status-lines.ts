// What `outrigger status` has read, as three tables. Whatever is not as it should be stands out by being there: a quiet system is
// zeros and dashes.
import { redact } from '../core/redact.ts';
import { alignColumns } from '../dev/columns.ts';
import type { ClusterStanding } from './status/cluster-status.ts';

/** A cluster of the table: how it stands, that it is leaving, or why nobody can tell. */
export type NamedCluster = {
  readonly name: string;
  readonly leaving?: true;
  readonly problem?: string;
} & Partial<ClusterStanding>;

/** A controller's queue, or that of timers or resync, with its dead letters; without counts where it could not be asked. */
export type NamedQueue = {
  readonly name: string;
  readonly queued?: number;
  readonly inHand?: number;
  readonly delayed?: number;
  readonly deadLetters?: number;
  readonly problem?: string;
};

/** Writes the tables. */
export function statusLines(clusters: readonly NamedCluster[], queues: readonly NamedQueue[]): readonly string[] {
  const objects = clusters.flatMap(({ name, controllers = [] }) => controllers.map((one) => ({ name, one })));
  return [
    alignColumns([['CLUSTER', 'SERVER', 'WATCHERS'], ...clusters.map(clusterCells)]),
    '',
    alignColumns([
      ['QUEUE', 'QUEUED', 'IN HAND', 'DELAYED', 'DEAD LETTERS'],
      ...queues.map(({ name, queued, inHand, delayed, deadLetters }) => [
        name,
        ...[queued, inHand, delayed, deadLetters].map((count) => String(count ?? '?')),
      ]),
    ]),
    '',
    alignColumns([
      ['CLUSTER', 'CONTROLLER', 'OBJECTS', 'READY', 'STALLED', 'PAUSED', 'UNOBSERVED', 'LAG'],
      ...objects.map(({ name, one: { controller, objects, more, ready, stalled, paused, unobserved, lagSeconds } }) => [
        name,
        controller,
        `${objects}${more ? '+' : ''}`,
        ...[ready, stalled, paused, unobserved].map(String),
        lagSeconds === undefined ? '-' : `${lagSeconds} s`,
      ]),
    ]),
  ];
}

function clusterCells({
  name,
  leaving,
  problem,
  version = '-',
  heardSeconds,
  silent,
}: NamedCluster): readonly string[] {
  if (leaving === true) return [name, '-', 'leaving'];
  if (problem !== undefined) return [name, '-', 'cannot be asked'];
  // The version is the server's own text, and the reason may quote the cursor.
  if (silent !== undefined) return [name, redact(version), `SILENT: ${redact(silent)}`];
  return [name, redact(version), `heard ${heardSeconds ?? '?'} s ago`];
}
