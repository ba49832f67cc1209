// JSON values and functions that read and copy them. Stored values are immutable, so none of these functions changes
// its arguments. The schema has checked the types before, so a field that is absent or has another type reads as
// absent.

/** Any JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

/** A JSON object. */
export interface JsonObject {
  readonly [field: string]: Json;
}

/** Returns whether a value is a JSON object. */
export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns whether a value is a JSON array. */
export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

/** Returns a field of an object, or undefined. It is never one of Object.prototype, such as `constructor`. */
export function ownField(object: JsonObject, field: string): Json | undefined {
  return Object.hasOwn(object, field) ? object[field] : undefined;
}

/** Returns the value at `path`, or undefined. */
export function getIn(value: Json | undefined, ...path: readonly string[]): Json | undefined {
  let found = value;
  for (const field of path) found = isObject(found) ? ownField(found, field) : undefined;
  return found;
}

/** Returns the object at `path`, or an empty one. */
export function getMap(value: Json | undefined, ...path: readonly string[]): JsonObject {
  const found = getIn(value, ...path);
  return isObject(found) ? found : {};
}

/** Returns the list at `path`, or an empty one. */
export function getList(value: Json | undefined, ...path: readonly string[]): readonly Json[] {
  const found = getIn(value, ...path);
  return isList(found) ? found : [];
}

/** Returns the results of a function for the items of a list. An item that is no object counts as an empty one. */
export function mapObjects(list: Json | undefined, change: (item: JsonObject) => JsonObject): JsonObject[] {
  return getList(list).map((item) => change(getMap(item)));
}

/** Returns the string at `path`, or ''. */
export function getString(value: Json | undefined, ...path: readonly string[]): string {
  const found = getIn(value, ...path);
  return typeof found === 'string' ? found : '';
}

/** Returns the number at `path`, or undefined. */
export function getNumber(value: Json | undefined, ...path: readonly string[]): number | undefined {
  const found = getIn(value, ...path);
  return typeof found === 'number' ? found : undefined;
}

/** Sets a field of an object that is made. An assignment to `__proto__` would change the prototype instead. */
export function setField(object: Record<string, Json>, field: string, value: Json): void {
  if (field !== '__proto__') object[field] = value;
  else Object.defineProperty(object, field, { value, configurable: true, enumerable: true, writable: true });
}

/** Returns a copy with one field set, or removed if `value` is undefined. */
export function withField(object: JsonObject, field: string, value: Json | undefined): JsonObject {
  if (value === undefined) return omitFields(object, field);
  return { ...object, [field]: value };
}

/** Returns a copy with the value at `path` replaced. Missing parent objects are created. */
export function withPath(object: JsonObject, path: readonly string[], value: Json | undefined): JsonObject {
  const [field, ...rest] = path;
  if (field === undefined) return object;
  if (rest.length === 0) return withField(object, field, value);
  return { ...object, [field]: withPath(getMap(object, field), rest, value) };
}

/** Returns a copy without some fields. */
export function omitFields(object: JsonObject, ...fields: readonly string[]): JsonObject {
  if (!fields.some((field) => Object.hasOwn(object, field))) return object;
  return Object.fromEntries(Object.entries(object).filter(([field]) => !fields.includes(field)));
}

/** Returns whether two values are the same JSON. The order of fields does not count. */
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

/** Returns JSON text with sorted fields. Values that are equal by `sameJson` have equal texts. */
export function canonical(value: Json): string {
  if (isList(value)) return `[${value.map(canonical).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const fields = Object.keys(value).sort();
  return `{${fields.map((field) => `${JSON.stringify(field)}:${canonical(value[field] ?? null)}`).join(',')}}`;
}

/** Formats a value as Go's %v does. */
export function goValue(value: Json): string {
  if (isList(value)) return `[${value.map(goValue).join(' ')}]`;
  if (!isObject(value)) return String(value ?? '<nil>');
  const fields = Object.keys(value).sort();
  return `map[${fields.map((field) => `${field}:${goValue(value[field] ?? null)}`).join(' ')}]`;
}

/** Half a character as an escape. A whole one is two of them; what is after two backslashes is text. */
const halfCharacter = /(\\\\|\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2})|\\u[dD][89a-fA-F][\da-fA-F]{2}/g;

/**
 * Parses JSON text. Half a character becomes U+FFFD, as in Go. Throws a SyntaxError. JSON.parse returns `any`, and this
 * function gives the result a type.
 */
export function parseJsonValue(text: string): Json {
  return JSON.parse(
    /\\u[dD]/.test(text) ? text.replaceAll(halfCharacter, (_, kept?: string) => kept ?? '\ufffd') : text,
  );
}
