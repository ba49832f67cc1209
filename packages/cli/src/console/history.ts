// What has happened to each object of the local system, and how fast reconciles are: kept in memory from the log lines
// of the functions and the changes of the objects. Bounded: the newest entries of each object, and of each controller.

import type { ControllerDefinition } from 'outrigger/internal/api/definition';
import { parseJson } from 'outrigger/internal/core/json';
import { redact } from 'outrigger/internal/core/redact';
import * as z from 'zod';
import { formatLog, formatObjectChange } from '../dev/lines.ts';
import type { CachedChange } from '../dev/object-cache.ts';
import { fieldChanges, writersOf } from './field-changes.ts';
import { FunctionTroubles, readCrash } from './health.ts';
import { type Latencies, latenciesOf } from './run-times.ts';
import type { FieldChange, ObjectEntry, PastEntry, Series, TimelineEntry, Tone } from './wire.ts';

/** The entries that are kept of an object, and of all objects. */
const maxEntries = 100;
const maxRecent = 60;
/** Objects that are not there, whose entries are kept: deleted ones, and new ones before their first event. */
const maxAbsent = 200;
/** Windows of rates and of latencies. */
const rateMilliseconds = 10_000;
const latencyMilliseconds = 60_000;
const maxRuns = 5_000;
/** The times of a series: every two seconds of the last five minutes. */
const seriesStepMilliseconds = 2_000;
const seriesMilliseconds = 300_000;

/** The rates and latencies of a controller. */
export type Rates = Latencies & { readonly reconcilesPerSecond: number; readonly failuresPerSecond: number };

/** A requeue or a retry that is due later, in milliseconds since 1970. */
export type FollowUp = {
  readonly id: string;
  readonly controller: string;
  readonly cause: string;
  readonly dueAt: number;
};

/** The history of the system. */
export type History = {
  /** What the log says of the functions. */
  readonly troubles: FunctionTroubles;
  /** Adds a line of a function's log, of now or of `at`; a line that is about no object is ignored. */
  addLogLine(text: string, source: string, at?: number): void;
  /** Adds a change of an object, whose health it has now. */
  addChange(id: string, change: CachedChange, tone?: Tone): void;
  /** Forgets an object. */
  forget(id: string): void;
  /** Newest first. */
  timeline(id: string): readonly TimelineEntry[];
  /** The latest entries of all objects, oldest first. */
  recent(): readonly ObjectEntry[];
  /** The next one of its controllers. One that is late, as of a paused controller, is it only if there is no other. */
  dueAt(id: string): number | undefined;
  /** The follow-ups that the log has announced and that are not due yet, the next one first. */
  followUps(): readonly FollowUp[];
  rates(controller: string): Rates;
  latencies(): Latencies;
  changesPerSecond(): number;
  series(): Series;
};

const reconciled = z.object({
  message: z.literal('reconciled'),
  key: z.string(),
  cause: z.string(),
  outcome: z.string(),
  error: z.string().optional().catch(undefined),
  dueAt: z.number().optional(),
  nextCause: z.string().optional(),
  latencyMs: z.number().optional(),
  durationMs: z.number().optional(),
  requests: z.number().optional(),
  requestMs: z.number().optional(),
  writes: z.number().optional(),
  traceId: z.string().optional(),
  xray_trace_id: z.string().optional().catch(undefined),
  deadLetterReason: z.string().optional().catch(undefined),
  messageId: z.string().optional(),
  attempt: z.number().optional(),
});

type Run = { readonly at: number; readonly failed: boolean; readonly latencyMs?: number | undefined };

/** `onEntry` receives each new entry. Rates are those of before `logDelayMilliseconds`, when the log is complete. */
export type HistoryOptions = {
  readonly now?: () => number;
  readonly logDelayMilliseconds?: number;
  readonly onEntry: (entry: ObjectEntry) => void;
};

/** Creates an empty history. */
export function createHistory(
  controllers: readonly ControllerDefinition[],
  { now = Date.now, logDelayMilliseconds = 0, onEntry }: HistoryOptions,
): History {
  const entries = new Map<string, TimelineEntry[]>();
  const due = new Map<string, Map<string, FollowUp>>();
  const runs = new Map<string, Run[]>();
  const recent: ObjectEntry[] = [];
  const changes: number[] = [];
  const troubles = new FunctionTroubles();
  const present = new Set<string>();
  const absent = new Set<string>();
  const forget = (id: string): void => {
    present.delete(id);
    absent.delete(id);
    entries.delete(id);
    due.delete(id);
    troubles.forget(id);
  };
  const add = (id: string, entry: TimelineEntry): void => {
    addTo(listOf(entries, id), entry, maxEntries);
    if (!present.has(id)) absent.add(id);
    const [oldest] = absent;
    if (oldest !== undefined && absent.size > maxAbsent) forget(oldest);
    addTo(recent, { id, ...entry }, maxRecent);
    onEntry({ id, ...entry });
  };
  const since = <T>(all: readonly T[], at: (one: T) => number, window: number): readonly T[] => {
    const end = now() - logDelayMilliseconds;
    return all.filter((one) => at(one) >= end - window && (logDelayMilliseconds === 0 || at(one) <= end));
  };
  const allRuns = (): readonly Run[] => [...runs.values()].flat();
  const recentLatencies = (all: readonly Run[]) => latenciesOf(since(all, ({ at }) => at, latencyMilliseconds));
  return {
    troubles,
    addLogLine: (text, source, loggedAt) => {
      const at = loggedAt ?? now();
      troubles.add(text, source, at);
      const found = readReconcile(text, source, at);
      if (found === undefined) return;
      const { id, controller, entry, dueAt, nextCause = 'requeue' } = found;
      add(id, entry);
      const own = due.get(id) ?? new Map<string, FollowUp>();
      if (dueAt === undefined) own.delete(controller);
      else own.set(controller, { id, controller, cause: nextCause, dueAt: dueAt * 1000 });
      if (own.size === 0) due.delete(id);
      else due.set(id, own);
      addTo(listOf(runs, controller), { at, failed: entry.failed === true, latencyMs: entry.latencyMs }, maxRuns);
    },
    addChange: (id, change, tone) => {
      const at = now();
      addTo(changes, at, maxRuns);
      const { before, after } = change;
      absent.delete(id);
      if (after !== undefined) present.add(id);
      const fields = before === undefined || after === undefined ? [] : fieldChanges(before, after);
      const told = formatObjectChange(change, controllers);
      const lines = told.some(({ source }) => source === 'changed') ? told : [...metadataLine(fields), ...told];
      const writers = after === undefined ? [] : writersOf(before, after);
      for (const [index, { source, text }] of lines.entries())
        add(id, {
          at,
          type: source === 'status' ? 'status' : 'change',
          text,
          ...(source === 'status' && tone !== undefined ? { tone } : {}),
          ...(index === 0 && fields.length > 0 ? { changes: fields } : {}),
          ...(writers.length > 0 ? { writers } : {}),
        });
      if (after === undefined) forget(id);
    },
    forget,
    // Lines of a log may arrive late.
    timeline: (id) => (entries.get(id) ?? []).toReversed().sort((a, b) => b.at - a.at),
    recent: () => [...recent],
    dueAt: (id) => {
      const own = inOrder(due.get(id));
      return (own.find(({ dueAt }) => dueAt > now()) ?? own[0])?.dueAt;
    },
    followUps: () =>
      [...due.values()]
        .flatMap(inOrder)
        .filter(({ dueAt }) => dueAt > now())
        .sort(byDueTime),
    rates: (controller) => {
      const own = runs.get(controller) ?? [];
      const counted = since(own, ({ at }) => at, rateMilliseconds);
      return {
        reconcilesPerSecond: (counted.length * 1000) / rateMilliseconds,
        failuresPerSecond: (counted.filter(({ failed }) => failed).length * 1000) / rateMilliseconds,
        ...recentLatencies(own),
      };
    },
    latencies: () => recentLatencies(allRuns()),
    changesPerSecond: () => (since(changes, (at) => at, rateMilliseconds).length * 1000) / rateMilliseconds,
    series: () => (troubles.hidden === undefined ? seriesOf(allRuns(), now()) : seriesOf([], now())),
  };
}

/** Labels and annotations that a write changed, which the lines of a terminal leave out. */
function metadataLine(fields: readonly FieldChange[]): readonly { readonly source: string; readonly text: string }[] {
  const paths = fields.flatMap(({ path }) => (/^metadata\.(?:labels|annotations)/.test(path) ? [path] : []));
  return paths.length === 0 ? [] : [{ source: 'changed', text: `${paths.join(', ')} changed` }];
}

/** Reads the line of a reconcile as an entry of a timeline; undefined for another line. */
export function readReconcile(text: string, source: string, at: number) {
  if (!text.includes('"reconciled"')) return undefined;
  const run = reconciled.safeParse(parseJson(text)).data;
  const found = run === undefined ? undefined : splitKey(run.key);
  if (run === undefined || found === undefined) return undefined;
  const failed = !['done', 'nothing', 'postponed'].includes(run.outcome);
  const [line] = formatLog(text, { source, kind: undefined, nowSeconds: at / 1000 });
  const { message: _, key: __, attempt: attempts, xray_trace_id: xrayTraceId, dueAt, nextCause, ...fields } = run;
  const entry: TimelineEntry = {
    ...fields,
    at,
    type: 'reconcile',
    controller: found.controller,
    text: line?.text ?? run.outcome,
    attempts,
    xrayTraceId,
    ...(failed ? { failed: true } : {}),
    ...(failed && nextCause !== 'retry' ? { final: true } : {}),
    ...(run.outcome === 'postponed' ? { postponed: true } : {}),
  };
  return { ...found, entry, dueAt, nextCause };
}

const keyed = z.looseObject({ key: z.string().optional(), level: z.string().optional() });

/** Reads a line of a function's log: a run, a crash, or a line of its author. Nothing for one that says nothing. */
export function readPast(text: string, source: string, at: number): readonly PastEntry[] {
  const run = readReconcile(text, source, at);
  if (run !== undefined) return [{ id: run.id, ...run.entry }];
  const crash = readCrash(text);
  if (crash !== undefined) return [{ at, type: 'crash', controller: source, text: redact(crash), failed: true }];
  const { key, level } = keyed.safeParse(parseJson(text)).data ?? {};
  const found = key === undefined ? undefined : splitKey(key);
  return formatLog(text, { source, kind: undefined, nowSeconds: at / 1000 }).map((line) => ({
    at,
    type: 'log',
    controller: found?.controller ?? source,
    text: redact(line.text),
    ...(found === undefined ? {} : { id: found.id }),
    ...(level === 'ERROR' ? { failed: true } : {}),
  }));
}

/** Returns the entries once each, the newest first. */
export function merged<E extends TimelineEntry>(entries: readonly E[]): readonly E[] {
  const keyOf = ({ at, type, controller, messageId, text }: E) => `${at} ${type} ${controller} ${messageId} ${text}`;
  return [...new Map(entries.map((one) => [keyOf(one), one])).values()].sort((a, b) => b.at - a.at);
}

/** Returns the list of a key, which is empty at first. */
function listOf<T>(lists: Map<string, T[]>, key: string): T[] {
  const list = lists.get(key) ?? [];
  lists.set(key, list);
  return list;
}

/** The follow-ups of an object by controller, the next one first. */
function inOrder(own: ReadonlyMap<string, FollowUp> = new Map()): FollowUp[] {
  return [...own.values()].sort(byDueTime);
}

function byDueTime(a: FollowUp, b: FollowUp): number {
  return a.dueAt - b.dueAt;
}

/** Adds an entry; the oldest one goes when there are too many. */
function addTo<T>(list: T[], entry: T, max: number): void {
  list.push(entry);
  if (list.length > max) list.shift();
}

/** Rates over the same windows as in the flow, so that the page can go on with the flow's. */
function seriesOf(runs: readonly Run[], now: number): Series {
  const first = Math.min(...runs.map(({ at }) => at), now);
  const steps = Math.floor(Math.min(now - first, seriesMilliseconds) / seriesStepMilliseconds);
  const points = Array.from({ length: steps }, (_, index) => {
    const end = now - (steps - index) * seriesStepMilliseconds;
    const within = (window: number) => runs.filter(({ at }) => at > end - window && at <= end);
    const counted = within(rateMilliseconds);
    return { end, counted, latencies: latenciesOf(within(latencyMilliseconds)) };
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
  const [controller, ...id] = key.split(':');
  return controller === undefined || id.length < 2 ? undefined : { controller, id: id.join(':') };
}
