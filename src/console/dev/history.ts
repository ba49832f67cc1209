// What has happened to each object of the local system, and how fast reconciles are: kept in memory from the log lines
// of the functions and the changes of the objects. Bounded: the newest entries of each object, and of each controller.
import * as z from 'zod';
import type { ControllerDefinition } from '../../api/definition.ts';
import { parseJson } from '../../core/json.ts';
import { formatLog, formatObjectChange } from '../../dev/lines.ts';
import type { CachedChange } from '../../dev/object-cache.ts';
import type { ObjectEntry, Series, TimelineEntry } from '../wire.ts';
import { fieldChanges } from './field-changes.ts';

/** The entries that are kept of an object, and of all objects. */
const maxEntries = 100;
const maxRecent = 60;
/** Windows of rates and of latencies. */
const rateMilliseconds = 10_000;
const latencyMilliseconds = 60_000;
const maxRuns = 5_000;
/** The times of a series: every two seconds of the last five minutes. */
const seriesStepMilliseconds = 2_000;
const seriesMilliseconds = 300_000;

/** The latencies of a window; absent if it has none. */
type Latencies = { readonly p50Ms?: number; readonly p99Ms?: number };
/** The rates and latencies of a controller. */
export type Rates = Latencies & { readonly reconcilesPerSecond: number; readonly failuresPerSecond: number };

/** The history of the system. */
export type History = {
  /** Adds a line of a function's log; a line that is about no object is ignored. */
  addLogLine(text: string, source: string): void;
  addChange(id: string, change: CachedChange): void;
  /** Newest first. */
  timeline(id: string): readonly TimelineEntry[];
  /** The latest entries of all objects, oldest first. */
  recent(): readonly ObjectEntry[];
  dueAt(id: string): number | undefined;
  rates(controller: string): Rates;
  latencies(): Latencies;
  changesPerSecond(): number;
  series(): Series;
};

const reconciled = z.looseObject({
  message: z.literal('reconciled'),
  key: z.string(),
  cause: z.string(),
  outcome: z.string(),
  dueAt: z.number().optional(),
  latencyMs: z.number().optional(),
  durationMs: z.number().optional(),
});

type Run = { readonly at: number; readonly failed: boolean; readonly latencyMs?: number | undefined };

/** Creates an empty history. `onEntry` receives each new entry. */
export function createHistory(
  controllers: readonly ControllerDefinition[],
  { now = Date.now, onEntry }: { readonly now?: () => number; readonly onEntry: (entry: ObjectEntry) => void },
): History {
  const entries = new Map<string, TimelineEntry[]>();
  const due = new Map<string, number>();
  const runs = new Map<string, Run[]>();
  const recent: ObjectEntry[] = [];
  const changes: number[] = [];
  const add = (id: string, entry: TimelineEntry): void => {
    addTo(listOf(entries, id), entry, maxEntries);
    addTo(recent, { id, ...entry }, maxRecent);
    onEntry({ id, ...entry });
  };
  const since = <T>(all: readonly T[], at: (one: T) => number, window: number): readonly T[] => {
    const first = now() - window;
    return all.filter((one) => at(one) >= first);
  };
  const allRuns = (): readonly Run[] => [...runs.values()].flat();
  const latenciesOf = (all: readonly Run[]): Latencies => quantiles(since(all, ({ at }) => at, latencyMilliseconds));
  return {
    addLogLine: (text, source) => {
      if (!text.includes('"reconciled"')) return;
      const run = reconciled.safeParse(parseJson(text)).data;
      const found = run === undefined ? undefined : splitKey(run.key);
      if (run === undefined || found === undefined) return;
      const at = now();
      const failed = !['done', 'nothing', 'postponed'].includes(run.outcome);
      const [line] = formatLog(text, { source, kind: undefined, nowSeconds: at / 1000 });
      const { cause, durationMs, latencyMs } = run;
      add(found.id, {
        ...{ at, type: 'reconcile', controller: found.controller, cause, text: line?.text ?? run.outcome },
        ...(failed ? { failed: true } : {}),
        ...(durationMs === undefined ? {} : { durationMs }),
        ...(latencyMs === undefined ? {} : { latencyMs }),
      });
      if (run.dueAt === undefined) due.delete(found.id);
      else due.set(found.id, run.dueAt * 1000);
      addTo(listOf(runs, found.controller), { at, failed, latencyMs }, maxRuns);
    },
    addChange: (id, change) => {
      const at = now();
      addTo(changes, at, maxRuns);
      const { before, after } = change;
      const lines = formatObjectChange(change, controllers);
      const fields = before === undefined || after === undefined ? [] : fieldChanges(before, after);
      for (const [index, { source, text }] of lines.entries())
        add(id, {
          ...{ at, type: source === 'status' ? 'status' : 'change', text },
          ...(index === 0 && fields.length > 0 ? { changes: fields } : {}),
        });
      if (after === undefined) {
        entries.delete(id);
        due.delete(id);
      }
    },
    timeline: (id) => (entries.get(id) ?? []).toReversed(),
    recent: () => [...recent],
    dueAt: (id) => due.get(id),
    rates: (controller) => {
      const own = runs.get(controller) ?? [];
      const counted = since(own, ({ at }) => at, rateMilliseconds);
      return {
        reconcilesPerSecond: (counted.length * 1000) / rateMilliseconds,
        failuresPerSecond: (counted.filter(({ failed }) => failed).length * 1000) / rateMilliseconds,
        ...latenciesOf(own),
      };
    },
    latencies: () => latenciesOf(allRuns()),
    changesPerSecond: () => (since(changes, (at) => at, rateMilliseconds).length * 1000) / rateMilliseconds,
    series: () => seriesOf(allRuns(), now()),
  };
}

/** Returns the list of a key, which is empty at first. */
function listOf<T>(lists: Map<string, T[]>, key: string): T[] {
  const list = lists.get(key) ?? [];
  lists.set(key, list);
  return list;
}

/** Adds an entry; the oldest one goes when there are too many. */
function addTo<T>(list: T[], entry: T, max: number): void {
  list.push(entry);
  if (list.length > max) list.shift();
}

function quantiles(runs: readonly Run[]): Latencies {
  const sorted = runs.flatMap(({ latencyMs }) => (latencyMs === undefined ? [] : [latencyMs])).sort((a, b) => a - b);
  const quantile = (q: number) => sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))];
  const [p50Ms, p99Ms] = [quantile(0.5), quantile(0.99)];
  return p50Ms === undefined || p99Ms === undefined ? {} : { p50Ms, p99Ms };
}

/** Rates over the same windows as in the flow, so that the page can go on with the flow's. */
function seriesOf(runs: readonly Run[], now: number): Series {
  const first = Math.min(...runs.map(({ at }) => at), now);
  const steps = Math.floor(Math.min(now - first, seriesMilliseconds) / seriesStepMilliseconds);
  const points = Array.from({ length: steps }, (_, index) => {
    const end = now - (steps - index) * seriesStepMilliseconds;
    const within = (window: number) => runs.filter(({ at }) => at > end - window && at <= end);
    const counted = within(rateMilliseconds);
    return { end, counted, latencies: quantiles(within(latencyMilliseconds)) };
  });
  const rate = (count: number) => (count * 1000) / rateMilliseconds;
  return {
    at: points.map(({ end }) => end / 1000),
    reconciles: points.map(({ counted }) => rate(counted.length)),
    failures: points.map(({ counted }) => rate(counted.filter(({ failed }) => failed).length)),
    p50: points.map(({ latencies }) => latencies.p50Ms ?? null),
    p99: points.map(({ latencies }) => latencies.p99Ms ?? null),
  };
}

/** Splits `controller:cluster:plural.group/namespace/name`. */
function splitKey(key: string): { readonly controller: string; readonly id: string } | undefined {
  const [controller, cluster, ...id] = key.split(':');
  return controller === undefined || cluster === undefined || id.length === 0
    ? undefined
    : { controller, id: id.join(':') };
}
