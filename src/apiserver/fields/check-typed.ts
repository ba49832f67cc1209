// Whether an applied configuration fits the schema at all. Apply is stricter than other writes: a field it cannot place it
// cannot own, so unknown fields and doubled keys fail whatever the field validation.
import { isList, isObject, type Json } from '../json.ts';
import { fieldSchema, keepsUnknown, type Schema } from '../schema/schema.ts';
import { readable } from './field-set.ts';
import { shapeOf } from './shape.ts';

/** Returns what does not fit, each with its path, worded as structured-merge-diff does (typed/validate.go). */
export function checkTyped(value: Json, schema: Schema, path = ''): string[] {
  if (value === null) return [];
  const wrong = typeProblem(value, schema);
  if (wrong !== undefined) return [`${path}: ${wrong}`];
  if (isObject(value)) {
    return Object.entries(value).flatMap(([field, content]) => {
      const below = fieldSchema(schema, field);
      if (below !== undefined) return checkTyped(content, below, `${path}.${field}`);
      return keepsUnknown(schema) ? [] : [`${path}.${field}: field not declared in schema`];
    });
  }
  return isList(value) ? checkItems(value, schema, path) : [];
}

function checkItems(value: readonly Json[], schema: Schema, path: string): string[] {
  const shape = shapeOf(value, schema);
  const seen = new Set<string>();
  const problems: string[] = [];
  for (const [index, item] of value.entries()) {
    let element = `i:${index}`;
    if (shape.is === 'items') {
      try {
        element = shape.element(item);
      } catch (error) {
        if (!(error instanceof TypeError)) throw error;
        return [...problems, `${path}: element ${index}: ${error.message}`];
      }
      if (seen.has(element)) problems.push(`${path}: duplicate entries for key ${readable(element)}`);
      seen.add(element);
    }
    problems.push(...checkTyped(item, schema.items ?? {}, `${path}${readable(element)}`));
  }
  return problems;
}

function typeProblem(value: Json, schema: Schema): string | undefined {
  if (schema['x-kubernetes-int-or-string'] === true || schema.type === undefined) return undefined;
  switch (schema.type) {
    case 'object':
      return isObject(value) ? undefined : `expected map, got &{${goValue(value)}}`;
    case 'array':
      return isList(value) ? undefined : `expected list, got &{${goValue(value)}}`;
    case 'string':
      return typeof value === 'string'
        ? undefined
        : `expected string, got &value.valueUnstructured{Value:${goValue(value)}}`;
    case 'boolean':
      return typeof value === 'boolean' ? undefined : `expected boolean, got &{${goValue(value)}}`;
    default:
      return typeof value === 'number' ? undefined : `expected numeric (int or float), got ${goType(value)}`;
  }
}

function goType(value: Json): string {
  if (typeof value === 'string') return 'string';
  if (typeof value === 'boolean') return 'bool';
  return isList(value) ? '[]interface {}' : 'map[string]interface {}';
}

/** Prints a value as Go's %v does. */
function goValue(value: Json): string {
  if (isList(value)) return `[${value.map(goValue).join(' ')}]`;
  if (!isObject(value)) return String(value);
  return `map[${Object.entries(value)
    .map(([field, content]) => `${field}:${goValue(content)}`)
    .join(' ')}]`;
}
