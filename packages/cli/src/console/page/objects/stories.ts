// The timeline of an object in the order of cause and effect: each run with the changes before it and the statuses that
// it wrote, and the bars of its waterfall. Pure.
import type { TimelineEntry } from '../../wire.ts';

/** A run, with its causes and its results; without a run, an event that belongs to none. Oldest first. */
export type Story = {
  readonly at: number;
  readonly run?: TimelineEntry;
  readonly causes: readonly TimelineEntry[];
  readonly results: readonly TimelineEntry[];
};

type Told = Story & {
  readonly run: TimelineEntry;
  readonly causes: TimelineEntry[];
  readonly results: TimelineEntry[];
};

/** A bar of a waterfall, in milliseconds since its beginning. */
export type Bar = {
  readonly type: 'wait' | 'run' | 'read' | 'write';
  readonly name: string;
  readonly startMs: number;
  readonly durationMs: number;
  /** The status of a request; undefined without a response. */
  readonly status?: number | undefined;
};

/** The console sees a change this much later than the watcher at most, and a status that much later than its run. */
const seenLateMs = 100;
const writtenLateMs = 300;

const startOf = ({ at, durationMs = 0, trace }: TimelineEntry) => trace?.startedAt ?? at - durationMs;

/** Groups a timeline, newest first. Runs in a row that wrote nothing are one group. */
export function storiesOf(timeline: readonly TimelineEntry[]): readonly (readonly Story[])[] {
  const entries = timeline.toReversed();
  const runs = entries.filter(({ type }) => type === 'reconcile').sort((a, b) => startOf(a) - startOf(b));
  const stories = runs.map((run): Told => ({ at: run.at, run, causes: [], results: [] }));
  const alone: Story[] = [];
  for (const entry of entries) {
    const { at, type } = entry;
    if (type === 'reconcile') continue;
    const isCause = type === 'change' && !isOwn(entry, runs);
    const story =
      type === 'action'
        ? undefined
        : isCause
          ? stories.find(({ run }) => startOf(run) >= at - seenLateMs)
          : stories.findLast(({ run }) => startOf(run) <= at && at <= run.at + writtenLateMs);
    if (story === undefined) alone.push({ at, causes: isCause ? [entry] : [], results: isCause ? [] : [entry] });
    else story[isCause ? 'causes' : 'results'].push(entry);
  }
  const groups: Story[][] = [];
  for (const story of [...stories, ...alone].sort((a, b) => b.at - a.at)) {
    const last = groups.at(-1);
    if (isQuiet(story) && last?.every(isQuiet) === true) last.push(story);
    else groups.push([story]);
  }
  return groups;
}

/** Whether the controllers of these runs alone have written a change: it is the result of a run. */
function isOwn({ writers = [] }: TimelineEntry, runs: readonly TimelineEntry[]): boolean {
  const isTheirs = (manager: string) => runs.some(({ controller }) => manager.endsWith(`-${controller}`));
  return writers.length > 0 && writers.every(({ manager }) => isTheirs(manager));
}

/** Whether a run wrote nothing, and nothing is to be said about it. */
export function isQuiet({ run, causes, results }: Story): boolean {
  if (run === undefined || run.failed === true || run.postponed === true) return false;
  return (run.writes ?? 0) === 0 && causes.length + results.length === 0;
}

/** The bars of a run: what waited before it, the run, and each request, as far as they are known. */
export function barsOf(run: TimelineEntry): readonly Bar[] {
  const { durationMs = 0, latencyMs = 0, trace, controller = '', cause } = run;
  const started = startOf(run);
  const { forwardedAt, queuedAt, requests = [] } = trace ?? {};
  const waits: readonly (readonly [string, number, number])[] =
    forwardedAt !== undefined && queuedAt !== undefined
      ? [
          ['Watcher', forwardedAt, queuedAt],
          ['Queue', queuedAt, started],
        ]
      : latencyMs > durationMs
        ? [
            [
              cause === 'retry' ? 'Earlier attempts and waits' : 'Watcher and queue',
              started - (latencyMs - durationMs),
              started,
            ],
          ]
        : [];
  const from = waits[0]?.[1] ?? started;
  const runMs = Math.max(durationMs, ...requests.map((one) => one.startMs + one.durationMs));
  return [
    ...waits.map(([name, start, end]): Bar => {
      return { type: 'wait', name, startMs: start - from, durationMs: Math.max(0, end - start) };
    }),
    { type: 'run', name: controller, startMs: started - from, durationMs: runMs },
    ...requests.map(
      ({ method, target, status, startMs, durationMs: took }): Bar => ({
        type: method === 'GET' ? 'read' : 'write',
        name: `${method} ${target}`,
        startMs: started - from + startMs,
        durationMs: took,
        status,
      }),
    ),
  ];
}
