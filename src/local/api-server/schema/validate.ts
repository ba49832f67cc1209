// Validates a custom resource against its schema, with the paths, reasons and words of kube-apiserver (kube-openapi's
// validation). What an update leaves as it was is not judged again, so that a tightened schema does not block every write.
import { isList, isObject, type Json, type JsonObject, sameJson } from '../../../apiserver/json.ts';
import { type Cause, cause } from '../../../apiserver/status-error.ts';
import { breaksFormat } from './formats.ts';
import { fieldSchema, type Schema } from '../../../apiserver/schema/schema.ts';
import { validateNumber } from '../../../apiserver/schema/validate-number.ts';

/** Where validation stands: the path in the causes begins with `root`, the name in their words does not. */
export interface Place {
  readonly path: string;
  readonly root?: string;
}

/** Returns what is wrong with a value. `old` is the value it replaces: where both are the same, nothing is said. */
export function validate(value: Json, old: Json | undefined, schema: Schema, place: Place): Cause[] {
  if (old !== undefined && sameJson(value, old)) return [];
  const causes = [...checkType(value, schema, place), ...checkChoices(value, schema, place)];
  if (typeof value === 'string') causes.push(...checkString(value, schema, place));
  if (typeof value === 'number') causes.push(...validateNumber(value, schema, place.path, fieldOf(place)));
  if (isList(value)) causes.push(...checkList(value, old, schema, place));
  causes.push(...checkEnum(value, schema, place));
  if (isObject(value)) causes.push(...checkObject(value, old, schema, place));
  return causes;
}

/** Returns a place below another. */
function below({ path, root }: Place, step: string): Place {
  const joined = step.startsWith('[') || path === '' ? `${path}${step}` : `${path}.${step}`;
  return { path: joined, ...(root === undefined ? {} : { root }) };
}

function fieldOf({ path, root }: Place): string {
  if (root === undefined || root === '') return path;
  return path === '' ? root : `${root}.${path}`;
}

function checkType(value: Json, schema: Schema, place: Place): Cause[] {
  const expected = schema['x-kubernetes-int-or-string'] === true ? 'integer,string' : schema.type;
  const wrong = (type: string, got: string): Cause[] => [
    cause.typeInvalid(
      fieldOf(place),
      JSON.stringify(got),
      `${place.path} in body must be of type ${type}: ${JSON.stringify(got)}`,
    ),
  ];
  if (expected === undefined) return [];
  const got = typeName(value);
  if (value === null) return schema.nullable === true ? [] : wrong(expected, got);
  // Go knows a number with a format by its machine type.
  if (got === 'number' && expected === 'integer' && schema.format !== undefined) return wrong(schema.format, 'float64');
  if (expected.split(',').includes(got) || (expected === 'number' && got === 'integer')) {
    return typeof value === 'string' && breaksFormat(value, schema.format) ? wrong(schema.format ?? '', value) : [];
  }
  return wrong(expected, got);
}

function typeName(value: Json): string {
  if (value === null) return 'null';
  if (isList(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

function checkChoices(value: Json, schema: Schema, place: Place): Cause[] {
  const { anyOf, oneOf, not } = schema;
  const causes: Cause[] = (schema.allOf ?? []).flatMap((one) => validate(value, undefined, one, place));
  const said = (detail: string): void => {
    causes.push(cause.invalid('<nil>', '""', `${quotedPath(place)} must ${detail}`));
  };
  const tried = (choices: readonly Schema[]): Cause[][] => choices.map((one) => validate(value, undefined, one, place));
  // Where none fits, what is wrong with the nearest one is told too.
  const nearest = (failures: Cause[][]): Cause[] => failures.toSorted((a, b) => a.length - b.length)[0] ?? [];
  if (anyOf !== undefined) {
    const failures = tried(anyOf);
    if (failures.every(({ length }) => length > 0)) {
      said('validate at least one schema (anyOf)');
      causes.push(...nearest(failures));
    }
  }
  if (oneOf !== undefined) {
    const failures = tried(oneOf);
    const fitting = failures.filter(({ length }) => length === 0).length;
    if (fitting === 0) {
      said('validate one and only one schema (oneOf). Found none valid');
      causes.push(...nearest(failures));
    } else if (fitting > 1) {
      said(`validate one and only one schema (oneOf). Found ${fitting} valid alternatives`);
    }
  }
  if (not !== undefined && validate(value, undefined, not, place).length === 0) said('not validate the schema (not)');
  return causes;
}

function quotedPath({ path }: Place): string {
  return JSON.stringify(path);
}

function checkString(value: string, schema: Schema, place: Place): Cause[] {
  const { maxLength, minLength, pattern } = schema;
  const length = [...value].length;
  const field = fieldOf(place);
  const shown = JSON.stringify(value);
  if (maxLength !== undefined && length > maxLength) {
    return [cause.tooLong(field, `may not be more than ${maxLength} bytes`)];
  }
  if (minLength !== undefined && length < minLength) {
    return [cause.invalid(field, shown, `${place.path} in body should be at least ${minLength} chars long`)];
  }
  if (pattern !== undefined && !compiled(pattern).test(value)) {
    return [cause.invalid(field, shown, `${place.path} in body should match '${pattern}'`)];
  }
  return [];
}

/** Go's and JavaScript's expressions differ in corners; where JavaScript is stricter in Unicode mode, it is asked without. */
function compiled(pattern: string): RegExp {
  try {
    return new RegExp(pattern, 'u');
  } catch {
    return new RegExp(pattern);
  }
}

function checkEnum(value: Json, schema: Schema, place: Place): Cause[] {
  if (schema.enum === undefined || schema.enum.some((allowed) => sameJson(allowed, value))) return [];
  if (value === null && schema.nullable === true) return [];
  const supported = schema.enum.map((allowed) =>
    JSON.stringify(typeof allowed === 'string' ? allowed : JSON.stringify(allowed)),
  );
  return [cause.notSupported(fieldOf(place), JSON.stringify(value), supported)];
}

function checkList(value: readonly Json[], old: Json | undefined, schema: Schema, place: Place): Cause[] {
  const { minItems, maxItems, items, uniqueItems } = schema;
  const causes: Cause[] = [];
  const field = fieldOf(place);
  if (items !== undefined) {
    const previous = isList(old) ? old : [];
    const keys = schema['x-kubernetes-list-type'] === 'map' ? (schema['x-kubernetes-list-map-keys'] ?? []) : undefined;
    for (const [index, item] of value.entries()) {
      causes.push(...validate(item, correlated(item, previous, keys), items, below(place, `[${index}]`)));
    }
  }
  if (minItems !== undefined && value.length < minItems) {
    causes.push(
      cause.invalid(field, String(value.length), `${place.path} in body should have at least ${minItems} items`),
    );
  }
  if (maxItems !== undefined && value.length > maxItems) causes.push(cause.tooMany(field, value.length, maxItems));
  if (
    uniqueItems === true &&
    value.some((item, index) => value.findIndex((other) => sameJson(item, other)) !== index)
  ) {
    causes.push(cause.invalid(field, '""', `${place.path} in body shouldn't contain duplicates`));
  }
  return causes;
}

/** Returns the item that an item replaces: that of the same keys in a list-map, else none that could be told. */
export function correlated(item: Json, old: readonly Json[], keys: readonly string[] | undefined): Json | undefined {
  if (keys === undefined || !isObject(item)) return undefined;
  return old.find((other) => isObject(other) && keys.every((key) => sameJson(other[key], item[key])));
}

function checkObject(value: JsonObject, old: Json | undefined, schema: Schema, place: Place): Cause[] {
  const { minProperties, maxProperties, required = [] } = schema;
  const causes: Cause[] = [];
  const field = fieldOf(place);
  const count = Object.keys(value).length;
  if (minProperties !== undefined && count < minProperties) {
    causes.push(
      cause.invalid(field, String(count), `${place.path} in body should have at least ${minProperties} properties`),
    );
  }
  if (maxProperties !== undefined && count > maxProperties) causes.push(cause.tooMany(field, count, maxProperties));
  for (const name of required) {
    if (!Object.hasOwn(value, name)) causes.push(cause.required(fieldOf(below(place, name))));
  }
  const previous = isObject(old) ? old : {};
  for (const [name, content] of Object.entries(value)) {
    const schemaOfField = fieldSchema(schema, name);
    if (schemaOfField === undefined) continue;
    causes.push(...validate(content, previous[name], schemaOfField, below(place, name)));
  }
  return causes;
}
