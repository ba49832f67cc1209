// JSON values: their types, type guards, a parser that does not throw, and the text of a schema's validation errors.
import type * as z from 'zod';

/** A JSON value. A field that is undefined is left out of the text. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json | undefined };
export type JsonObject = { readonly [name: string]: Json | undefined };

/** Returns whether a value is an object, and neither null nor an array. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns whether a JSON value is an object. */
export function isJsonObject(value: Json | undefined): value is JsonObject {
  return isRecord(value);
}

/**
 * Parses JSON. Returns undefined for invalid JSON: the parser's error would quote the text, which may be a credential.
 */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Options to parse with a schema of ours, which are small. zod compiles a schema at its first parse, which takes
 * milliseconds of a function's first reconcile, and saves at most microseconds of each later one.
 */
export const uncompiled = { jitless: true };

/** Formats validation errors as `path: message; path: message`. Each path starts with `root` if it is given. */
export function formatZodIssues({ issues }: Pick<z.ZodError, 'issues'>, root?: string): string {
  return issues
    .map(({ path, message }) => {
      const full = [...(root === undefined ? [] : [root]), ...path.map(String)].join('.');
      return full === '' ? message : `${full}: ${message}`;
    })
    .join('; ');
}
