// Pruning and defaulting of custom resources. Unknown fields are dropped and reported. The request's `fieldValidation`
// decides whether they are an error, a warning, or ignored. Nulls of fields that are not nullable are dropped, so
// defaults apply.
import { isList, isObject, type Json, type JsonObject, ownField, setField } from '../json.ts';
import { fieldSchema, keepsUnknown, type Schema } from './schema.ts';

/** A value without its unknown fields, and their paths. */
export type Pruned = {
  readonly value: Json;
  readonly unknown: readonly string[];
};

// Every embedded object has these fields, even if its schema does not list them.
const embeddedFields = ['apiVersion', 'kind', 'metadata'];

/** Prunes a value. A value of the wrong type is returned unchanged, because validation rejects it later. */
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
    const isEmbedded = schema['x-kubernetes-embedded-resource'] === true && embeddedFields.includes(field);
    if (below === undefined && !keepsUnknown(schema) && !isEmbedded) {
      unknown.push(at);
      changed = true;
      continue;
    }
    const walked = below === undefined ? content : walk(content, below, at);
    setField(kept, field, walked);
    changed ||= walked !== content;
  }
  return { value: changed ? kept : value, unknown };
}

/** Drops nulls of fields that are not nullable and have no default (the first step of structural defaulting). */
export function dropNulls(value: Json, schema: Schema): Json {
  if (isList(value)) {
    const { items } = schema;
    return items === undefined ? value : value.map((item) => dropNulls(item, items));
  }
  if (!isObject(value)) return value;
  const kept: Record<string, Json> = {};
  for (const [field, content] of Object.entries(value)) {
    const below = fieldSchema(schema, field);
    if (content === null && below !== undefined && below.nullable !== true && below.default === undefined) {
      if (!keepsUnknown(below)) continue;
    }
    setField(kept, field, below === undefined ? content : dropNulls(content, below));
  }
  return kept;
}

/**
 * Fills in defaults, also for nulls of fields that are not nullable. An absent object without a default stays absent,
 * with the defaults of its fields.
 */
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
    const content = ownField(filled, field);
    if (content === undefined || (content === null && below.nullable !== true)) setField(filled, field, below.default);
  }
  for (const [field, content] of Object.entries(filled)) {
    const below = fieldSchema(schema, field);
    if (below !== undefined) setField(filled, field, fillDefaults(content, below));
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
