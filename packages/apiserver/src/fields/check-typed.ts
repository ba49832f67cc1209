// Checks an applied configuration against the schema. Apply is stricter than other writes: unknown fields and duplicate
// keys have no owner, so they fail regardless of the field validation.
import { goValue, isList, isObject, type Json } from '../json.ts';
import { anythingSchema, fieldSchema, keepsUnknown, type Schema } from '../schema/schema.ts';
import { formatElement } from './field-set.ts';
import { fieldShape } from './shape.ts';

/**
 * Returns the type errors of a value, with paths and messages of structured-merge-diff (typed/validate.go). A schema
 * that preserves unknown fields preserves them also below its known fields (schemaconv of kube-openapi).
 */
export function checkTyped(value: Json, schema: Schema, path = '', preserves = false): string[] {
  if (value === null) return [];
  const error = typeError(value, schema);
  if (error !== undefined) return [`${path}: ${error}`];
  const keeps = preserves || keepsUnknown(schema);
  if (isObject(value)) {
    return Object.entries(value).flatMap(([field, content]) => {
      const below = fieldSchema(schema, field);
      if (below !== undefined) return checkTyped(content, below, `${path}.${field}`, keeps);
      return keeps ? [] : [`${path}.${field}: field not declared in schema`];
    });
  }
  return isList(value) ? checkItems(value, schema, path, keeps) : [];
}

function checkItems(value: readonly Json[], schema: Schema, path: string, keeps: boolean): string[] {
  const shape = fieldShape(value, schema);
  const seen = new Set<string>();
  const errors: string[] = [];
  for (const [index, item] of value.entries()) {
    let element = `i:${index}`;
    if (shape.is === 'items') {
      try {
        element = shape.element(item);
      } catch (error) {
        if (!(error instanceof TypeError)) throw error;
        return [...errors, `${path}: element ${index}: ${error.message}`];
      }
      if (seen.has(element)) errors.push(`${path}: duplicate entries for key ${formatElement(element)}`);
      seen.add(element);
    }
    errors.push(...checkTyped(item, schema.items ?? anythingSchema, `${path}${formatElement(element)}`, keeps));
  }
  return errors;
}

function typeError(value: Json, schema: Schema): string | undefined {
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
