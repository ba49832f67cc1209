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
    merged[field] = isList(value)
      ? mergeList(items(merged[field]), value, below)
      : strategicMerge(merged[field], value, below);
  }
  for (const [field, order] of Object.entries(changes)) {
    const name = field.slice(ORDER.length);
    const below = fieldSchema(schema, name);
    if (field.startsWith(ORDER) && isList(merged[name]))
      merged[name] = inOrder(items(merged[name]), items(order), mergeKey(below));
  }
  return merged;
}

function mergeKey(schema: Schema | undefined): string | undefined {
  return schema?.['x-kubernetes-patch-merge-key'];
}

function mergeList(target: readonly Json[], patch: readonly Json[], schema: Schema): readonly Json[] {
  const key = mergeKey(schema);
  if (key === undefined) {
    if (schema['x-kubernetes-list-type'] !== 'set') return patch;
    return [...target, ...patch.filter((item) => !target.some((known) => sameJson(known, item)))];
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
  return merged;
}

/** Puts the items that an order names into that order; the others keep their places after them. */
function inOrder(list: readonly Json[], order: readonly Json[], key: string | undefined): readonly Json[] {
  const rank = (item: Json): number => {
    const index = order.findIndex((wanted) =>
      key === undefined ? sameJson(wanted, item) : sameJson(field(wanted, key), field(item, key)),
    );
    return index < 0 ? order.length : index;
  };
  return list.toSorted((a, b) => rank(a) - rank(b));
}

function field(item: Json, key: string): Json | undefined {
  return isObject(item) ? item[key] : undefined;
}

function items(value: Json | undefined): readonly Json[] {
  return isList(value) ? value : [];
}
