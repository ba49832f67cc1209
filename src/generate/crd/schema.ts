// From a zod schema to a structural OpenAPI schema (Kubernetes: "Specifying a structural schema"). Zod's own JSON schema is the
// base; what apiextensions does not take is taken out, and what it understands otherwise than zod is said otherwise.
import * as z from 'zod';
import { preserveKey, rulesKey } from '../../api/rule.ts';
import { isJsonObject, type Json, type JsonObject } from '../json.ts';
import { refuseUnsayable } from './unsupported.ts';
import { SchemaError } from '../schema-error.ts';

/** Makes the structural schema of a zod object; what is absent from an object takes its defaults. Throws SchemaError, naming the field. */
export function structuralSchema(schema: z.ZodObject, path: string): JsonObject {
  refuseUnsayable(schema, path);
  return structural(draw(schema), path);
}

const json: z.ZodType<Json> = z.lazy(() =>
  z.union([z.string(), z.number(), z.boolean(), z.null(), z.array(json), z.record(z.string(), json)]),
);
const jsonObject = z.record(z.string(), json);

/** Zod's drawing of what a user writes, before defaults. */
function draw(schema: z.ZodType): JsonObject {
  return jsonObject.parse(z.toJSONSchema(schema, { io: 'input', target: 'openapi-3.0' }));
}

/** Keywords that a structural schema may have at any level and that mean the same to zod and to Kubernetes. */
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

function structural(drawn: JsonObject, path: string): JsonObject {
  const { type, properties, items, additionalProperties } = drawn;
  const preserves = drawn[preserveKey] === true || isOpen(drawn);
  return defined({
    ...Object.fromEntries(kept.map((name) => [name, drawn[name]])),
    ...(type === 'integer' ? integerOf(drawn) : {}),
    ...(type === 'string' ? textOf(drawn, path) : {}),
    ...(drawn['x-kubernetes-int-or-string'] === true ? eitherOf(drawn, path) : {}),
    ...Object.fromEntries(Object.entries(drawn).filter(([name]) => name.startsWith('x-kubernetes-'))),
    ...(drawn.nullable === true && Array.isArray(drawn.enum) ? choiceOrNull(drawn, drawn.enum, path) : {}),
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

/** With x-kubernetes-int-or-string no branch may say more than its type; beside them, each keyword binds the type it is of. */
function eitherOf({ anyOf }: JsonObject, path: string): JsonObject {
  const said = (Array.isArray(anyOf) ? anyOf.map(asObject) : []).map((branch) => structural(branch, path));
  const bounds = Object.assign({}, ...said, { type: undefined, format: undefined });
  return { ...bounds, anyOf: [{ type: 'integer' }, { type: 'string' }] };
}

/** The API server refuses null for an enum, nullable or not, null among its values or not [seen on 1.36]. A rule it skips for null. */
function choiceOrNull(drawn: JsonObject, choices: readonly Json[], path: string): JsonObject {
  const words = choices.filter((choice) => typeof choice === 'string');
  if (words.length < choices.length) throw new SchemaError(path, 'a choice of numbers cannot be null');
  const message = `must be null or one of ${words.join(', ')}`;
  const before = drawn[rulesKey];
  return {
    enum: undefined,
    maxLength: Math.max(...words.map((word) => word.length)),
    [rulesKey]: [...(Array.isArray(before) ? before : []), { rule: `self in ${JSON.stringify(words)}`, message }],
  };
}

/** `z.looseObject()` keeps what it does not know. */
function isOpen({ properties, additionalProperties }: JsonObject): boolean {
  return (
    properties !== undefined && isJsonObject(additionalProperties) && Object.keys(additionalProperties).length === 0
  );
}

/** The largest whole number of JavaScript says nothing to a user; how many bits it needs says it to a client. */
function integerOf({ minimum, maximum }: JsonObject): JsonObject {
  const isSmall = (bound: Json | undefined) => typeof bound === 'number' && bound >= -(2 ** 31) && bound < 2 ** 31;
  return {
    format: isSmall(minimum) && isSmall(maximum) ? 'int32' : 'int64',
    ...(minimum === Number.MIN_SAFE_INTEGER ? { minimum: undefined } : {}),
    ...(maximum === Number.MAX_SAFE_INTEGER ? { maximum: undefined } : {}),
  };
}

/** Formats that apiextensions checks (kube-openapi strfmt) and means as zod does. Its `duration` is Go's, zod's is ISO 8601. */
const checkedFormats = ['date', 'date-time', 'email', 'hostname', 'ipv4', 'ipv6', 'mac', 'uri', 'uuid'];
/** Formats whose check is as strict as zod's pattern, which would only make the API server's message longer. */
const patternless = ['date', 'hostname'];
const plainTime = draw(z.iso.datetime()).pattern;
const zonedTime = draw(z.iso.datetime({ offset: true })).pattern;

/** What is said of a string beside its length. */
function textOf({ format, pattern, allOf }: JsonObject, path: string): JsonObject {
  const checked = typeof format === 'string' && checkedFormats.includes(format) ? format : undefined;
  // With several patterns zod draws one schema for each; no type may stand there.
  const several = Array.isArray(allOf) ? allOf.map((one) => asObject(one).pattern) : [];
  const patterns = [pattern, ...several].flatMap((one) => {
    if (typeof one !== 'string' || (checked !== undefined && patternless.includes(checked))) return [];
    if (one === zonedTime) return [];
    return [one === plainTime ? 'Z$' : sayable(one, path)];
  });
  if (patterns.length > 1) return { format: checked, allOf: patterns.map((one) => ({ pattern: one })) };
  return { format: checked, pattern: patterns[0] };
}

/** The API server reads patterns as Go does (RE2), which has less than JavaScript; better refused here than there. */
function sayable(pattern: string, path: string): string {
  if (/\(\?<?[=!]|\\[1-9]|\\k<|\\u/.test(pattern)) {
    throw new SchemaError(path, `Go's regular expressions have no lookaround, back references or \\u: ${pattern}`);
  }
  return pattern;
}

function asObject(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function defined(schema: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(schema).filter(([, value]) => value !== undefined));
}
