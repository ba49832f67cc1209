// Decodes built-in kinds, and the metadata of all kinds, as Go decodes JSON into structs. A wrong type is a bad
// request. Unknown fields are dropped and reported. Nulls, empty maps and empty lists count as absent, but a
// null in a map of strings is an empty string. Quantities become canonical.
import { isList, isObject, type Json, setField } from '../json.ts';
import { violatesFormat } from './formats.ts';
import { canonicalQuantity } from './quantity.ts';
import { fieldSchema, keepsUnknown, type Schema } from './schema.ts';

/** The decoded value, and the paths of the dropped fields. */
export type Decoded = {
  readonly value: Json;
  readonly unknown: readonly string[];
};

/** Thrown for a value that does not fit its type. The request becomes a 400. */
export class DecodeError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'DecodeError';
  }
}

/** Decodes a value. `kind` and `path` are for the message of a DecodeError. */
export function decodeValue(value: Json, schema: Schema, kind: string, path = ''): Decoded {
  const unknown: string[] = [];
  const walk = (content: Json, below: Schema, at: string): Json => {
    const read = decodeValue(content, below, kind, at);
    unknown.push(...read.unknown);
    return read.value;
  };
  if (schema['x-kubernetes-int-or-string'] === true) return { value: scalar(value, schema, kind, path), unknown };
  if (schema.type === 'object' || (isObject(value) && schema.type === undefined)) {
    if (!isObject(value)) throw mismatch(value, kind, path, 'object');
    const kept: Record<string, Json> = {};
    for (const [field, content] of Object.entries(value)) {
      const below = fieldSchema(schema, field);
      const at = path === '' ? field : `${path}.${field}`;
      if (below === undefined) {
        if (keepsUnknown(schema)) setField(kept, field, content);
        else unknown.push(at);
        continue;
      }
      if (content === null && isMapOfTexts(schema, field)) {
        setField(kept, field, below.format === 'quantity' ? '0' : '');
        continue;
      }
      const isDeclared = Object.hasOwn(schema.properties ?? {}, field);
      if (content === null && (isDeclared || !keepsUnknown(below))) continue;
      const read = walk(content, below, at);
      if (!isOmittedWhenEmpty(read, below)) setField(kept, field, read);
    }
    return { value: kept, unknown };
  }
  if (schema.type === 'array') {
    if (!isList(value)) throw mismatch(value, kind, path, '[]');
    const { items = {} } = schema;
    return { value: value.map((item, index) => walk(item ?? zeroOf(items), items, `${path}[${index}]`)), unknown };
  }
  return { value: scalar(value, schema, kind, path), unknown };
}

/** Returns what Go makes of a null in a list: the zero value of its items. */
function zeroOf({ type, properties }: Schema): Json {
  if (type === 'string') return '';
  if (type === 'integer' || type === 'number') return 0;
  return properties === undefined ? null : {};
}

/** Returns whether a field is one of a map of texts, such as labels. A null there is Go's zero value, not absent. */
function isMapOfTexts({ properties = {}, additionalProperties }: Schema, field: string): boolean {
  if (Object.hasOwn(properties, field) || typeof additionalProperties !== 'object') return false;
  const { type, format } = additionalProperties;
  return (type === 'string' && format !== 'date-time') || format === 'quantity';
}

/**
 * Returns whether Go omits a value (omitempty): an empty list or map, but not an empty struct, nor any JSON, such as
 * the default `[]` of a field of a CRD.
 */
function isOmittedWhenEmpty(value: Json, schema: Schema): boolean {
  // Kubernetes tells no policies from absent ones, and refuses them.
  const isOmitted = schema.type === 'array' && schema.items?.typeName !== 'HPAScalingPolicy';
  if (isList(value)) return isOmitted && value.length === 0;
  return isObject(value) && schema.additionalProperties !== undefined && Object.keys(value).length === 0;
}

function scalar(value: Json, schema: Schema, kind: string, path: string): Json {
  if (schema.format === 'quantity') {
    const canonical =
      typeof value === 'string' || typeof value === 'number' ? canonicalQuantity(String(value)) : undefined;
    if (canonical === undefined) {
      throw new DecodeError(
        "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
      );
    }
    return canonical;
  }
  if (schema['x-kubernetes-int-or-string'] === true) {
    if (typeof value !== 'string' && typeof value !== 'number') throw mismatch(value, kind, path, 'intstr.IntOrString');
    return value;
  }
  switch (schema.type) {
    case 'string':
      if (schema.format === 'byte' && isList(value) && value.length === 0) return '';
      if (typeof value !== 'string') throw mismatch(value, kind, path, 'string');
      if (schema.format === 'date-time') return time(value, schema);
      if (schema.format === 'byte' && violatesFormat(value, 'byte')) {
        throw new DecodeError(`illegal base64 data at input byte ${value.search(/[^A-Za-z0-9+/]/)}`);
      }
      return value;
    case 'boolean':
      if (typeof value !== 'boolean') throw mismatch(value, kind, path, 'bool');
      return value;
    case 'integer':
      if (typeof value !== 'number' || !Number.isInteger(value)) {
        throw mismatch(value, kind, path, schema.format === 'int64' ? 'int64' : 'int32');
      }
      return value;
    case 'number':
      if (typeof value !== 'number') throw mismatch(value, kind, path, 'float64');
      return value;
    default:
      return value;
  }
}

/** A time as Go reads it: unlike that of a schema's format, in upper case. */
const goTime = /^([\d-]{10}T[\d:]{8})([.,]\d+)?(Z|[+-]\d\d:\d\d)$/;

/**
 * Reads a time as it is stored: in UTC, and in whole seconds, or as that of a Lease with exactly six digits
 * (RFC3339Micro).
 */
function time(text: string, { typeName }: Schema): string {
  const isMicro = typeName === 'MicroTime';
  const [, seconds = '', fraction = '', zone = ''] = goTime.exec(text) ?? [];
  const isTime = !violatesFormat(text, 'date-time') && !Number.isNaN(Date.parse(`${seconds}${zone}`));
  if (!isTime || (isMicro && !/^\.\d{6}$/.test(fraction))) {
    throw new DecodeError(
      `parsing time ${JSON.stringify(text)} as "2006-01-02T15:04:05Z07:00": cannot parse ` +
        `${JSON.stringify(text)} as "2006"`,
    );
  }
  return new Date(`${seconds}${zone}`).toISOString().replace('.000', isMicro ? fraction : '');
}

function mismatch(value: Json, kind: string, path: string, type: string): DecodeError {
  const name = isList(value) ? 'array' : typeof value === 'boolean' ? 'bool' : value === null ? 'null' : typeof value;
  const field = path.replaceAll(/\[\d+\]/g, '').replace(/^metadata\./, '');
  return new DecodeError(`json: cannot unmarshal ${name} into Go struct field ${kind}.${field} of type ${type}`);
}
