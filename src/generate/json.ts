// What generated files are made of before they are text.

/** A JSON value; a field that is undefined is left out of the text. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json | undefined };
export type JsonObject = { readonly [name: string]: Json | undefined };

/** Tells whether a JSON value is an object. */
export function isJsonObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
