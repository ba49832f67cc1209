// Reads objects that kubectl's typed commands (`create namespace`, `create deployment` ...) send in Kubernetes' protobuf encoding,
// whatever the server would like better. The schemas say what a field is, the field numbers which one it is. Nothing is ever
// answered in protobuf. Zero values of Go, which protobuf writes and JSON leaves out, are left out.
import { isList, isObject, type Json, type JsonObject } from '../json.ts';
import { builtinFieldNumbers } from './builtin-field-numbers.ts';
import type { BuiltinSchemas, Written } from '../../local/api-server/schema/builtins.ts';
import { type ProtobufField, protobufFields } from './protobuf-wire.ts';

const MAGIC = 'k8s\0';
const TIME = 'io.k8s.apimachinery.pkg.apis.meta.v1.Time';
const MICRO_TIME = 'io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime';
// A zero that somebody chose; other zeros are what Go writes for a field that nobody set.
const MEANINGFUL_ZEROS: readonly string[] = ['replicas', 'gracePeriodSeconds', 'terminationGracePeriodSeconds'];

/** Reads one object; undefined where the bytes are no such thing, or of a kind without a built-in schema. */
export function readProtobuf(bytes: Buffer, schemaName: string, schemas: BuiltinSchemas): JsonObject | undefined {
  if (bytes.subarray(0, MAGIC.length).toString('latin1') !== MAGIC) return undefined;
  const envelope = protobufFields(bytes.subarray(MAGIC.length));
  const raw = envelope?.find(({ number }) => number === 2)?.bytes ?? Buffer.alloc(0);
  const type = protobufFields(envelope?.find(({ number }) => number === 1)?.bytes ?? Buffer.alloc(0));
  if (envelope === undefined || type === undefined) return undefined;
  const text = (wanted: number): string => type.find(({ number }) => number === wanted)?.bytes.toString() ?? '';
  const object = createReader(schemas).message(raw, schemaName, schemaName);
  return object === undefined ? undefined : { apiVersion: text(1), kind: text(2), ...object };
}

interface Reader {
  /** Reads a message by its field numbers into an object of a schema; an inlined message shares its parent's. */
  message(bytes: Buffer, name: string, schemaName: string): JsonObject | undefined;
}

function createReader(schemas: BuiltinSchemas): Reader {
  const messages = new Map(
    builtinFieldNumbers.map((line) => {
      const [name = '', ...fields] = line.split(' ');
      return [
        name,
        new Map(fields.map((field) => field.split(':', 2)).map(([number, said = '']) => [Number(number), said])),
      ];
    }),
  );

  const message: Reader['message'] = (bytes, name, schemaName) => {
    const numbers = messages.get(name);
    const fields = protobufFields(bytes);
    if (numbers === undefined || fields === undefined) return undefined;
    const { properties = {} } = schemas.published(schemaName);
    const object: Record<string, Json> = {};
    for (const field of fields) {
      const [key = '', inlined] = numbers.get(field.number)?.split('>') ?? [];
      if (inlined !== undefined) {
        Object.assign(object, message(field.bytes, inlined, schemaName));
        continue;
      }
      const schema: Written | undefined = properties[key];
      if (schema === undefined) continue;
      const value = merged(object[key], field, schema, key);
      if (value !== undefined) object[key] = value;
    }
    return object;
  };

  /** Repeated fields and entries of maps come one by one. */
  const merged = (before: Json | undefined, field: ProtobufField, schema: Written, key: string): Json | undefined => {
    const { items, additionalProperties } = schema;
    if (items !== undefined) return [...(isList(before) ? before : []), single(field, items, '') ?? ''];
    if (typeof additionalProperties !== 'object') return single(field, schema, key);
    const [name, value] = [1, 2].map((number) => protobufFields(field.bytes)?.find((part) => part.number === number));
    const content = value === undefined ? '' : (single(value, additionalProperties, '') ?? '');
    return { ...(isObject(before) ? before : {}), [name?.bytes.toString() ?? '']: content };
  };

  const single = (field: ProtobufField, schema: Written, key: string): Json | undefined => {
    const { $ref } = schema;
    if ($ref === TIME || $ref === MICRO_TIME) return time(field.bytes);
    if ($ref !== undefined) return special(field.bytes, $ref) ?? message(field.bytes, $ref, $ref);
    if (schema.type === 'boolean') return field.varint === 0n ? undefined : true;
    if (schema.type === 'integer') {
      const number = Number(BigInt.asIntN(64, field.varint));
      return number === 0 && !MEANINGFUL_ZEROS.includes(key) ? undefined : number;
    }
    if (schema.format === 'byte') return field.bytes.toString('base64');
    // In a list or map an empty string is an item.
    const text = field.bytes.toString();
    return text === '' && key !== '' ? undefined : text;
  };
  return { message };
}

/** Reads the types that are something else in JSON; undefined for an ordinary message. */
function special(bytes: Buffer, name: string): Json | undefined {
  const fields = protobufFields(bytes) ?? [];
  const get = (wanted: number): ProtobufField | undefined => fields.find(({ number }) => number === wanted);
  switch (name) {
    case 'io.k8s.apimachinery.pkg.api.resource.Quantity':
      return get(1)?.bytes.toString() ?? '0';
    case 'io.k8s.apimachinery.pkg.util.intstr.IntOrString':
      return get(1)?.varint === 1n ? (get(3)?.bytes.toString() ?? '') : Number(BigInt.asIntN(64, get(2)?.varint ?? 0n));
    default:
      return undefined;
  }
}

/** Reads seconds since 1970; none at all is no time. */
function time(bytes: Buffer): string | undefined {
  const seconds = protobufFields(bytes)?.find(({ number }) => number === 1)?.varint;
  return seconds === undefined ? undefined : `${new Date(Number(seconds) * 1000).toISOString().slice(0, 19)}Z`;
}
