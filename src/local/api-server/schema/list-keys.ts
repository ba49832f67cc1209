// Lists that are sets or maps must not say the same thing twice.
import { canonical, isList, isObject, type Json } from '../../../apiserver/json.ts';
import { type Cause, cause } from '../../../apiserver/status-error.ts';
import { fieldSchema, type Schema } from '../../../apiserver/schema/schema.ts';

/** Returns a cause for every item of a set or list-map that repeats another. */
export function checkListKeys(value: Json, schema: Schema, path = ''): Cause[] {
  if (isObject(value)) {
    return Object.entries(value).flatMap(([field, content]) => {
      const below = fieldSchema(schema, field);
      return below === undefined ? [] : checkListKeys(content, below, path === '' ? field : `${path}.${field}`);
    });
  }
  if (!isList(value)) return [];
  const causes = value.flatMap((item, index) => checkListKeys(item, schema.items ?? {}, `${path}[${index}]`));
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const identity = (item: Json): string | undefined => {
    if (schema['x-kubernetes-list-type'] === 'set') return canonical(item);
    if (schema['x-kubernetes-list-type'] !== 'map' || !isObject(item)) return undefined;
    return canonical(
      Object.fromEntries(keys.filter((key) => item[key] !== undefined).map((key) => [key, item[key] ?? null])),
    );
  };
  const seen = new Set<string>();
  for (const [index, item] of value.entries()) {
    const id = identity(item);
    if (id !== undefined && seen.has(id)) causes.push(cause.duplicate(`${path}[${index}]`, id));
    if (id !== undefined) seen.add(id);
  }
  return causes;
}
