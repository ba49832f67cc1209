// Decodes objects from Kubernetes' protobuf encoding. kubectl's typed commands (`create namespace`, `create
// deployment`, ...) send it regardless of what the server accepts. The field numbers identify a field, the schemas give
// its type. Go's zero values, which protobuf writes and JSON omits, are omitted. Responses are never protobuf.
import { isList, isObject, type Json, type JsonObject } from '../json.ts';
import type { BuiltinSchemas, SchemaSource } from './builtins.ts';
import { type ProtobufField, protobufFields } from './protobuf-wire.ts';

const protobufMagic = 'k8s\0';
const timeSchema = 'io.k8s.apimachinery.pkg.apis.meta.v1.Time';
const microTimeSchema = 'io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime';
// In these fields a zero is a value that the client has set. In other fields Go writes a zero for an unset field.
const meaningfulZeros: readonly string[] = ['replicas', 'gracePeriodSeconds', 'terminationGracePeriodSeconds'];

/**
 * Decodes one object. Returns undefined for bytes that are no protobuf object, or for a kind without a built-in schema.
 */
export function readProtobuf(bytes: Buffer, schemaName: string, schemas: BuiltinSchemas): JsonObject | undefined {
  if (bytes.subarray(0, protobufMagic.length).toString('latin1') !== protobufMagic) return undefined;
  const envelope = protobufFields(bytes.subarray(protobufMagic.length));
  const raw = envelope?.find(({ number }) => number === 2)?.bytes ?? Buffer.alloc(0);
  const type = protobufFields(envelope?.find(({ number }) => number === 1)?.bytes ?? Buffer.alloc(0));
  if (envelope === undefined || type === undefined) return undefined;
  const text = (wanted: number): string => type.find(({ number }) => number === wanted)?.bytes.toString() ?? '';
  const object = createReader(schemas).message(raw, schemaName, schemaName);
  return object === undefined ? undefined : { apiVersion: text(1), kind: text(2), ...object };
}

type Reader = {
  /**
   * Decodes a message by its field numbers into an object of a schema. An inlined message uses the schema of its
   * parent.
   */
  message(bytes: Buffer, name: string, schemaName: string): JsonObject | undefined;
};

function createReader(schemas: BuiltinSchemas): Reader {
  const message: Reader['message'] = (bytes, name, schemaName) => {
    const numbers = schemas.numbered(name);
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
      const schema: SchemaSource | undefined = properties[key];
      if (schema === undefined) continue;
      const value = withOccurrence(object[key], field, schema, key);
      if (value !== undefined) object[key] = value;
    }
    return object;
  };

  /** Adds one occurrence of a field to its value. Repeated fields and map entries occur once per item. */
  const withOccurrence = (
    before: Json | undefined,
    field: ProtobufField,
    schema: SchemaSource,
    key: string,
  ): Json | undefined => {
    const { items, additionalProperties } = schema;
    if (items !== undefined) return [...(isList(before) ? before : []), single(field, items, '') ?? ''];
    if (typeof additionalProperties !== 'object') return single(field, schema, key);
    const [name, value] = [1, 2].map((number) => protobufFields(field.bytes)?.find((part) => part.number === number));
    const content = value === undefined ? '' : (single(value, additionalProperties, '') ?? '');
    return { ...(isObject(before) ? before : {}), [name?.bytes.toString() ?? '']: content };
  };

  const single = (field: ProtobufField, schema: SchemaSource, key: string): Json | undefined => {
    const { $ref } = schema;
    if ($ref === timeSchema || $ref === microTimeSchema) return time(field.bytes);
    if ($ref !== undefined) return special(field.bytes, $ref) ?? message(field.bytes, $ref, $ref);
    if (schema.type === 'boolean') return field.varint === 0n ? undefined : true;
    if (schema.type === 'integer') {
      const number = Number(BigInt.asIntN(64, field.varint));
      return number === 0 && !meaningfulZeros.includes(key) ? undefined : number;
    }
    if (schema.format === 'byte') return field.bytes.toString('base64');
    // An empty string in a list or map is an item.
    const text = field.bytes.toString();
    return text === '' && key !== '' ? undefined : text;
  };
  return { message };
}

/** Decodes the messages that are no objects in JSON. Returns undefined for an ordinary message. */
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

/** Decodes a time from its seconds since 1970. Returns undefined without seconds. */
function time(bytes: Buffer): string | undefined {
  const seconds = protobufFields(bytes)?.find(({ number }) => number === 1)?.varint;
  return seconds === undefined ? undefined : `${new Date(Number(seconds) * 1000).toISOString().slice(0, 19)}Z`;
}
