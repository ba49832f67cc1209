// Converts a zod schema to a structural OpenAPI schema (Kubernetes: "Specifying a structural schema"), from zod's own
// JSON schema. Keywords that apiextensions does not support are removed, and keywords with another meaning there are
// replaced.

import { missingInGo } from '@outrigger/apiserver/schema/pattern';
import * as z from 'zod';
import { preserveKey, rulesKey } from '../../api/rule.ts';
import { SchemaError } from '../../core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { checksOf, isUrl, rejectUnsupported } from './unsupported.ts';

/**
 * Makes the structural schema of a zod object. A field with a default is optional. Throws SchemaError with the field.
 */
export function structuralSchema(schema: z.ZodObject, path: string): JsonObject {
  rejectUnsupported(schema, path);
  return structural(toJsonSchema(schema), path);
}

const json: z.ZodType<Json> = z.lazy(() =>
  z.union([z.string(), z.number(), z.boolean(), z.null(), z.array(json), z.record(z.string(), json)]),
);
const jsonObject = z.record(z.string(), json);

/** Returns zod's JSON schema of the input, before defaults. */
function toJsonSchema(schema: z.ZodType): JsonObject {
  const written = z.toJSONSchema(schema, {
    io: 'input',
    target: 'openapi-3.0',
    override: ({ zodSchema, jsonSchema }) => {
      // Zod has the format of the last check, which is none for a pattern.
      if (checksOf(zodSchema).some(isUrl)) jsonSchema.format = 'uri';
    },
  });
  return jsonObject.parse(written);
}

/** Keywords that are allowed at any level of a structural schema, and have the same meaning in zod and Kubernetes. */
const kept = [
  'description',
  'type',
  'nullable',
  'default',
  'enum',
  'minimum',
  'exclusiveMinimum',
  'maximum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
  'required',
] as const;

function structural(source: JsonObject, path: string): JsonObject {
  const { type, properties, items, additionalProperties } = source;
  const preserves = source[preserveKey] === true || isOpen(source);
  return defined({
    // The API server drops a null, such as a default: a tool that compares the files would see a difference for ever.
    ...Object.fromEntries(kept.map((name) => [name, source[name] ?? undefined])),
    ...(type === 'integer' || type === 'number' ? numberOf(source, path) : {}),
    ...(type === 'integer' ? integerOf(source) : {}),
    ...(type === 'string' ? stringOf(source, path) : {}),
    ...Object.fromEntries(Object.entries(source).filter(([name]) => name.startsWith('x-kubernetes-'))),
    ...(source['x-kubernetes-int-or-string'] === true ? intOrStringOf(source, path) : {}),
    ...(source.nullable === true && Array.isArray(source.enum) ? enumRule(source, source.enum, 'null', path) : {}),
    ...(preserves ? { [preserveKey]: true } : {}),
    ...(isJsonObject(properties)
      ? {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, below]) => [name, structural(asObject(below), `${path}.${name}`)]),
          ),
        }
      : {}),
    ...(type === 'array' ? { items: structural(asObject(items), `${path}[]`) } : {}),
    ...(!preserves && isJsonObject(additionalProperties)
      ? { additionalProperties: structural(additionalProperties, `${path}{}`) }
      : {}),
  });
}

/**
 * With x-kubernetes-int-or-string a branch may only have a type. Keywords next to the branches apply to values of their
 * type. Choices and rules would apply to both types, so they become rules that say for which they are.
 */
function intOrStringOf(source: JsonObject, path: string): JsonObject {
  const branches = (Array.isArray(source.anyOf) ? source.anyOf : []).map((one) => structural(asObject(one), path));
  const types = branches.map(({ type }) => type);
  if (types.toSorted().join() !== 'integer,string') {
    throw new SchemaError(path, `an int-or-string has one integer and one string, not ${types.join(' and ')}`);
  }
  const ruled = branches.map((branch) =>
    Array.isArray(branch.enum) ? { ...branch, ...enumRule(branch, branch.enum, 'an integer', path) } : branch,
  );
  const rules = ruled.flatMap((branch) => {
    const other = branch.type === 'string' ? 'int' : 'string';
    return rulesIn(branch).map((one) => ({ ...one, rule: `type(self) == ${other} || (${String(one.rule)})` }));
  });
  return {
    ...Object.assign({}, ...ruled, { type: undefined, format: undefined }),
    [rulesKey]: rules.length === 0 ? source[rulesKey] : [...rulesIn(source), ...rules],
    anyOf: [{ type: 'integer' }, { type: 'string' }],
  };
}

/**
 * Returns the choices of a string as a rule, for an enum next to another value. The API server rejects null for an
 * enum, also if it is nullable or has null as a value [seen on 1.36]. It skips rules for null.
 */
function enumRule(source: JsonObject, choices: readonly Json[], other: string, path: string): JsonObject {
  const words = choices.filter((choice) => typeof choice === 'string');
  if (words.length < choices.length) throw new SchemaError(path, 'an enum of numbers cannot be null');
  const message = `must be ${other} or one of ${words.join(', ')}`;
  return {
    enum: undefined,
    maxLength: Math.max(...words.map((word) => word.length)),
    [rulesKey]: [...rulesIn(source), { rule: `self in ${JSON.stringify(words)}`, message }],
  };
}

function rulesIn({ [rulesKey]: rules }: JsonObject): readonly JsonObject[] {
  return Array.isArray(rules) ? rules.filter(isJsonObject) : [];
}

/** `z.looseObject()` preserves unknown fields. */
function isOpen({ properties, additionalProperties }: JsonObject): boolean {
  return (
    properties !== undefined && isJsonObject(additionalProperties) && Object.keys(additionalProperties).length === 0
  );
}

/**
 * Writes the bounds so that they hold for whole numbers as well. The API server cuts off the fraction of a bound before
 * it compares an integer: with a minimum of 0.5 it accepts 0, and below 1.5 it refuses 1. [seen on 1.36]
 */
function numberOf({ type, minimum, maximum, multipleOf, ...source }: JsonObject, path: string): JsonObject {
  if (multipleOf !== undefined && !Number.isInteger(multipleOf))
    throw new SchemaError(
      path,
      'a multipleOf with a fraction cannot become a structural schema; use z.int() of a unit',
    );
  // Negated, a maximum is a minimum.
  const lower = lowerBound(minimum, source.exclusiveMinimum, type, path);
  const upper = lowerBound(negated(maximum), source.exclusiveMaximum, type, path);
  return {
    minimum: lower?.bound,
    exclusiveMinimum: lower?.isOpen,
    maximum: negated(upper?.bound),
    exclusiveMaximum: upper?.isOpen,
  };
}

function lowerBound(bound: Json | undefined, exclusive: Json | undefined, type: Json | undefined, path: string) {
  // The bounds of z.float64(), beyond which there is no number.
  if (typeof bound !== 'number' || bound === -Number.MAX_VALUE) return undefined;
  // As an integer it would be another number.
  if (Math.abs(bound) >= 2 ** 63)
    throw new SchemaError(path, 'with a bound of 2^63 or more the API server refuses every integer; leave it out');
  const isOpen = exclusive === true;
  if (Number.isInteger(bound)) return { bound, isOpen: isOpen || undefined };
  if (type === 'integer') return { bound: Math.ceil(bound), isOpen: undefined };
  // Without its fraction a positive bound is one below the first integer, and a negative one is that integer.
  if (bound > 0) return { bound: isOpen ? bound : neighbour(bound, -1), isOpen: true };
  return { bound: isOpen ? neighbour(bound, 1) : bound, isOpen: undefined };
}

function negated(bound: Json | undefined): number | undefined {
  return typeof bound === 'number' ? 0 - bound : undefined;
}

/** Returns the next number above (1) or below (-1). */
function neighbour(value: number, direction: 1 | -1): number {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  // The bits of numbers of one sign are in the order of their sizes.
  view.setBigInt64(0, view.getBigInt64(0) + BigInt(direction * Math.sign(value)));
  return view.getFloat64(0);
}

/**
 * Adds the format, which has the number of bits for clients. The bounds of JavaScript's safe integers stay: a number
 * beyond them would be read as another one.
 */
function integerOf({ minimum, maximum }: JsonObject): JsonObject {
  const isSmall = (bound: Json | undefined) => typeof bound === 'number' && bound >= -(2 ** 31) && bound < 2 ** 31;
  return { format: isSmall(minimum) && isSmall(maximum) ? 'int32' : 'int64' };
}

/**
 * Formats of kube-openapi that accept what zod accepts; its patterns stay next to them. Of the others, `hostname`
 * refuses `db-host-1`, `email` and `mac` refuse what a pattern of one's own accepts, and `duration` is Go's.
 */
const checkedFormats = ['date', 'date-time', 'ipv4', 'ipv6', 'uri', 'uuid'];
const sourceOf = (schema: z.ZodType) => String(toJsonSchema(schema).pattern);
/** By format: zod's pattern, and what of it the format does not check. The whole pattern lengthens the message. */
const shortPatterns = [
  { format: 'date', pattern: sourceOf(z.iso.date()), short: [] },
  { format: 'date-time', pattern: sourceOf(z.iso.datetime()), short: ['^.{10}T[0-9:.]+Z$'] },
  {
    format: 'date-time',
    pattern: sourceOf(z.iso.datetime({ offset: true })),
    short: ['^.{10}T[0-9:.]+(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$'],
  },
];
/** Go's uri may have no scheme. */
const schemePattern = '^[A-Za-z][A-Za-z0-9+.-]*:';
const hostPattern = sourceOf(z.hostname());
/** Zod has the length of a host in a lookahead. It allows a dot after 253 characters. */
const maxHostLength = 253;

/** The format and patterns of a string. */
function stringOf({ format, pattern, allOf, maxLength }: JsonObject, path: string): JsonObject {
  const checked = typeof format === 'string' && checkedFormats.includes(format) ? format : undefined;
  // For several patterns zod makes one schema each; they may not have a type.
  const several = Array.isArray(allOf) ? allOf.map((one) => asObject(one).pattern) : [];
  const given = [pattern, ...several].filter((one) => typeof one === 'string');
  const inGo = given.flatMap((one) => {
    const known = shortPatterns.find((short) => short.format === checked && short.pattern === one);
    return known?.short ?? checkedPattern(one === hostPattern ? one.replace(/\(\?=.*?\$\)/, '') : one, path);
  });
  const patterns = [...(checked === 'uri' ? [schemePattern] : []), ...inGo];
  return {
    format: checked,
    ...(given.includes(hostPattern)
      ? { maxLength: Math.min(maxHostLength, typeof maxLength === 'number' ? maxLength : maxHostLength) }
      : {}),
    ...(patterns.length > 1 ? { allOf: patterns.map((one) => ({ pattern: one })) } : { pattern: patterns[0] }),
  };
}

function asObject(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function defined(schema: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(schema).filter(([, value]) => value !== undefined));
}

/** Rejects a pattern that is not valid in the API server, with the field's path. Throws SchemaError. */
function checkedPattern(pattern: string, path: string): string {
  const missing = missingInGo(pattern);
  if (missing !== undefined) throw new SchemaError(path, `Go's regular expressions have no ${missing}: ${pattern}`);
  return pattern;
}
