// What a person at the terminal reads: what changed, which function ran and why, what it did, and the status that came of
// it. Each is one line; nothing here decides anything.
import * as z from 'zod';
import type { Registered } from '../core/controller.ts';
import { parseJson } from '../core/parse-json.ts';
import type { KubeObject } from '../kube/client/object.ts';
import { isRecord } from '../kube/record.ts';
import { partsOf } from './applied-rows.ts';
import { readinessOf } from '../dev/readiness.ts';
import type { Change } from './view.ts';

/** One thing that happened. */
export type Line = {
  /** `changed`, `status`, the name of a function, `watcher`, or `system`. */
  readonly who: string;
  /** What it is about, as kubectl would say it: `watertank/north`. */
  readonly object?: string;
  readonly text: string;
  /** More, for the JSON form. */
  readonly fields?: Readonly<Record<string, unknown>>;
};

const laneWords: Readonly<Record<string, string>> = {
  watch: 'it changed',
  requeue: 'its time had come',
  retry: 'of an error before',
  resync: 'the resync asked',
  replay: 'it was replayed',
};

const logEntry = z.looseObject({
  level: z.string().optional(),
  message: z.string(),
  namespace: z.string().optional(),
  name: z.string().optional(),
});
const reconciled = z.looseObject({
  lane: z.string(),
  outcome: z.string(),
  why: z.string().optional(),
  error: z.string().optional(),
  nextLane: z.string().optional(),
  dueAt: z.number().optional(),
  writes: z.number().optional(),
});

/**
 * Tells of a change: of the spec, of the status, or of the object's coming and going. A change of neither is no line. Conditions
 * that Ready does not sum up are told beside it: those of the kind's further controllers.
 */
export function linesOfChange(
  { resource, before, after }: Change,
  controllers: readonly Registered[] = [],
): readonly Line[] {
  const object = after ?? before;
  if (object === undefined) return [];
  const named = nameOf(object);
  if (after === undefined) return [{ who: 'changed', object: named, text: 'is gone' }];
  const lines: Line[] = [];
  if (before === undefined || before.metadata.uid !== after.metadata.uid) {
    lines.push({ who: 'changed', object: named, text: `is new: ${summary(after.spec)}` });
  } else if (
    before.metadata.generation !== after.metadata.generation &&
    after.metadata.deletionTimestamp === undefined
  ) {
    lines.push({ who: 'changed', object: named, text: differences(before.spec, after.spec) });
  }
  if (before?.metadata.deletionTimestamp === undefined && after.metadata.deletionTimestamp !== undefined) {
    lines.push({ who: 'changed', object: named, text: 'is to be deleted' });
  }
  // Only what was written to the status: that a new generation is not observed yet goes without saying.
  const parts = partsOf(controllers, resource);
  const status = statusText(after, parts);
  if (status !== undefined && JSON.stringify(before?.status) !== JSON.stringify(after.status)) {
    if (before === undefined || status !== statusText(before, parts))
      lines.push({ who: 'status', object: named, text: status });
  }
  return lines;
}

/** Tells of a line that a function logged; `kinds` gives a controller's kind. What is no log of ours is passed on as it is. */
export function linesOfLog(
  text: string,
  { who, kind, nowSeconds }: { readonly who: string; readonly kind: string | undefined; readonly nowSeconds: number },
): readonly Line[] {
  const value = parseJson(text);
  // The embedded metric format is for machines.
  if (isRecord(value) && '_aws' in value) return [];
  const entry = logEntry.safeParse(value);
  if (!entry.success) return text.trim() === '' ? [] : [{ who, text }];
  const { message, name, namespace, level } = entry.data;
  const object = name === undefined ? undefined : `${kind ?? 'object'}/${placed(name, namespace)}`;
  const about = object === undefined ? {} : { object };
  const run = message === 'reconciled' ? reconciled.safeParse(entry.data) : undefined;
  if (run?.success === true) return [{ who, ...about, text: ranText(run.data, nowSeconds), fields: entry.data }];
  if (level === 'DEBUG' || level === 'INFO') return [];
  const error = typeof entry.data.error === 'string' ? `: ${entry.data.error}` : '';
  return [{ who, ...about, text: `${message}${error}`, fields: entry.data }];
}

function ranText(
  { lane, outcome, why, error, nextLane, dueAt, writes = 0 }: z.infer<typeof reconciled>,
  nowSeconds: number,
): string {
  const did = writes === 0 ? 'nothing to write' : writes === 1 ? '1 write' : `${writes} writes`;
  const result: Readonly<Record<string, string>> = {
    done: did,
    nothing: `nothing to do (${why ?? ''})`,
    failed: `failed: ${error ?? ''}`,
    terminal: `gave up until it changes: ${error ?? ''}`,
    deferred: `put off (${why ?? ''})`,
  };
  const wait = dueAt === undefined ? undefined : Math.max(0, Math.round(dueAt - nowSeconds));
  const next = nextLane === undefined || wait === undefined ? '' : `, again in ${wait} s`;
  return `ran because ${laneWords[lane] ?? lane}: ${result[outcome] ?? outcome}${next}`;
}

/** Names an object as kubectl does, with its namespace where that is not `default`. */
function nameOf({ kind = 'object', metadata }: KubeObject): string {
  return `${kind.toLowerCase()}/${placed(metadata.name, metadata.namespace)}`;
}

function placed(name: string, namespace: string | undefined): string {
  return namespace === undefined || namespace === 'default' ? name : `${namespace}/${name}`;
}

function statusText(object: KubeObject, parts: readonly string[]): string | undefined {
  if (!isRecord(object.status)) return undefined;
  const { conditions, observedGeneration: _, ...own } = object.status;
  if (conditions === undefined) return undefined;
  const all = Array.isArray(conditions) ? conditions.filter(isRecord) : [];
  const ofParts = parts.map((type) =>
    conditionText(
      type,
      all.find((one) => one.type === type),
    ),
  );
  return [summary(own), readyText(object), ...ofParts].filter((part) => part !== '').join(', ');
}

function readyText(object: KubeObject): string {
  const { ready, reason, message } = readinessOf(object);
  // A message of one word is the condition's name, which says no more than the reason.
  const why = message.includes(' ') ? `${reason}: ${message}` : reason;
  return ready ? 'Ready' : `not Ready (${why})`;
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

/** When something was is in the line's own time; in a status it is noise. */
function isTime(value: unknown): boolean {
  return typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value);
}

function short(value: unknown): string {
  if (Array.isArray(value))
    return `[${value.map((item) => (isRecord(item) && typeof item.name === 'string' ? item.name : short(item))).join(' ')}]`;
  if (isRecord(value)) return Object.values(value).map(short).join(' ');
  return value === undefined ? 'nothing' : String(value);
}
