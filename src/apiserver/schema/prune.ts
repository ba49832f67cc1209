// Drops what the schema does not know, and says what it dropped: field validation decides whether that is an error, a warning or
// nobody's business. Nulls that a field may not have go too, so that its default can take their place.
import { isList, isObject, type Json, type JsonObject } from '../json.ts';
import { fieldSchema, keepsUnknown, type Schema } from './schema.ts';

/** A value without unknown fields, and their paths. */
export interface Pruned {
  readonly value: Json;
  readonly unknown: readonly string[];
}

// What every embedded object has, whether its schema says so or not.
const EMBEDDED = ['apiVersion', 'kind', 'metadata'];

/** Prunes a value. A value whose type is wrong is left as it is: validation will say so. */
export function prune(value: Json, schema: Schema, path = ''): Pruned {
  const unknown: string[] = [];
  const walk = (content: Json, below: Schema, at: string): Json => {
    const pruned = prune(content, below, at);
    unknown.push(...pruned.unknown);
    return pruned.value;
  };
  if (isList(value)) {
    const { items } = schema;
    if (items === undefined) return { value, unknown };
    const kept = value.map((item, index) => walk(item, items, `${path}[${index}]`));
    return { value: sameItems(value, kept) ? value : kept, unknown };
  }
  if (!isObject(value)) return { value, unknown };
  const kept: Record<string, Json> = {};
  let changed = false;
  for (const [field, content] of Object.entries(value)) {
    const at = path === '' ? field : `${path}.${field}`;
    const below = fieldSchema(schema, field);
    if (below !== undefined) kept[field] = walk(content, below, at);
    else if (keepsUnknown(schema)) kept[field] = content;
    else if (schema['x-kubernetes-embedded-resource'] === true && EMBEDDED.includes(field)) kept[field] = content;
    else unknown.push(at);
    changed ||= kept[field] !== content;
  }
  return { value: changed ? kept : value, unknown };
}

/** Drops nulls of fields that are not nullable and have no default (structural defaulting's first step). */
export function dropNulls(value: Json, schema: Schema): Json {
  if (isList(value)) {
    const { items } = schema;
    return items === undefined ? value : value.map((item) => dropNulls(item, items));
  }
  if (!isObject(value)) return value;
  const kept: Record<string, Json> = {};
  for (const [field, content] of Object.entries(value)) {
    const below = fieldSchema(schema, field);
    const named = schema.properties !== undefined && Object.hasOwn(schema.properties, field);
    if (content === null && named && below?.nullable !== true && below?.default === undefined) continue;
    kept[field] = below === undefined ? content : dropNulls(content, below);
  }
  return kept;
}

/** Fills in defaults, also where a field is null that may not be. Defaults of what is itself absent are not looked at. */
export function fillDefaults(value: Json, schema: Schema): Json {
  if (isList(value)) {
    const { items } = schema;
    if (items === undefined) return value;
    const filled = value.map((item) => fillDefaults(item === null ? (orDefault(items) ?? null) : item, items));
    return sameItems(value, filled) ? value : filled;
  }
  if (!isObject(value)) return value;
  const filled: Record<string, Json> = { ...value };
  for (const [field, below] of Object.entries(schema.properties ?? {})) {
    if (below.default === undefined) continue;
    const content = filled[field];
    if (content === undefined || (content === null && below.nullable !== true)) filled[field] = below.default;
  }
  for (const [field, content] of Object.entries(filled)) {
    const below = fieldSchema(schema, field);
    if (below !== undefined) filled[field] = fillDefaults(content, below);
  }
  return sameFields(value, filled) ? value : filled;
}

function orDefault(schema: Schema): Json | undefined {
  return schema.nullable === true ? undefined : schema.default;
}

function sameItems(a: readonly Json[], b: readonly Json[]): boolean {
  return a.every((item, index) => item === b[index]);
}

function sameFields(a: JsonObject, b: JsonObject): boolean {
  return Object.keys(b).every((field) => a[field] === b[field]);
}
