// How a value divides into fields that can be owned one by one: the schema says whether a list is a map, a set or one value,
// and whether a map is granular. What a schema does not know is granular in maps and atomic in lists, as in kube-apiserver.
import { canonical, isList, isObject, type Json, type JsonObject } from '../json.ts';
import { ANYTHING, fieldSchema, type Schema } from '../schema/schema.ts';

/** A list of which each item is owned on its own. */
export interface ItemsShape {
  readonly is: 'items';
  readonly items: readonly Json[];
  readonly schema: Schema;
  /** Returns an item's path element; throws a TypeError when it has none. */
  element(item: Json): string;
}

/** A value as the owners of fields see it. */
export type Shape =
  | { readonly is: 'fields'; readonly fields: JsonObject }
  | ItemsShape
  | { readonly is: 'leaf'; readonly value: Json };

/** Returns how a value divides. */
export function shapeOf(value: Json, schema: Schema): Shape {
  if (isObject(value) && schema['x-kubernetes-map-type'] !== 'atomic') return { is: 'fields', fields: value };
  if (!isList(value)) return { is: 'leaf', value };
  const items = schema.items ?? ANYTHING;
  switch (schema['x-kubernetes-list-type']) {
    case 'set':
      return { is: 'items', items: value, schema: items, element: (item) => `v:${canonical(item)}` };
    case 'map': {
      const keys = schema['x-kubernetes-list-map-keys'] ?? [];
      return { is: 'items', items: value, schema: items, element: (item) => keyElement(item, keys, items) };
    }
    default:
      return { is: 'leaf', value };
  }
}

/** Tells whether a value is an empty list or map, which has no fields of its own to compare. */
export function isHollow(value: Json): boolean {
  return isList(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0;
}

/** Returns the schema below a field; a field that is not in the schema may be anything. */
export function schemaBelow(schema: Schema, field: string): Schema {
  return fieldSchema(schema, field) ?? ANYTHING;
}

/** Tells whether the schema names a field, rather than accepting any. */
export function isNamed(schema: Schema, field: string): boolean {
  return schema.properties !== undefined && Object.hasOwn(schema.properties, field);
}

function keyElement(item: Json, keys: readonly string[], schema: Schema): string {
  if (!isObject(item)) throw new TypeError('associative list may not have non-map types');
  const found: Record<string, Json> = {};
  for (const key of keys) {
    const value = item[key] ?? schema.properties?.[key]?.default;
    if (value === undefined) continue;
    found[key] = value;
  }
  if (Object.keys(found).length === 0 && keys.length > 0) {
    const names = keys.map((key) => `"${key}"`).join(', ');
    throw new TypeError(
      `associative list with keys has an element that omits all key fields [${names}] (and doesn't have default values for any key fields)`,
    );
  }
  return `k:${canonical(found)}`;
}
