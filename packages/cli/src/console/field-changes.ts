// The fields that a write changed and who wrote it, for the timeline of an object. Pure.
import { isRecord } from 'outrigger/internal/core/json';
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
    changes.push({
      path,
      ...(oldText === undefined ? {} : { before: oldText }),
      ...(nowText === undefined ? {} : { after: nowText }),
    });
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
  return managedFields.map(({ manager = 'unknown', operation = '', subresource, time }) => ({
    manager,
    operation: subresource === undefined ? operation : `${operation} of ${subresource}`,
    ...(time === undefined ? {} : { time }),
  }));
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
