// The fields that a write changed and who wrote it, for the timeline of an object. Pure.
import { few } from 'outrigger/internal/core/few';
import { isRecord } from 'outrigger/internal/core/json';
import { fieldManagerOf } from 'outrigger/internal/core/names';
import { treeOf } from 'outrigger/internal/kube/apply/field-tree';
import type { KubeObject } from 'outrigger/internal/kube/client/object';
import type { FieldChange, Writer } from './wire.ts';

/** More changes than these are not listed, and longer values are cut. */
const maxChanges = 30;
const maxText = 200;
/** Metadata that each write changes. */
const ignored: readonly string[] = ['metadata.managedFields', 'metadata.resourceVersion', 'metadata.generation'];

/** Compares two versions of an object. Lists are compared item by item, by their position. */
export function fieldChanges(before: KubeObject, after: KubeObject): readonly FieldChange[] {
  const changes: FieldChange[] = [];
  const compare = (path: string, old: unknown, now: unknown): void => {
    if (changes.length >= maxChanges || ignored.includes(path)) return;
    if (isRecord(old) && isRecord(now)) {
      for (const name of new Set([...Object.keys(old), ...Object.keys(now)]))
        compare(path === '' ? name : `${path}.${name}`, old[name], now[name]);
      return;
    }
    if (Array.isArray(old) && Array.isArray(now)) {
      for (let index = 0; index < Math.max(old.length, now.length); index += 1)
        compare(`${path}[${itemName(old[index] ?? now[index], index)}]`, old[index], now[index]);
      return;
    }
    const [oldText, nowText] = [textOf(old), textOf(now)];
    if (oldText === nowText) return;
    changes.push({ path, before: oldText, after: nowText });
  };
  compare('', before, after);
  return changes;
}

/**
 * Returns who wrote the later version: the managers with a new time. Times have no fractions of a second, so a second
 * write of a manager within one is found as the latest.
 */
export function writersOf(before: KubeObject | undefined, after: KubeObject): readonly Writer[] {
  const known = (before === undefined ? [] : allWriters(before)).map((one) => JSON.stringify(one));
  const all = allWriters(after);
  const fresh = all.filter((one) => !known.includes(JSON.stringify(one)));
  const [latest] = all.map(({ time }) => time ?? '').sort((a, b) => (a < b ? 1 : -1));
  return fresh.length > 0 ? fresh : all.filter(({ time }) => time === latest);
}

function allWriters({ metadata: { managedFields = [] } }: KubeObject): readonly Writer[] {
  return managedFields.map(writerOf);
}

type Entry = NonNullable<KubeObject['metadata']['managedFields']>[number];

function writerOf({ manager = 'unknown', operation = '', subresource, time }: Entry): Writer {
  const of = subresource === undefined ? operation : `${operation} of ${subresource}`;
  return { manager, operation: of, time };
}

/** The last write of a manager: who that is, and the fields that it owns, in words. */
export type LastWrite = Writer & { readonly by: string; readonly fields: string };

/** Returns who wrote an object, the newest first. Of a controller's writes its status is Outrigger's own. */
export function lastWrites(
  { metadata: { managedFields = [] } }: KubeObject,
  { controllers, project }: { readonly controllers: readonly { readonly name: string }[]; readonly project: string },
): readonly LastWrite[] {
  const byOf = ({ manager = 'unknown', subresource }: Entry): string => {
    const own = controllers.find(({ name }) => fieldManagerOf(name, project) === manager);
    if (own === undefined) return manager;
    return subresource === 'status' ? `Outrigger, the status of ${own.name}` : `the controller ${own.name}`;
  };
  return managedFields
    .map((entry) => ({ ...writerOf(entry), by: byOf(entry), fields: topFields(entry) }))
    .toSorted((a, b) => ((a.time ?? '') < (b.time ?? '') ? 1 : -1));
}

/** The fields that are named of one manager. */
const mostFields = 4;

/** `spec.amount, spec.unit and 3 more`: the first two steps of the paths. */
function topFields({ fieldsV1 }: Entry): string {
  const fields = Object.entries(treeOf(fieldsV1)).flatMap(([step, below]) => {
    const names = Object.keys(below).filter((one) => one.startsWith('f:'));
    return names.length === 0 ? [step.slice(2)] : names.map((one) => `${step.slice(2)}.${one.slice(2)}`);
  });
  return few(fields, mostFields);
}

/** Conditions are named by their type, other items by their name. */
function itemName(item: unknown, index: number): string {
  const name = isRecord(item) ? (item.type ?? item.name) : undefined;
  return typeof name === 'string' ? name : String(index);
}

function textOf(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > maxText ? `${text.slice(0, maxText)}…` : text;
}
