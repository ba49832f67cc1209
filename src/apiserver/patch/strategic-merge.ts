// Strategic merge patch, as kubectl's apply, edit, label and scale send it for built-in kinds: lists with a merge key merge by
// it, plain lists of a merging field are sets, `$patch`, `$deleteFromPrimitiveList`, `$setElementOrder` and `$retainKeys` direct.
import { isList, isObject, type Json, sameJson } from '../json.ts';
import { ANYTHING, fieldSchema, type Schema } from '../schema/schema.ts';

const DELETE_ITEMS = '$deleteFromPrimitiveList/';
const ORDER = '$setElementOrder/';
const RETAIN = '$retainKeys';

/** Returns `target` with a strategic merge patch applied. */
export function strategicMerge(target: Json | undefined, patch: Json, schema: Schema): Json {
  if (!isObject(patch)) return patch;
  const { $patch, ...changes } = patch;
  if ($patch === 'replace') return changes;
  if ($patch === 'delete') return {};
  const merged: Record<string, Json> = isObject(target) ? { ...target } : {};
  const retained = changes[RETAIN];
  if (isList(retained)) {
    for (const field of Object.keys(merged)) if (!retained.includes(field)) delete merged[field];
  }
  for (const [field, value] of Object.entries(changes)) {
    if (field === RETAIN || field.startsWith(ORDER)) continue;
    if (field.startsWith(DELETE_ITEMS)) {
      const name = field.slice(DELETE_ITEMS.length);
      merged[name] = items(merged[name]).filter((item) => !items(value).some((gone) => sameJson(gone, item)));
      continue;
    }
    if (value === null) {
      delete merged[field];
      continue;
    }
    const below = fieldSchema(schema, field) ?? ANYTHING;
    if (isList(value)) merged[field] = mergeList(items(merged[field]), value, below, changes[`${ORDER}${field}`]);
    else merged[field] = strategicMerge(merged[field], value, below);
  }
  for (const [directive, order] of Object.entries(changes)) {
    const name = directive.slice(ORDER.length);
    if (!directive.startsWith(ORDER) || changes[name] !== undefined || !isList(merged[name])) continue;
    const key = mergeKey(fieldSchema(schema, name));
    merged[name] = arranged(items(merged[name]), items(order), items(merged[name]), key);
  }
  return merged;
}

function mergeKey(schema: Schema | undefined): string | undefined {
  return schema?.['x-kubernetes-patch-merge-key'];
}

function mergeList(
  target: readonly Json[],
  patch: readonly Json[],
  schema: Schema,
  order: Json | undefined,
): readonly Json[] {
  const key = mergeKey(schema);
  if (key === undefined) {
    if (schema['x-kubernetes-list-type'] !== 'set') return patch;
    const added = patch.filter((item) => !target.some((known) => sameJson(known, item)));
    return arranged([...target, ...added], items(order ?? patch), target, undefined);
  }
  const changes = patch.filter(isObject);
  if (changes.some(({ $patch }) => $patch === 'replace')) return changes.filter(({ $patch }) => $patch !== 'replace');
  const merged: Json[] = [...target];
  for (const change of changes) {
    const index = merged.findIndex((item) => isObject(item) && sameJson(item[key], change[key]));
    if (change.$patch === 'delete') {
      if (index >= 0) merged.splice(index, 1);
    } else if (index >= 0) merged[index] = strategicMerge(merged[index], change, schema.items ?? ANYTHING);
    else merged.push(strategicMerge({}, change, schema.items ?? ANYTHING));
  }
  return arranged(merged, items(order ?? patch), target, key);
}

/**
 * Puts items into the order a patch names, or has itself; those it does not name keep their places among those that were there
 * before (strategicpatch's normalizeElementOrder and mergeSortedSlice).
 */
function arranged(
  merged: readonly Json[],
  order: readonly Json[],
  before: readonly Json[],
  key: string | undefined,
): readonly Json[] {
  const same = (a: Json, b: Json): boolean =>
    key === undefined ? sameJson(a, b) : sameJson(field(a, key), field(b, key));
  const place = (list: readonly Json[], item: Json): number => list.findIndex((other) => same(other, item));
  const named = merged.filter((item) => place(order, item) >= 0).toSorted((a, b) => place(order, a) - place(order, b));
  const others = merged.filter((item) => place(order, item) < 0);
  const out: Json[] = [];
  let next = 0;
  for (const item of named) {
    const at = place(before, item);
    for (let other = others[next]; at >= 0 && other !== undefined && place(before, other) < at; other = others[next]) {
      out.push(other);
      next++;
    }
    out.push(item);
  }
  return [...out, ...others.slice(next)];
}

function field(item: Json, key: string): Json | undefined {
  return isObject(item) ? item[key] : undefined;
}

function items(value: Json | undefined): readonly Json[] {
  return isList(value) ? value : [];
}
