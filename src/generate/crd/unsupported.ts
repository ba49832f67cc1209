// Rejects schemas that a CRD cannot express before anything is generated, with the field's path: the API server would
// not enforce a check that only zod has. A construct that is not known to be supported is rejected.

import { hasGoMeaning, propertiesOf } from '@outrigger/apiserver/schema/pattern';
import * as z from 'zod';
import { preserveKey, rulesOf } from '../../api/rule.ts';
import { SchemaError, toError } from '../../core/errors.ts';
import { formatZodIssues } from '../../core/json.ts';

/** Rejects constructs that a structural schema cannot express, at any depth. Throws SchemaError. */
export function rejectUnsupported(
  schema: z.core.$ZodType,
  path: string,
  above: ReadonlySet<unknown> = new Set(),
): void {
  if (above.has(schema)) throw new SchemaError(path, 'a recursive schema cannot become a structural schema');
  rejectChecks(schema, path);
  const inside = new Set([...above, schema]);
  for (const [name, below] of schemasBelow(schema, path)) rejectUnsupported(below, `${path}${name}`, inside);
}

const constructNames: ReadonlyMap<string, string> = new Map([
  ['transform', 'a transform (the text can, which reconcile converts)'],
  ['pipe', 'a transform (the text can, which reconcile converts)'],
  [
    'union',
    'a union (optional fields with withRule can; a number or a string, with x-kubernetes-int-or-string in its meta)',
  ],
  ['intersection', 'an intersection'],
  ['date', 'a Date (z.iso.datetime() can)'],
  ['map', 'a Map (z.record() can)'],
  ['set', 'a Set (an array with x-kubernetes-list-type set can)'],
  ['tuple', 'a tuple (an object can)'],
  ['any', `any value (unless its meta says ${preserveKey})`],
  ['unknown', `an unknown value (unless its meta says ${preserveKey})`],
  ['bigint', 'a bigint (z.int() can)'],
  ['custom', 'a custom check'],
  ['catch', 'a catch'],
  ['template_literal', 'a template literal (z.string().regex() can)'],
]);

/** Returns the schemas inside a schema, each with its part of the path. */
function schemasBelow(schema: z.core.$ZodType, path: string): readonly (readonly [string, z.core.$ZodType])[] {
  const cannot = (what: string) => new SchemaError(path, `${what} cannot become a structural schema`);
  const meta = z.globalRegistry.get(schema) ?? {};
  if ('id' in meta)
    throw new SchemaError(path, 'a schema with an id in its meta becomes a reference; leave the id out');

  if (schema instanceof z.ZodObject) {
    const { catchall } = schema._zod.def;
    if (catchall !== undefined && !['never', 'unknown'].includes(catchall._zod.def.type)) throw cannot('a catchall');
    const shape: Readonly<Record<string, z.core.$ZodType>> = schema.shape;
    // Zod would read the inherited one where the object has none.
    const inherited = Object.keys(shape).find((name) => name in Object.prototype);
    if (inherited !== undefined)
      throw new SchemaError(path, `${inherited} is a member of every JavaScript object; use another name`);
    return Object.entries(shape).map(([name, below]) => [`.${name}`, below] as const);
  }
  if (schema instanceof z.ZodArray) return [['[]', schema.element]];
  if (schema instanceof z.ZodRecord) {
    const { def } = schema.keyType._zod;
    if (def.type !== 'string' || 'format' in def || (def.checks ?? []).length > 0) throw cannot('a rule on keys');
    return [['{}', schema.valueType]];
  }
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault) {
    // Zod calls a default's function at each access.
    const [first, second] = [schema._zod.def.defaultValue, schema._zod.def.defaultValue];
    if (JSON.stringify(first) !== JSON.stringify(second)) throw cannot('a default that changes');
    // The API server refuses the CRD ("structural defaults"), and zod does not check a default.
    const problem = problemOf(schema.unwrap(), first);
    if (problem !== undefined)
      throw new SchemaError(path, `the default ${JSON.stringify(first)} is not valid: ${problem}`);
    return [['', schema.unwrap()]];
  }
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodExactOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodReadonly ||
    schema instanceof z.ZodNonOptional ||
    schema instanceof z.ZodLazy
  ) {
    return [['', schema.unwrap()]];
  }
  if (schema instanceof z.ZodLiteral) {
    const kinds = new Set([...schema.values].map((value) => typeof value));
    if (kinds.size === 1 && ['string', 'number', 'boolean'].some((kind) => new Set<string>(kinds).has(kind))) return [];
    throw cannot('a literal that is not of one plain type');
  }
  if (schema instanceof z.ZodEnum && new Set(schema.options.map((value) => typeof value)).size > 1)
    throw cannot('an enum of numbers and texts');
  const { type } = schema._zod.def;
  if (['string', 'number', 'int', 'boolean', 'enum'].includes(type)) return [];
  if (['any', 'unknown'].includes(type) && preserveKey in meta) return [];
  if (schema instanceof z.ZodUnion && 'x-kubernetes-int-or-string' in meta) {
    return schema.options.map((option) => ['', option] as const);
  }
  throw cannot(constructNames.get(type) ?? `${type} (zod)`);
}

/** A refinement that throws, or is asynchronous, makes the parse throw. */
function problemOf(schema: z.core.$ZodType, value: unknown): string | undefined {
  try {
    const { error } = z.safeParse(schema, value);
    return error === undefined ? undefined : formatZodIssues(error);
  } catch (error) {
    return toError(error).message;
  }
}

/** The checks that have a keyword, by the type of their schema. Rules are counted. */
const expressedChecks: Readonly<Record<string, readonly string[]>> = {
  string: ['string_format', 'min_length', 'max_length', 'length_equals'],
  number: ['number_format', 'greater_than', 'less_than', 'multiple_of'],
  array: ['min_length', 'max_length', 'length_equals'],
};

function rejectChecks(schema: z.core.$ZodType, path: string): void {
  const checks = checksOf(schema);
  const rules = schema instanceof z.ZodType ? rulesOf(schema).length : 0;
  if (checks.filter(({ check }) => check === 'custom').length > rules) {
    throw new SchemaError(path, 'a refinement needs a CEL rule (withRule) to hold in the API server');
  }
  if (checks.some(({ check }) => check === 'overwrite')) {
    throw new SchemaError(path, 'a transform cannot become a structural schema');
  }
  const { type } = schema._zod.def;
  const known = ['custom', 'describe', 'meta', ...(expressedChecks[type] ?? [])];
  const odd = checks.find(({ check }) => !known.includes(check));
  if (odd !== undefined)
    throw new SchemaError(path, `the check ${odd.check} of ${type} cannot become a structural schema`);
  if (checks.filter(({ check }) => check === 'multiple_of').length > 1) {
    throw new SchemaError(path, 'two multipleOf cannot become a structural schema');
  }
  for (const check of checks) rejectFormat(check, path);
}

/** Rejects a format that is more than its pattern, and a pattern with flags. */
function rejectFormat(check: CheckDef, path: string): void {
  const pattern = 'pattern' in check && check.pattern instanceof RegExp ? check.pattern : undefined;
  if (isUrl(check)) {
    if ('protocol' in check || 'hostname' in check || 'normalize' in check) {
      throw new SchemaError(path, 'a URL with options cannot become a structural schema (z.url().regex() can)');
    }
  } else if (
    check.check === 'string_format' &&
    (pattern === undefined || ['credit_card', 'iban'].includes(String(check.format)))
  ) {
    throw new SchemaError(
      path,
      `the format ${String(check.format)} cannot become a structural schema (z.string().regex() can)`,
    );
  }
  if (pattern !== undefined && /[imsvy]/.test(pattern.flags))
    throw new SchemaError(path, `the flag ${pattern.flags} of a pattern cannot become a structural schema`);
  if (pattern !== undefined && !pattern.unicode && propertiesOf(pattern.source).length > 0)
    throw new SchemaError(path, `the pattern ${String(pattern)} needs the flag u for \\p`);
  if (pattern !== undefined && !hasGoMeaning(pattern.source)) {
    const other = String.raw`\A, \z, \a, \Q, \pL, \x{41}, \400 and [[:alpha:]]`;
    throw new SchemaError(path, `JavaScript's regular expressions have no ${other}, as Go's have: ${pattern.source}`);
  }
}

type CheckDef = { readonly check: string; readonly format?: unknown };

/** Returns whether a check is that of `z.url()`. */
export function isUrl({ check, format }: CheckDef): boolean {
  return check === 'string_format' && format === 'url';
}

/** Returns the checks of a schema. A schema such as `z.url()` is a check itself. */
export function checksOf(schema: z.core.$ZodType): readonly CheckDef[] {
  const { def } = schema._zod;
  const own =
    'check' in def && typeof def.check === 'string' && def.type !== 'custom' ? [{ ...def, check: def.check }] : [];
  return [...own, ...(def.checks ?? []).map(({ _zod }) => _zod.def)];
}
