// Strategic merge patch, which kubectl apply, edit, label and scale send for built-in kinds. Lists with a merge key
// merge by that key, lists of scalars with a merge strategy are sets. The directives are `$patch`,
// `$deleteFromPrimitiveList`, `$setElementOrder` and `$retainKeys`.
import { goValue, isList, isObject, type Json, type JsonObject, ownField, sameJson, setField } from '../json.ts';
import { anythingSchema, fieldSchema, type Schema } from '../schema/schema.ts';
import { StatusError } from '../status-error.ts';

const deleteItemsDirective = '$deleteFromPrimitiveList/';
const orderDirective = '$setElementOrder/';
const retainDirective = '$retainKeys';

/** Returns `target` with a strategic merge patch applied. */
export function strategicMerge(target: Json | undefined, patch: Json, schema: Schema): Json {
  if (!isObject(patch)) return patch;
  const { $patch, ...changes } = patch;
  if ($patch === 'replace') return changes;
  if ($patch === 'delete') return {};
  if ($patch !== undefined) throw unknownDirective(patch);
  const merged: Record<string, Json> = isObject(target) ? { ...target } : {};
  const retained = changes[retainDirective];
  if (isList(retained)) {
    for (const field of Object.keys(merged)) if (!retained.includes(field)) delete merged[field];
  }
  for (const [field, value] of Object.entries(changes)) {
    if (field === retainDirective || field.startsWith(orderDirective)) continue;
    if (field.startsWith(deleteItemsDirective)) {
      const name = field.slice(deleteItemsDirective.length);
      merged[name] = items(merged[name]).filter((item) => !items(value).some((removed) => sameJson(removed, item)));
      continue;
    }
    if (value === null) {
      delete merged[field];
      continue;
    }
    const schemaOfField = fieldSchema(schema, field) ?? anythingSchema;
    const before = ownField(merged, field);
    if (isList(value)) {
      const key = mergeKey(schemaOfField);
      // The items of a list that the object does not have are not merged, so they need no key.
      const given = isList(before) ? value : value.filter((item) => !isDirective(item));
      if (key !== undefined && isList(before)) requireKeys([...before, ...value], key);
      merged[field] = mergeList(items(before), given, schemaOfField, changes[`${orderDirective}${field}`]);
    } else if (isObject(before)) setField(merged, field, strategicMerge(before, value, schemaOfField));
    else if (isDirective(value)) delete merged[field];
    else setField(merged, field, strategicMerge({}, value, schemaOfField));
  }
  for (const [directive, order] of Object.entries(changes)) {
    const name = directive.slice(orderDirective.length);
    if (!directive.startsWith(orderDirective) || changes[name] !== undefined || !isList(merged[name])) continue;
    const key = mergeKey(fieldSchema(schema, name));
    merged[name] = orderItems(items(merged[name]), items(order), items(merged[name]), key);
  }
  return merged;
}

/** Returns whether a value is a directive. Where there is nothing to change it is dropped, whatever it says. */
function isDirective(value: Json): boolean {
  return isObject(value) && value.$patch !== undefined;
}

/** Throws a 500 StatusError for an item of a merged list that has no key, unless it replaces the list. */
function requireKeys(list: readonly Json[], key: string): void {
  for (const item of list.filter(isObject)) {
    const { $patch } = item;
    if ($patch === 'replace') continue;
    if ($patch !== undefined && $patch !== 'delete') throw unknownDirective(item);
    if (Object.hasOwn(item, key)) continue;
    throw new StatusError(500, '', `map: ${goValue(item)} does not contain declared merge key: ${key}`);
  }
}

function unknownDirective(item: JsonObject): StatusError {
  const { $patch = null } = item;
  return new StatusError(500, '', `unknown patch type: ${goValue($patch)} in map: ${goValue(item)}`);
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
    return orderItems([...target, ...added], items(order ?? patch), target, undefined);
  }
  const changes = patch.filter(isObject);
  if (changes.some(({ $patch }) => $patch === 'replace')) return changes.filter(({ $patch }) => $patch !== 'replace');
  const merged: Json[] = [...target];
  for (const change of changes) {
    const index = merged.findIndex((item) => isObject(item) && sameJson(item[key], change[key]));
    if (change.$patch === 'delete') {
      if (index >= 0) merged.splice(index, 1);
    } else if (index >= 0) merged[index] = strategicMerge(merged[index], change, schema.items ?? anythingSchema);
    else merged.push(strategicMerge({}, change, schema.items ?? anythingSchema));
  }
  return orderItems(merged, items(order ?? patch), target, key);
}

/**
 * Returns the items in the order of `order`, which is the directive or the patch itself. Other items keep their
 * positions relative to the items before the patch (normalizeElementOrder and mergeSortedSlice of strategicpatch).
 */
function orderItems(
  merged: readonly Json[],
  order: readonly Json[],
  before: readonly Json[],
  key: string | undefined,
): readonly Json[] {
  const same = (a: Json, b: Json): boolean =>
    key === undefined ? sameJson(a, b) : sameJson(field(a, key), field(b, key));
  const indexIn = (list: readonly Json[], item: Json): number => list.findIndex((other) => same(other, item));
  const named = merged
    .filter((item) => indexIn(order, item) >= 0)
    .toSorted((a, b) => indexIn(order, a) - indexIn(order, b));
  const others = merged.filter((item) => indexIn(order, item) < 0);
  const out: Json[] = [];
  let next = 0;
  for (const item of named) {
    const at = indexIn(before, item);
    for (
      let other = others[next];
      at >= 0 && other !== undefined && indexIn(before, other) < at;
      other = others[next]
    ) {
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
