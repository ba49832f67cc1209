// What has to be removed from an object before an apply, because the apply alone does not end where it says. A JSON
// patch removes it from all of its managers, also in an item of a keyed list, and makes no entry in managedFields. What
// another manager applies stays.
import { isRecord } from '../../core/json.ts';
import type { KubeClient } from '../client/client.ts';
import { type KubeObject, parseWritten } from '../client/object.ts';
import { valueAtStep } from './field-tree.ts';
import { matchesPath, ownEntry } from './managed-fields.ts';

/** The manager whose fields are applied, in the object itself or through a subresource. */
type Owner = { readonly fieldManager: string; readonly subresource?: string };

/**
 * Returns the JSON pointers of what a manager owns in maps and lists that are desired empty. Most times there is
 * nothing. The server removes what the manager applied before, and makes null of a map or list of a custom kind that
 * is empty afterwards, also when it is applied as empty: `{}` is refused ("must be of type object"), and of `[]`
 * nothing is left [tried on kube-apiserver 1.36.3]. Without its content it is stored as applied.
 */
export function emptiedFields(desired: unknown, object: KubeObject, owner: Owner): readonly string[] {
  return emptiedBelow(placeOf(object, owner), desired);
}

/**
 * Returns the JSON pointers of what a manager owns, does not desire any more, and another manager owns by an `Update`:
 * the server would keep it.
 */
export function heldFields(desired: unknown, object: KubeObject, owner: Owner): readonly string[] {
  return heldBelow(placeOf(object, owner), desired);
}

/**
 * Removes parts of an object or of its status. The error is isConflict if the object changed since the read.
 * @param path of the API, of the object or its status
 */
export async function removeFields(
  client: KubeClient,
  path: string,
  { uid, resourceVersion }: KubeObject['metadata'],
  pointers: readonly string[],
  { fieldManager, signal }: { readonly fieldManager: string; readonly signal?: AbortSignal | undefined },
): Promise<KubeObject> {
  // The last item of a list first: a removal moves those behind it.
  const collator = new Intl.Collator('en', { numeric: true });
  const last = [...new Set(pointers)].sort((a, b) => collator.compare(b, a));
  const { body } = await client.request({
    method: 'PATCH',
    path,
    query: { fieldManager },
    contentType: 'application/json-patch+json',
    body: [
      { op: 'replace', path: '/metadata/resourceVersion', value: resourceVersion },
      ...last.map((pointer) => ({ op: 'remove', path: pointer })),
    ],
    signal,
  });
  return parseWritten(body, `PATCH ${path}`, uid);
}

/** A part of the live object, and what the managers own in it. */
type Place = {
  readonly pointer: string;
  readonly live: unknown;
  readonly ours: unknown;
  /** Of the others, by their last operation. */
  readonly updated: readonly unknown[];
  readonly applied: readonly unknown[];
};

/** A part that the manager owns, or owns something in, by the element of its path in managedFields. */
type Part = Place & { readonly path: string };

function placeOf(object: KubeObject, { fieldManager, subresource }: Owner): Place {
  const entry = ownEntry(object, fieldManager, subresource);
  const others = (object.metadata.managedFields ?? []).filter((one) => one !== entry);
  const fieldsOf = (operation: string) =>
    others.filter((one) => one.operation === operation).map((one) => one.fieldsV1);
  return {
    pointer: '',
    live: object,
    ours: entry?.fieldsV1,
    updated: fieldsOf('Update'),
    applied: fieldsOf('Apply'),
  };
}

function emptiedBelow(place: Place, desired: unknown): readonly string[] {
  const parts = ownedParts(place);
  if (isEmpty(desired)) return parts.flatMap(removable);
  return parts.flatMap((part) => emptiedBelow(part, valueAtStep(desired, part.path)));
}

/** Returns the part itself, or what the manager owns in a map in which another one owns more. */
function removable(part: Part): readonly string[] {
  return isRemovable(part) ? [part.pointer] : ownedParts(part).flatMap(removable);
}

/** An item goes as a whole: what another manager has updated in it is nothing without its key. */
function isRemovable(part: Part): boolean {
  if (part.applied.length > 0) return false;
  if (!part.path.startsWith('f:')) return true;
  const items = ownedParts(part);
  const hasMore = Array.isArray(part.live) && items.length > 0 && items.length < part.live.length;
  return !hasMore && part.updated.every((fields) => isWithin(fields, part.ours));
}

function heldBelow(place: Place, desired: unknown): readonly string[] {
  return ownedParts(place).flatMap((part) => {
    const wanted = valueAtStep(desired, part.path);
    const isHeld = wanted === undefined && part.updated.length > 0;
    return isHeld && isRemovable(part) ? [part.pointer] : heldBelow(part, wanted);
  });
}

function ownedParts({ pointer, live, ours, updated, applied }: Place): readonly Part[] {
  if (!isRecord(ours)) return [];
  const part = (name: string, value: unknown, path: string): Part => ({
    path,
    pointer: `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`,
    live: value,
    ours: ours[path],
    updated: fieldsAt(updated, path),
    applied: fieldsAt(applied, path),
  });
  if (isRecord(live)) {
    const names = Object.keys(live).filter((name) => Object.hasOwn(ours, `f:${name}`));
    return names.map((name) => part(name, live[name], `f:${name}`));
  }
  if (!Array.isArray(live)) return [];
  const paths = Object.keys(ours).filter((path) => path !== '.' && !path.startsWith('f:'));
  return live.flatMap((item: unknown, index) => {
    const path = paths.find((one) => matchesPath(one, item, index));
    return path === undefined ? [] : [part(String(index), item, path)];
  });
}

function fieldsAt(entries: readonly unknown[], path: string): readonly unknown[] {
  return entries.flatMap((fields) => (isRecord(fields) && Object.hasOwn(fields, path) ? [fields[path]] : []));
}

function isWithin(theirs: unknown, ours: unknown): boolean {
  const paths = isRecord(theirs) ? Object.keys(theirs).filter((path) => path !== '.') : [];
  return paths.every((path) => {
    const [inner] = fieldsAt([ours], path);
    return inner !== undefined && fieldsAt([theirs], path).every((fields) => isWithin(fields, inner));
  });
}

function isEmpty(desired: unknown): boolean {
  if (Array.isArray(desired)) return desired.length === 0;
  return isRecord(desired) && Object.keys(desired).length === 0;
}
