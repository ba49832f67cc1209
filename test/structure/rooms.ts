// The rooms of the source tree: what each one holds, and what it may import. The structure test holds every import to this table, and
// ARCHITECTURE.md shows it: `node test/structure/rooms.ts` writes it there.
import { readFileSync, writeFileSync } from 'node:fs';
import { replaceBetween } from '../support/replace-between.ts';

/** A folder of src, or a file directly below src. */
type Room = {
  readonly holds: string;
  /** Other rooms whose files may be imported. */
  readonly imports: readonly string[];
};

/** Top floor first. A room imports only rooms further down. */
export const rooms: Readonly<Record<string, Room>> = {
  functions: { holds: 'the Lambda functions, one file each', imports: ['src/controllers', 'src/lambda'] },
  'src/lambda.ts': { holds: 'entry `outrigger/lambda`', imports: ['src/lambda'] },
  'src/watcher.ts': { holds: 'entry `outrigger/watcher`', imports: ['src/watcher'] },
  'src/testing.ts': { holds: 'entry `outrigger/testing`', imports: ['src/testing', 'src/apiserver'] },
  'src/cli': {
    holds: 'the `outrigger` command, one file for each subcommand',
    imports: [
      'src/console',
      'src/dev',
      'src/generate',
      'src/operations',
      'src/waking',
      'src/reconciling',
      'src/resync',
      'src/checkpoint',
      'src/clusters',
      'src/settings.ts',
      'src/sqs',
      'src/kube',
      'src/api',
      'src/core',
    ],
  },
  'src/lambda': {
    holds: 'composition root of the functions',
    imports: [
      'src/reconciling',
      'src/waking',
      'src/resync',
      'src/timers',
      'src/clusters',
      'src/settings.ts',
      'src/tracing',
      'src/sqs',
      'src/api',
      'src/core',
    ],
  },
  'src/watcher': {
    holds: 'composition root of the watcher: HTTP endpoints, metrics, log',
    imports: [
      'src/forwarding',
      'src/checkpoint',
      'src/clusters',
      'src/settings.ts',
      'src/tracing',
      'src/sqs',
      'src/kube',
      'src/core',
      'infra/kubernetes',
    ],
  },
  'src/testing': {
    holds: 'what `outrigger/testing` offers: contexts, an API server, the battery, a whole system',
    imports: [
      'src/dev',
      'src/forwarding',
      'src/reconciling',
      'src/resync',
      'src/waking',
      'src/timers',
      'src/sqs',
      'src/generate',
      'src/apiserver',
      'src/kube',
      'src/api',
      'src/core',
    ],
  },
  'src/console': {
    holds: 'the console in the browser: its server, the source of what it shows, and its page',
    imports: ['src/dev', 'src/operations', 'src/apiserver', 'src/sqs', 'src/kube', 'src/api', 'src/core'],
  },
  'src/dev': {
    holds: 'the whole system on one machine: local Lambda, printer, reload',
    imports: ['src/simulators', 'src/apiserver', 'src/clusters', 'src/generate', 'src/kube', 'src/api', 'src/core'],
  },
  'src/forwarding': {
    holds: 'from watch event to queue: watch loops, predicates, work queue, rate limiter, sender, acknowledgements',
    imports: ['src/checkpoint', 'src/timers', 'src/sqs', 'src/kube', 'src/core'],
  },
  'src/reconciling': {
    holds: 'from message to status: batch, circuit breaker, reconcile, finalizer, status, outcome, dry run',
    imports: ['src/timers', 'src/clusters', 'src/tracing', 'src/sqs', 'src/kube', 'src/api', 'src/core'],
  },
  'src/resync': {
    holds: 'the scheduled list of every kind in every cluster, and which objects it requeues',
    imports: ['src/checkpoint', 'src/timers', 'src/clusters', 'src/sqs', 'src/kube', 'src/api', 'src/core'],
  },
  'src/waking': {
    holds: 'events outside of the clusters to keys on the queues',
    imports: ['src/timers', 'src/sqs', 'src/api', 'src/core'],
  },
  'src/operations': {
    holds: 'redrive, detach, traces: what an operator starts',
    imports: ['src/sqs', 'src/kube', 'src/core'],
  },
  'src/controllers': {
    holds: 'the sample systems and the registry',
    imports: ['src/outrigger.ts', 'src/kubernetes.ts'],
  },
  'src/simulators': {
    holds: 'workloads (kubelet and controllers), plant, pantry, bitcoin nodes',
    imports: ['src/apiserver', 'src/kube', 'src/core'],
  },
  'src/checkpoint': {
    holds: 'the watch checkpoint: document, ConfigMap, watcher status',
    imports: ['src/sqs', 'src/kube', 'src/core'],
  },
  'src/timers': {
    holds: 'messages that are due later: slots, timer messages, the timers function',
    imports: ['src/sqs', 'src/core'],
  },
  'src/clusters': {
    holds: 'how to reach a cluster: registry of clusters, credentials, kubeconfigs',
    imports: ['src/kube', 'src/api', 'src/core'],
  },
  'src/tracing': {
    holds: 'traces, if they are on: spans of keys and requests, their export by OTLP',
    imports: ['src/sqs', 'src/kube', 'src/core'],
  },
  'src/generate': { holds: 'registry to CRDs, RBAC, watch list, AWS resources', imports: ['src/api', 'src/core'] },
  'src/settings.ts': { holds: 'the environment, parsed once', imports: ['src/api', 'src/core'] },
  'src/kubernetes.ts': { holds: 'entry `outrigger/kubernetes`', imports: ['src/api'] },
  'src/outrigger.ts': { holds: 'entry `outrigger`', imports: ['src/api', 'src/core'] },
  'src/kube': {
    holds: 'the Kubernetes API: client, watch, apply, dry run',
    imports: ['src/api', 'src/core'],
  },
  'src/sqs': { holds: 'SQS: messages, records, send, delete, dead letters', imports: ['src/core'] },
  'src/api': { holds: 'what an author writes with', imports: ['src/core'] },
  'src/core': { holds: 'names, keys, errors, time, JSON; imports zod alone', imports: [] },
  'src/apiserver': { holds: 'the in-memory Kubernetes API server, a product of its own', imports: [] },
};

const shortName = (room: string) => room.replace(/^src\//, '');

/** Formats the table as ARCHITECTURE.md shows it. */
function formatRooms(): string {
  const rows = Object.entries(rooms).map(
    ([room, { holds, imports }]) =>
      `| \`${shortName(room)}\` | ${holds} | ${imports.map(shortName).join(' ') || '-'} |`,
  );
  return ['| room | holds | may import |', '| --- | --- | --- |', ...rows].join('\n');
}

/** The document with the table between its markers. */
export const roomsDocument = 'ARCHITECTURE.md';

/** Puts the table into the document's text. */
export function withRooms(text: string): string {
  return replaceBetween(text, formatRooms(), { file: roomsDocument, name: 'rooms' });
}

if (import.meta.main) writeFileSync(roomsDocument, withRooms(readFileSync(roomsDocument, 'utf8')));
