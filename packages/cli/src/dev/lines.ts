// Formats what happens in the local system as lines for a terminal: a changed object, a run of a function with its
// cause and result, and the status that it wrote. `debounceStatuses` orders the lines: a status comes after the run
// that wrote it.

import path from 'node:path';
import type { ControllerDefinition } from 'outrigger/internal/api/definition';
import { few } from 'outrigger/internal/core/few';
import { isRecord, parseJson } from 'outrigger/internal/core/json';
import { deletedMark } from 'outrigger/internal/core/names';
import type { KubeObject } from 'outrigger/internal/kube/client/object';
import * as z from 'zod';
import { FunctionError } from './lambda/function-process.ts';
import type { LambdaEvent } from './lambda/local-lambda.ts';
import type { CachedChange } from './object-cache.ts';
import { isForeignKind, objectReadiness, statusSlicesOf } from './readiness.ts';
import type { WatcherEvent } from './watchers.ts';

/** One line of output. */
export type OutputLine = {
  /** `changed`, `status`, the name of a function, `watcher`, or `system`. */
  readonly source: string;
  /** The object, as kubectl prints it: `watertank/north`. */
  readonly object?: string;
  readonly text: string;
  /** Whether it is shown only with --verbose: a run that succeeded, which a change or a status shows as well. */
  readonly verbose?: true;
  /** More fields, for the JSON form. */
  readonly fields?: Readonly<Record<string, unknown>>;
};

/**
 * Formats a change of the spec or the status, a creation or a deletion. Another change makes no line. The conditions of
 * status slices, which Ready does not sum up, follow Ready.
 */
export function formatObjectChange(
  { resource, before, after }: CachedChange,
  controllers: readonly ControllerDefinition[] = [],
): readonly OutputLine[] {
  const object = after ?? before;
  if (object === undefined) return [];
  const name = nameOf(object);
  if (after === undefined) return [{ source: 'changed', object: name, text: 'was deleted' }];
  const lines: OutputLine[] = [];
  if (before === undefined || before.metadata.uid !== after.metadata.uid) {
    lines.push({ source: 'changed', object: name, text: `is new: ${summary(after.spec)}` });
  } else if (
    before.metadata.generation !== after.metadata.generation &&
    after.metadata.deletionTimestamp === undefined
  ) {
    lines.push({ source: 'changed', object: name, text: differences(before.spec, after.spec) });
  }
  if (before?.metadata.deletionTimestamp === undefined && after.metadata.deletionTimestamp !== undefined) {
    lines.push({ source: 'changed', object: name, text: 'is being deleted' });
  }
  // Only a written status makes a line, not a new generation that is not observed yet.
  const textOf = (one: KubeObject) =>
    statusText(one, statusSlicesOf(controllers, resource), isForeignKind(controllers, resource));
  const status = textOf(after);
  if (status !== undefined && JSON.stringify(before?.status) !== JSON.stringify(after.status)) {
    if (before === undefined || status !== textOf(before)) lines.push({ source: 'status', object: name, text: status });
  }
  return lines;
}

/** Formats an event of the Lambda service. `prefix` is the deployment's. */
export function formatLambdaEvent(
  event: LambdaEvent,
  {
    prefix,
    controllers,
    root,
  }: { readonly prefix: string; readonly controllers: readonly ControllerDefinition[]; readonly root: string },
): readonly OutputLine[] {
  const source = event.function.startsWith(prefix) ? event.function.slice(prefix.length) : event.function;
  if (event.type === 'failed') return [{ source, text: failureText(event.error, root, event.groups) }];
  const resource = controllers.find(({ name }) => name === source)?.declaration.resource;
  const kind = resource?.kind.toLowerCase();
  // No status shows what a controller of a kind of others has written.
  const showsWrites = resource !== undefined && isForeignKind(controllers, resource);
  return formatLog(event.text, { source, kind, nowSeconds: Date.now() / 1000, root, showsWrites });
}

/** Returns the line of the log for a function that has crashed or cannot be loaded; undefined for another error. */
export function crashLine(name: string, error: Error, now: Date): string | undefined {
  if (!(error instanceof FunctionError)) return undefined;
  const { errorType, message } = error;
  const fields = { level: 'ERROR', message: 'Uncaught Exception', timestamp: now.toISOString() };
  return JSON.stringify({ ...fields, function: name, errorType, error: message });
}

/** Formats the start and end of a watcher's process, and its warnings. */
export function formatWatcherEvent(event: WatcherEvent): readonly OutputLine[] {
  const fields = { pid: event.pid };
  if (event.type === 'line')
    return formatLog(event.text, { source: 'watcher', kind: undefined, nowSeconds: Date.now() / 1000 });
  if (event.type === 'watching') return [{ source: 'watcher', text: watchingText(event), fields }];
  if (event.type === 'started')
    return [{ source: 'watcher', text: `started (pid ${event.pid})`, verbose: true, fields }];
  const then = event.again ? '; it is restarted' : '';
  return [{ source: 'watcher', text: `ended: ${event.how} (pid ${event.pid})${then}`, fields }];
}

const watchingEntry = z.looseObject({ kinds: z.number().optional(), notServed: z.array(z.string()).default([]) });

function watchingText({ pid, text }: { readonly pid: number; readonly text: string }): string {
  const { kinds, notServed } = watchingEntry.parse(parseJson(text) ?? {});
  const watched = `watches ${kinds ?? 'its'} kinds (pid ${pid})`;
  if (notServed.length === 0) return watched;
  const missing = notServed.join(', ');
  const next = 'give its CRD, as with outrigger dev --apply FILE or kubectl apply, and it is watched';
  return `${watched}; the API server does not serve ${missing}: ${next}`;
}

/** Formats a line of a log; `kind` is the controller's. A line that is no log entry of Outrigger stays as it is. */
export function formatLog(
  text: string,
  {
    source,
    kind,
    nowSeconds,
    root,
    showsWrites = false,
  }: {
    readonly source: string;
    readonly kind: string | undefined;
    readonly nowSeconds: number;
    /** The project's folder: frames of a stack are shown relative to it. */
    readonly root?: string;
    /** Whether a run that wrote is shown without --verbose. */
    readonly showsWrites?: boolean;
  },
): readonly OutputLine[] {
  const value = parseJson(text);
  // Metrics in the embedded metric format are not shown.
  if (isRecord(value) && '_aws' in value) return [];
  const entry = logEntry.safeParse(value);
  if (!entry.success) return text.trim() === '' ? [] : [{ source, text }];
  const { message, name, namespace, level } = entry.data;
  const object = name === undefined ? undefined : `${kind ?? 'object'}/${qualifiedName(name, namespace)}`;
  const about = object === undefined ? {} : { object };
  const run = message === 'reconciled' ? reconciled.safeParse(entry.data) : undefined;
  if (run?.success === true) {
    const { outcome, stack, writes = 0 } = run.data;
    const isDetail = outcome === 'nothing' || (outcome === 'done' && !(showsWrites && writes > 0));
    const ran = { source, ...about, fields: entry.data, ...(isDetail ? { verbose: true as const } : {}) };
    return [{ ...ran, text: [ranText(run.data, nowSeconds), ...stackLines(stack, root)].join('\n') }];
  }
  if (level === 'DEBUG' || (level === 'INFO' && runtimeEntries.includes(message))) return [];
  const error = typeof entry.data.error === 'string' ? `: ${entry.data.error}` : '';
  return [{ source, ...about, text: `${message}${error}${authorFields(entry.data)}`, fields: entry.data }];
}

/** The runtime's own entries of level INFO, which other lines show as well. */
const runtimeEntries: readonly string[] = [
  'children written',
  'collection listed',
  'command ended',
  'keys mapped',
  'kind listed',
  'list skipped',
  'reconciled',
  // Who a watcher is on AWS: every sender of the local queue is the same.
  'sends as',
  'stopped',
  'watcher down', // While the watchers start. It is a warning later.
];

/** The fields that each entry has, or that the line shows elsewhere. */
const entryFields: readonly string[] = [
  ...['level', 'message', 'timestamp', 'service', 'time', 'error', 'stack', 'key', 'namespace', 'name', 'cause'],
  ...['causedBy', 'attempt', 'postponements', 'merged', 'mergedCauses', 'cluster', 'messageId', 'function_request_id'],
  'traceId',
  'xray_trace_id',
];

/** Formats the fields that the author added to a log entry: ` amount=3 unit=g`. */
function authorFields(entry: Readonly<Record<string, unknown>>): string {
  return Object.entries(entry)
    .filter(([name, value]) => !entryFields.includes(name) && value !== undefined)
    .map(([name, value]) => ` ${name}=${isRecord(value) ? JSON.stringify(value) : short(value)}`)
    .join('');
}

/** The frames of an error's stack, with files below the root as relative paths. */
function stackLines(stack: readonly string[] = [], root = ''): readonly string[] {
  if (root === '') return stack;
  return stack.map((line) => line.replace(/file:\/\/\/[^\s()]*/, decodedPath).replace(`${root}/`, ''));
}

/** Returns the path of a file's URL, in which a space is `%20`. */
function decodedPath(url: string): string {
  try {
    return decodeURIComponent(url.slice('file://'.length));
  } catch {
    return url;
  }
}

/** A watch event may arrive before the log line of the run that caused it. */
const statusDelayMilliseconds = 150;

/** Passes lines on at once, and statuses after a delay, in order. `flush` passes on the delayed lines. */
export function debounceStatuses(onLine: (line: OutputLine) => void): { line(line: OutputLine): void; flush(): void } {
  const delayed = new Map<NodeJS.Timeout, OutputLine>();
  return {
    line: (line) => {
      if (line.source !== 'status') return onLine(line);
      const timer = setTimeout(() => {
        delayed.delete(timer);
        onLine(line);
      }, statusDelayMilliseconds);
      delayed.set(timer, line);
    },
    flush: () => {
      for (const [timer, line] of delayed) {
        clearTimeout(timer);
        onLine(line);
      }
      delayed.clear();
    },
  };
}

const causeTexts: Readonly<Record<string, string>> = {
  change: 'it changed',
  requeue: 'its requeue was due',
  retry: 'its last reconcile failed',
  resync: 'of the resync',
  wake: 'of an external event',
  command: 'of a command',
};

const logEntry = z.looseObject({
  level: z.string().optional(),
  message: z.string(),
  namespace: z.string().optional(),
  name: z.string().optional(),
});

const reconciled = z.looseObject({
  cause: z.string(),
  causedBy: z.string().optional(),
  merged: z.number().optional(),
  mergedCauses: z.array(z.string()).optional(),
  outcome: z.string(),
  reason: z.string().optional(),
  error: z.string().optional(),
  nextCause: z.string().optional(),
  dueAt: z.number().optional(),
  writes: z.number().optional(),
  stack: z.array(z.string()).optional(),
});

function ranText(
  { cause, outcome, reason, error, nextCause, dueAt, writes = 0, ...origin }: z.infer<typeof reconciled>,
  nowSeconds: number,
): string {
  const did = writes === 0 ? 'nothing to write' : writes === 1 ? '1 write' : `${writes} writes`;
  const result: Readonly<Record<string, string>> = {
    done: did,
    nothing: `nothing to do (${reason ?? ''})`,
    failed: `failed: ${error ?? ''}`,
    terminal: `not retried until it changes: ${error ?? ''}`,
    postponed: `postponed (${reason ?? ''})`,
  };
  const wait = dueAt === undefined ? undefined : Math.max(0, Math.round(dueAt - nowSeconds));
  const next = nextCause === undefined || wait === undefined ? '' : `, next in ${wait} s`;
  return `ran because ${causeText(cause, origin)}: ${result[outcome] ?? outcome}${next}`;
}

/** Names the cause, the object or event behind it, and up to three causes that were merged with it. */
function causeText(
  cause: string,
  { causedBy, merged = 0, mergedCauses = [] }: Pick<z.infer<typeof reconciled>, 'causedBy' | 'merged' | 'mergedCauses'>,
): string {
  const text = causedBy === undefined || cause === 'command' ? (causeTexts[cause] ?? cause) : byText(cause, causedBy);
  return merged === 0 ? text : `${text}, and ${merged} more (${mergedCauses.join(', ')})`;
}

function byText(cause: string, causedBy: string): string {
  if (cause !== 'change') return `${causeTexts[cause] ?? cause} (${causedBy})`;
  if (!causedBy.endsWith(deletedMark)) return `${causedBy} changed`;
  return `${causedBy.slice(0, -deletedMark.length).trim() || 'it'} was deleted or is no longer selected`;
}

function failureText(error: Error, root: string, groups: readonly string[] = []): string {
  if (!(error instanceof FunctionError)) return `failed: ${error.message}`;
  const source = error.trace.map((line) => sourceLocation(line, root)).find((found) => found !== undefined);
  const where = source === undefined ? '' : ` (${source})`;
  // A function that died has logged nothing of its keys.
  const kept = `the queue keeps its messages${groups.length === 0 ? '' : `: ${few(groups)}`}`;
  if (error.errorType === 'Runtime.ImportModuleError') return `cannot be loaded: ${error.message}${where}; ${kept}`;
  return `failed: ${error.message}${where}; ${kept}`;
}

/** Reads a location below the root from a line of a stack: `src/controllers/water-tank.ts:12:3`, by the source map. */
function sourceLocation(line: string, root: string): string | undefined {
  const [, found] = /(?:\(|at |file:\/\/)((?:\/|[A-Za-z]:\\)[^()\s]+:\d+(?::\d+)?)\)?/.exec(line) ?? [];
  if (found === undefined || !found.startsWith(root) || found.includes('node_modules')) return undefined;
  return path.relative(root, found);
}

/** Names an object as kubectl does, with its namespace if that is not `default`. */
function nameOf({ kind = 'object', metadata }: KubeObject): string {
  return `${kind.toLowerCase()}/${qualifiedName(metadata.name, metadata.namespace)}`;
}

function qualifiedName(name: string, namespace: string | undefined): string {
  return namespace === undefined || namespace === 'default' ? name : `${namespace}/${name}`;
}

function statusText(object: KubeObject, sliceConditions: readonly string[], isForeign: boolean): string | undefined {
  if (!isRecord(object.status)) return undefined;
  const { conditions, observedGeneration: _, ...own } = object.status;
  if (conditions === undefined) return undefined;
  const all = Array.isArray(conditions) ? conditions.filter(isRecord) : [];
  const sliceTexts = sliceConditions.map((type) =>
    conditionText(
      type,
      all.find((one) => one.type === type),
    ),
  );
  // The Ready of a foreign kind is another controller's, and may follow other rules.
  const texts = [summary(own), isForeign ? '' : readyText(object), ...sliceTexts].filter((text) => text !== '');
  return texts.length === 0 ? undefined : texts.join(', ');
}

function readyText(object: KubeObject): string {
  const { ready, reason, message } = objectReadiness(object);
  // A message of one word is the name of the condition, which adds nothing to the reason.
  const detail = message.includes(' ') ? `${reason}: ${message}` : reason;
  return ready ? 'Ready' : `not Ready (${detail})`;
}

function conditionText(type: string, condition: Readonly<Record<string, unknown>> | undefined): string {
  if (condition === undefined) return '';
  const { status, reason, message = '' } = condition;
  if (status === 'True') return type;
  return `not ${type} (${message === '' ? reason : `${reason}: ${message}`})`;
}

function differences(before: unknown, after: unknown): string {
  if (!isRecord(before) || !isRecord(after)) return summary(after);
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const changed = names.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  return changed.map((name) => `${name} ${short(before[name])} -> ${short(after[name])}`).join(', ');
}

function summary(value: unknown): string {
  if (!isRecord(value)) return '';
  return Object.entries(value)
    .filter(([, field]) => !isTime(field))
    .map(([name, field]) => `${name} ${short(field)}`)
    .join(', ');
}

/** Times in a status are left out: the line has its own time. */
function isTime(value: unknown): boolean {
  return typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value);
}

function short(value: unknown): string {
  const itemText = (item: unknown) => (isRecord(item) && typeof item.name === 'string' ? item.name : short(item));
  if (Array.isArray(value)) return `[${value.map(itemText).join(' ')}]`;
  if (isRecord(value)) return Object.values(value).map(short).join(' ');
  return value === undefined ? 'nothing' : String(value);
}
