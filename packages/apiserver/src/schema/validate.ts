// Validates a custom resource against its schema, with the paths, reasons and messages of kube-apiserver (validation in
// kube-openapi). Unchanged values are not validated again on update (ratcheting), so a stricter schema does not block
// other writes.

import { canonical, isList, isObject, type Json, type JsonObject, sameJson } from '../json.ts';
import { type StatusCause, statusCause } from '../status-error.ts';
import { violatesFormat } from './formats.ts';
import { compilePattern } from './pattern.ts';
import { fieldSchema, type Schema } from './schema.ts';
import { validateNumber } from './validate-number.ts';

/** The path of a value. The field of a cause starts with `root`, the path in its message does not. */
export type ValidationPath = {
  readonly path: string;
  readonly root?: string;
};

/** Returns the causes for a value. `old` is the value before the update. An unchanged value has no causes. */
export function validate(value: Json, old: Json | undefined, schema: Schema, at: ValidationPath): StatusCause[] {
  if (old !== undefined && sameJson(value, old)) return [];
  // kube-openapi checks the type and the enum of null, and no alternatives.
  if (value === null) return [...checkType(value, schema, at), ...checkEnum(value, schema, at)];
  const causes = [...checkType(value, schema, at), ...checkChoices(value, schema, at)];
  if (typeof value === 'string') causes.push(...checkString(value, schema, at));
  if (typeof value === 'number') causes.push(...validateNumber(value, schema, at.path, fieldOf(at)));
  if (isList(value)) causes.push(...checkList(value, old, schema, at));
  causes.push(...checkEnum(value, schema, at));
  if (isObject(value)) causes.push(...checkObject(value, old, schema, at));
  return causes;
}

/** Returns a cause for every duplicate item of a list of type set or map. */
export function checkListKeys(value: Json, schema: Schema, path = ''): StatusCause[] {
  if (isObject(value)) {
    return Object.entries(value).flatMap(([field, content]) => {
      const childPath = fieldSchema(schema, field);
      return childPath === undefined ? [] : checkListKeys(content, childPath, path === '' ? field : `${path}.${field}`);
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
    if (id !== undefined && seen.has(id)) causes.push(statusCause.duplicate(`${path}[${index}]`, id));
    if (id !== undefined) seen.add(id);
  }
  return causes;
}

/** Returns the old item with the same keys, in a list of type map. Other lists have no correlated items. */
export function matchByKey(item: Json, old: readonly Json[], keys: readonly string[] | undefined): Json | undefined {
  if (keys === undefined || !isObject(item)) return undefined;
  return old.find((other) => isObject(other) && keys.every((key) => sameJson(other[key], item[key])));
}

/** Returns the path of a child value. */
function childPath({ path, root }: ValidationPath, step: string): ValidationPath {
  const joined = step.startsWith('[') || path === '' ? `${path}${step}` : `${path}.${step}`;
  return { path: joined, ...(root === undefined ? {} : { root }) };
}

function fieldOf({ path, root }: ValidationPath): string {
  if (root === undefined || root === '') return path;
  return path === '' ? root : `${root}.${path}`;
}

function checkType(value: Json, schema: Schema, at: ValidationPath): StatusCause[] {
  const expected = schema['x-kubernetes-int-or-string'] === true ? 'integer,string' : schema.type;
  const typeCause = (type: string, got: string): StatusCause[] => {
    const shown = JSON.stringify(got);
    return [statusCause.typeInvalid(fieldOf(at), shown, `${at.path} in body must be of type ${type}: ${shown}`)];
  };
  if (expected === undefined) return [];
  const got = typeName(value);
  if (value === null) return schema.nullable === true ? [] : typeCause(expected, got);
  // kube-apiserver names the format of a number, and not its type, if it has one.
  if (got === 'number' && expected === 'integer' && schema.format !== undefined)
    return typeCause(schema.format, 'float64');
  if (expected.split(',').includes(got) || (expected === 'number' && got === 'integer')) {
    return typeof value === 'string' && violatesFormat(value, schema.format)
      ? typeCause(schema.format ?? '', value)
      : [];
  }
  return typeCause(expected, got);
}

function typeName(value: Json): string {
  if (value === null) return 'null';
  if (isList(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

function checkChoices(value: Json, schema: Schema, at: ValidationPath): StatusCause[] {
  const { anyOf, oneOf, not } = schema;
  const causes: StatusCause[] = (schema.allOf ?? []).flatMap((one) => validate(value, undefined, one, at));
  const addCause = (detail: string): void => {
    causes.push(statusCause.invalid('<nil>', '""', `${JSON.stringify(at.path)} must ${detail}`));
  };
  const validateAll = (choices: readonly Schema[]): StatusCause[][] =>
    choices.map((one) => validate(value, undefined, one, at));
  // If no alternative is valid, the causes of the one with the fewest causes are added.
  const nearest = (failures: StatusCause[][]): StatusCause[] =>
    failures.toSorted((a, b) => a.length - b.length)[0] ?? [];
  if (anyOf !== undefined) {
    const failures = validateAll(anyOf);
    if (failures.every(({ length }) => length > 0)) {
      addCause('validate at least one schema (anyOf)');
      causes.push(...nearest(failures));
    }
  }
  if (oneOf !== undefined) {
    const failures = validateAll(oneOf);
    const validCount = failures.filter(({ length }) => length === 0).length;
    if (validCount === 0) {
      addCause('validate one and only one schema (oneOf). Found none valid');
      causes.push(...nearest(failures));
    } else if (validCount > 1) {
      addCause(`validate one and only one schema (oneOf). Found ${validCount} valid alternatives`);
    }
  }
  if (not !== undefined && validate(value, undefined, not, at).length === 0) addCause('not validate the schema (not)');
  return causes;
}

/** Returns a cause with the value as it is shown. */
function invalidInBody(at: ValidationPath, shown: string, detail: string): StatusCause {
  return statusCause.invalid(fieldOf(at), shown, `${at.path} in body ${detail}`);
}

function checkString(value: string, schema: Schema, at: ValidationPath): StatusCause[] {
  const { maxLength, minLength, pattern } = schema;
  const length = [...value].length;
  const shown = JSON.stringify(value);
  if (maxLength !== undefined && length > maxLength)
    return [statusCause.tooLong(fieldOf(at), `may not be more than ${maxLength} bytes`)];
  if (minLength !== undefined && length < minLength)
    return [invalidInBody(at, shown, `should be at least ${minLength} chars long`)];
  if (pattern !== undefined && !compilePattern(pattern).test(value))
    return [invalidInBody(at, shown, `should match '${pattern}'`)];
  return [];
}

function checkEnum(value: Json, schema: Schema, at: ValidationPath): StatusCause[] {
  if (schema.enum === undefined || schema.enum.some((allowed) => sameJson(allowed, value))) return [];
  if (value === null && schema.nullable === true) return [];
  const supported = schema.enum.map((allowed) =>
    JSON.stringify(typeof allowed === 'string' ? allowed : JSON.stringify(allowed)),
  );
  return [statusCause.notSupported(fieldOf(at), JSON.stringify(value), supported)];
}

function checkList(value: readonly Json[], old: Json | undefined, schema: Schema, at: ValidationPath): StatusCause[] {
  const { minItems, maxItems, items, uniqueItems } = schema;
  const causes: StatusCause[] = [];
  if (items !== undefined) {
    const previous = isList(old) ? old : [];
    const keys = schema['x-kubernetes-list-type'] === 'map' ? (schema['x-kubernetes-list-map-keys'] ?? []) : undefined;
    for (const [index, item] of value.entries()) {
      causes.push(...validate(item, matchByKey(item, previous, keys), items, childPath(at, `[${index}]`)));
    }
  }
  if (minItems !== undefined && value.length < minItems)
    causes.push(invalidInBody(at, String(value.length), `should have at least ${minItems} items`));
  if (maxItems !== undefined && value.length > maxItems)
    causes.push(statusCause.tooMany(fieldOf(at), value.length, maxItems));
  const isDuplicate = (item: Json, index: number) => value.findIndex((other) => sameJson(item, other)) !== index;
  if (uniqueItems === true && value.some(isDuplicate))
    causes.push(invalidInBody(at, '""', "shouldn't contain duplicates"));
  return causes;
}

function checkObject(value: JsonObject, old: Json | undefined, schema: Schema, at: ValidationPath): StatusCause[] {
  const { minProperties, maxProperties, required = [] } = schema;
  const causes: StatusCause[] = [];
  const count = Object.keys(value).length;
  if (minProperties !== undefined && count < minProperties)
    causes.push(invalidInBody(at, String(count), `should have at least ${minProperties} properties`));
  if (maxProperties !== undefined && count > maxProperties)
    causes.push(statusCause.tooMany(fieldOf(at), count, maxProperties));
  for (const name of required) {
    if (!Object.hasOwn(value, name)) causes.push(statusCause.required(fieldOf(childPath(at, name))));
  }
  const previous = isObject(old) ? old : {};
  for (const [name, content] of Object.entries(value)) {
    const schemaOfField = fieldSchema(schema, name);
    if (schemaOfField === undefined) continue;
    causes.push(...validate(content, previous[name], schemaOfField, childPath(at, name)));
  }
  return causes;
}
