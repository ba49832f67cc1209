// The parts of a value that can have separate owners. The schema defines whether a list is a map, a set or atomic, and
// whether a map is granular or atomic. Without a schema, maps are granular and lists are atomic, as in kube-apiserver.
import { canonical, isList, isObject, type Json, type JsonObject } from '../json.ts';
import { anythingSchema, fieldSchema, type Schema } from '../schema/schema.ts';

/** A list whose items have separate owners. */
export type ItemsShape = {
  readonly is: 'items';
  readonly items: readonly Json[];
  readonly schema: Schema;
  /** Returns the path element of an item. Throws a TypeError for an item without keys. */
  element(item: Json): string;
};

/** The parts of a value that can have separate owners: fields, items, or none. */
export type FieldShape =
  | { readonly is: 'fields'; readonly fields: JsonObject }
  | ItemsShape
  | { readonly is: 'leaf'; readonly value: Json };

/** Returns the parts of a value. */
export function fieldShape(value: Json, schema: Schema): FieldShape {
  if (isObject(value) && schema['x-kubernetes-map-type'] !== 'atomic') return { is: 'fields', fields: value };
  if (!isList(value)) return { is: 'leaf', value };
  const items = schema.items ?? anythingSchema;
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

/** Returns whether a value is an empty list or map. */
export function isEmptyValue(value: Json): boolean {
  return isList(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0;
}

/** Returns the schema of a field. An unknown field accepts every value. */
export function schemaBelow(schema: Schema, field: string): Schema {
  return fieldSchema(schema, field) ?? anythingSchema;
}

/** Returns whether a field is listed in the `properties` of the schema. */
export function isNamed(schema: Schema, field: string): boolean {
  return schema.properties !== undefined && Object.hasOwn(schema.properties, field);
}

/** A required key of a built-in type has Go's zero value as default, which the published schemas here leave out. */
function zeroKey({ typeName, required = [], properties = {} }: Schema, key: string): Json | undefined {
  if (typeName === undefined || !required.includes(key)) return undefined;
  return properties[key]?.type === 'integer' ? 0 : '';
}

function keyElement(item: Json, keys: readonly string[], schema: Schema): string {
  if (!isObject(item)) throw new TypeError('associative list may not have non-map types');
  const found: Record<string, Json> = {};
  for (const key of keys) {
    const value = Object.hasOwn(item, key) ? item[key] : (schema.properties?.[key]?.default ?? zeroKey(schema, key));
    if (value === undefined) continue;
    found[key] = value;
  }
  if (Object.keys(found).length === 0 && keys.length > 0) {
    const names = keys.map((key) => `"${key}"`).join(', ');
    throw new TypeError(
      `associative list with keys has an element that omits all key fields [${names}] (and doesn't have ` +
        'default values for any key fields)',
    );
  }
  return `k:${canonical(found)}`;
}
