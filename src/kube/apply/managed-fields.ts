// Reads from metadata.managedFields which fields of a live object a manager owns. Their comparison with the desired
// fields avoids an apply without a difference. The format is structured-merge-diff's fieldpath.Set: `f:` is a field,
// `k:` a list item by key, `v:` a member of a set, `i:` an item by index, `.` the item itself, and `{}` ends a path.
import { isRecord } from '../../core/json.ts';
import type { KubeObject } from '../client/object.ts';
import { pathsBelow, treeOf } from './field-tree.ts';

type Fields = Readonly<Record<string, unknown>>;

/**
 * Extracts the fields of a live object that a manager owns by server-side apply, in the object itself or through a
 * subresource. A field that is owned but that the API omits (such as `readOnly: false`) is null. Returns undefined if
 * the manager owns nothing there.
 */
export function ownedFields(
  object: KubeObject,
  manager: string,
  subresource?: string,
): Readonly<Record<string, unknown>> | undefined {
  const entries = object.metadata.managedFields ?? [];
  const ours = ownEntry(object, manager, subresource);
  if (!isRecord(ours?.fieldsV1)) return undefined;
  const others = entries
    .filter((entry) => entry !== ours)
    .flatMap(({ fieldsV1 }) => (isRecord(fieldsV1) ? [fieldsV1] : []));
  const owned = extract(object, ours.fieldsV1, others);
  return isRecord(owned) ? owned : {};
}

/** Returns the entry of what a manager owns by server-side apply, in the object itself or through a subresource. */
export function ownEntry({ metadata }: KubeObject, manager: string, subresource = ''): Entry | undefined {
  return metadata.managedFields?.find(
    (entry) => entry.manager === manager && entry.operation === 'Apply' && (entry.subresource ?? '') === subresource,
  );
}

/** A field and another manager of it, as a dotted path. */
export type FieldOfManager = { readonly fieldManager: string; readonly field: string };

/** Returns the fields that a manager has taken from others between two reads of an object, one for each of them. */
export function takenFields(before: KubeObject, after: KubeObject, manager: string): readonly FieldOfManager[] {
  const now = entriesOf(after);
  const ours = new Set(now.filter((entry) => entry.manager === manager).flatMap(pathsOf));
  return entriesOf(before).flatMap((entry) => {
    const { manager: fieldManager = '', operation, subresource } = entry;
    if (fieldManager === manager) return [];
    const same = now.filter(
      (one) => one.manager === fieldManager && one.operation === operation && one.subresource === subresource,
    );
    const kept = new Set(same.flatMap(pathsOf));
    const field = pathsOf(entry).find((path) => ours.has(path) && !kept.has(path));
    return field === undefined ? [] : [{ fieldManager, field }];
  });
}

/** Returns the fields that a manager has given up between two reads and that others keep, one for each of them. */
export function keptFields(before: KubeObject, after: KubeObject, manager: string): readonly FieldOfManager[] {
  const pathsOfOurs = (object: KubeObject) =>
    entriesOf(object)
      .filter((entry) => entry.manager === manager)
      .flatMap(pathsOf);
  const still = new Set(pathsOfOurs(after));
  const dropped = new Set(pathsOfOurs(before).filter((path) => !still.has(path)));
  if (dropped.size === 0) return [];
  return entriesOf(after).flatMap((entry) => {
    const field = pathsOf(entry).find((path) => dropped.has(path) && !path.endsWith('.'));
    return field === undefined ? [] : [{ fieldManager: entry.manager ?? '', field }];
  });
}

type Entry = NonNullable<KubeObject['metadata']['managedFields']>[number];

/** A write of the status cannot lose a field to an apply of the object. */
function entriesOf({ metadata }: KubeObject): readonly Entry[] {
  return (metadata.managedFields ?? []).filter(({ subresource }) => subresource !== 'status');
}

function pathsOf({ fieldsV1 }: Entry): readonly string[] {
  return pathsBelow(treeOf(fieldsV1));
}

function extract(live: unknown, fields: Fields, others: readonly Fields[]): unknown {
  const paths = Object.keys(fields).filter((path) => path !== '.');
  if (paths.length === 0) return leaf(live, fields, others);
  if (paths.some((path) => path.startsWith('f:'))) return extractMap(live, fields, paths, others);
  return extractList(live, fields, paths, others);
}

/** Extracts the end of a path: a scalar, an atomic value that is owned completely, or a map or list applied empty. */
function leaf(live: unknown, fields: Fields, others: readonly Fields[]): unknown {
  if (live === undefined) return null;
  const appliedEmpty = '.' in fields || others.some((other) => Object.keys(other).some((path) => path !== '.'));
  if (!appliedEmpty) return live;
  if (Array.isArray(live)) return [];
  return isRecord(live) ? {} : live;
}

function extractMap(live: unknown, fields: Fields, paths: readonly string[], others: readonly Fields[]): unknown {
  const source: Fields = isRecord(live) ? live : {};
  return Object.fromEntries(
    paths.map((path) => {
      const name = path.slice('f:'.length);
      return [
        name,
        extract(Object.hasOwn(source, name) ? source[name] : undefined, fieldsAt(fields, path), othersAt(others, path)),
      ];
    }),
  );
}

function extractList(live: unknown, fields: Fields, paths: readonly string[], others: readonly Fields[]): unknown {
  const items: readonly unknown[] = Array.isArray(live) ? live : [];
  const owned: unknown[] = [];
  // The live list is in the order in which it was applied.
  for (const [index, item] of items.entries()) {
    const path = paths.find((one) => matchesPath(one, item, index));
    if (path !== undefined) owned.push(extract(item, fieldsAt(fields, path), othersAt(others, path)));
  }
  return owned;
}

/** Returns whether an item of a list is the one that a path element names. */
export function matchesPath(path: string, item: unknown, index: number): boolean {
  const rest = path.slice(2);
  if (path.startsWith('i:')) return Number(rest) === index;
  const value: unknown = JSON.parse(rest);
  if (path.startsWith('v:')) return item === value;
  return isRecord(value) && isRecord(item) && Object.entries(value).every(([name, key]) => item[name] === key);
}

function fieldsAt(fields: Fields, path: string): Fields {
  const inner = fields[path];
  return isRecord(inner) ? inner : {};
}

function othersAt(others: readonly Fields[], path: string): readonly Fields[] {
  return others.flatMap((fields) => (isRecord(fields[path]) ? [fields[path]] : []));
}
