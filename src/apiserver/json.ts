// JSON as the API server sees it: every value is immutable once it is stored, so these helpers read and copy, never change.
// They look at shapes the schema has already checked; what is not there reads as undefined.

/** Any JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

/** A JSON object. */
export interface JsonObject {
  readonly [field: string]: Json;
}

/** Tells whether a value is a JSON object. */
export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Tells whether a value is a JSON array. */
export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

/** Returns the value below `path`, or undefined where the path leads nowhere. */
export function at(value: Json | undefined, ...path: readonly string[]): Json | undefined {
  let found = value;
  for (const field of path) {
    if (!isObject(found) || !Object.hasOwn(found, field)) return undefined;
    found = found[field];
  }
  return found;
}

/** Returns the object below `path`, or an empty one. */
export function objectAt(value: Json | undefined, ...path: readonly string[]): JsonObject {
  const found = at(value, ...path);
  return isObject(found) ? found : {};
}

/** Returns the list below `path`, or an empty one. */
export function listAt(value: Json | undefined, ...path: readonly string[]): readonly Json[] {
  const found = at(value, ...path);
  return isList(found) ? found : [];
}

/** Returns the string below `path`, or ''. */
export function textAt(value: Json | undefined, ...path: readonly string[]): string {
  const found = at(value, ...path);
  return typeof found === 'string' ? found : '';
}

/** Returns the number below `path`, or undefined. */
export function numberAt(value: Json | undefined, ...path: readonly string[]): number | undefined {
  const found = at(value, ...path);
  return typeof found === 'number' ? found : undefined;
}

/** Returns a copy with one field set, or removed where `value` is undefined. */
export function withField(object: JsonObject, field: string, value: Json | undefined): JsonObject {
  if (value === undefined) return without(object, field);
  return { ...object, [field]: value };
}

/** Returns a copy with the value below `path` replaced; objects on the way are made where they are missing. */
export function withPath(object: JsonObject, path: readonly string[], value: Json | undefined): JsonObject {
  const [field, ...rest] = path;
  if (field === undefined) return object;
  if (rest.length === 0) return withField(object, field, value);
  return { ...object, [field]: withPath(objectAt(object, field), rest, value) };
}

/** Returns a copy without some fields. */
export function without(object: JsonObject, ...fields: readonly string[]): JsonObject {
  if (!fields.some((field) => Object.hasOwn(object, field))) return object;
  return Object.fromEntries(Object.entries(object).filter(([field]) => !fields.includes(field)));
}

/** Tells whether two values are the same JSON, whatever the order of their fields. */
export function sameJson(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (isList(a)) return isList(b) && a.length === b.length && a.every((item, index) => sameJson(item, b[index]));
  if (!isObject(a) || !isObject(b)) return false;
  const fields = Object.keys(a);
  return (
    fields.length === Object.keys(b).length &&
    fields.every((field) => Object.hasOwn(b, field) && sameJson(a[field], b[field]))
  );
}

/** Returns one text for every JSON that `sameJson` calls the same: fields are in order. */
export function canonical(value: Json): string {
  if (isList(value)) return `[${value.map(canonical).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const fields = Object.keys(value).sort();
  return `{${fields.map((field) => `${JSON.stringify(field)}:${canonical(value[field] ?? null)}`).join(',')}}`;
}

/** Reads JSON text; throws a SyntaxError. This is the edge where bytes become JSON, so nothing else has to doubt it. */
export function parseJson(text: string): Json {
  return JSON.parse(text);
}
