// From a zod schema to a structural OpenAPI schema (Kubernetes: "specifying a structural schema"), and what cannot become
// one is refused by its path. Zod's own JSON schema is the base; what apiextensions does not take is taken out.
import * as z from 'zod';
import { rulesKey, rulesOf } from '../core/rule.ts';

/** A JSON value. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json | undefined };
export type JsonObject = { readonly [name: string]: Json | undefined };

/** A schema that no CRD can hold, named by the field's path. */
export class SchemaError extends Error {
  override readonly name = 'SchemaError';
}

/** Makes the structural schema of a zod object. Throws SchemaError. */
export function structuralSchema(schema: z.ZodObject, path: string): JsonObject {
  refuse(schema, path, new Set());
  const drawn: unknown = z.toJSONSchema(schema, { io: 'input', target: 'openapi-3.0' });
  return structural(jsonObject.parse(drawn), path);
}

const json: z.ZodType<Json> = z.lazy(() =>
  z.union([z.string(), z.number(), z.boolean(), z.null(), z.array(json), z.record(z.string(), json)]),
);
const jsonObject = z.record(z.string(), json);

/** What no structural schema can say, or what zod would check and the API server would not. */
function refuse(schema: z.core.$ZodType, path: string, above: ReadonlySet<unknown>): void {
  if (above.has(schema)) throw new SchemaError(`${path}: a recursive schema cannot become a structural schema`);
  const inside = new Set([...above, schema]);
  const { def } = schema._zod;
  const type: string = def.type;
  if (refusedTypes.has(type)) {
    throw new SchemaError(`${path}: ${refusedTypes.get(type)} cannot become a structural schema`);
  }
  refuseRefinements(schema, path);
  for (const [name, below] of partsOf(schema)) refuse(below, `${path}${name}`, inside);
}

const refusedTypes: ReadonlyMap<string, string> = new Map([
  ['transform', 'a transform'],
  ['pipe', 'a transform'],
  ['union', 'a union'],
  ['intersection', 'an intersection'],
  ['date', 'a Date (use z.iso.datetime())'],
  ['map', 'a Map'],
  ['set', 'a Set'],
  ['tuple', 'a tuple'],
  ['any', 'any value'],
  ['unknown', 'an unknown value'],
  ['bigint', 'a bigint'],
  ['symbol', 'a symbol'],
  ['undefined', 'undefined'],
  ['void', 'void'],
  ['never', 'never'],
  ['nan', 'NaN'],
  ['file', 'a file'],
  ['promise', 'a promise'],
  ['function', 'a function'],
  ['custom', 'a custom check'],
  ['catch', 'a catch'],
  ['success', 'a success'],
  ['template_literal', 'a template literal'],
]);

function refuseRefinements(schema: z.core.$ZodType, path: string): void {
  const checks = schema._zod.def.checks ?? [];
  const custom = checks.filter(({ _zod: { def } }) => def.check === 'custom').length;
  const rules = schema instanceof z.ZodType ? rulesOf(schema).length : 0;
  if (custom > rules)
    throw new SchemaError(`${path}: a refinement needs a CEL rule (withRule) to hold in the API server`);
  const changes = checks.some(({ _zod: { def } }) => def.check === 'overwrite');
  if (changes) throw new SchemaError(`${path}: a transform cannot become a structural schema`);
}

function partsOf(schema: z.core.$ZodType): readonly (readonly [string, z.core.$ZodType])[] {
  if (schema instanceof z.ZodObject) {
    const shape: Readonly<Record<string, z.core.$ZodType>> = schema.shape;
    return Object.entries(shape).map(([name, below]) => [`.${name}`, below] as const);
  }
  if (schema instanceof z.ZodArray) return [['[]', schema.element]];
  if (schema instanceof z.ZodRecord) return [['{}', schema.valueType]];
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodReadonly ||
    schema instanceof z.ZodNonOptional
  ) {
    return [['', schema.unwrap()]];
  }
  return [];
}

/** Formats that apiextensions checks, or at least keeps (kube-openapi strfmt). */
const formats = new Set([
  'date-time',
  'date',
  'uri',
  'email',
  'ipv4',
  'ipv6',
  'cidr',
  'uuid',
  'byte',
  'int32',
  'int64',
  'duration',
]);
const kept = new Set([
  'type',
  'description',
  'enum',
  'default',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'minLength',
  'maxLength',
  'pattern',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
  'required',
  'nullable',
  'multipleOf',
]);

/** Keeps what a structural schema may hold, at every level. */
function structural(drawn: Readonly<Record<string, Json>>, path: string): JsonObject {
  const out: Record<string, Json> = {};
  for (const [name, value] of Object.entries(drawn)) {
    if (kept.has(name) || name.startsWith('x-kubernetes-')) out[name] = value;
  }
  const { format, properties, items, additionalProperties, const: constant, type } = drawn;
  if (typeof format === 'string' && formats.has(format)) {
    out.format = format;
    // The API server knows these formats; a pattern beside them only makes its messages worse.
    if (format === 'date-time' || format === 'uuid') delete out.pattern;
  }
  if (constant !== undefined) out.enum = [constant];
  if (type === 'integer') Object.assign(out, integerOf(out));
  const fields = jsonObject.safeParse(properties);
  if (fields.success) {
    out.properties = Object.fromEntries(
      Object.entries(fields.data).map(([name, below]) => [
        name,
        structural(jsonObject.parse(below), `${path}.${name}`),
      ]),
    );
  }
  if (type === 'array') out.items = structural(jsonObject.parse(items ?? {}), `${path}[]`);
  const values = jsonObject.safeParse(additionalProperties);
  if (values.success) out.additionalProperties = structural(values.data, `${path}{}`);
  if (out.type === undefined && out['x-kubernetes-int-or-string'] !== true) {
    throw new SchemaError(`${path}: a schema without a type cannot become a structural schema`);
  }
  const rules = drawn[rulesKey];
  if (rules !== undefined) out[rulesKey] = rules;
  return out;
}

/** JavaScript's largest whole number says nothing to a user; 64 bits do. */
function integerOf({ minimum, maximum }: Readonly<Record<string, Json>>): JsonObject {
  const small =
    typeof minimum === 'number' && typeof maximum === 'number' && minimum >= -(2 ** 31) && maximum < 2 ** 31;
  return {
    format: small ? 'int32' : 'int64',
    ...(minimum === Number.MIN_SAFE_INTEGER ? { minimum: undefined } : {}),
    ...(maximum === Number.MAX_SAFE_INTEGER ? { maximum: undefined } : {}),
  };
}
