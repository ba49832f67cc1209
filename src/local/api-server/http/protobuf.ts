// Reads the protobuf that kubectl sends for the kinds it creates by name (`kubectl create namespace`, `configmap`, `secret`,
// `serviceaccount`): its typed clients offer nothing else for writes. Everything else kubectl and our client send is JSON or YAML.
// Field numbers are those of generated.proto in k8s.io/api and k8s.io/apimachinery, where they can never change.
import type { Json, JsonObject } from '../json.ts';

/** What kind of value a field holds; a message is described by its own fields. */
type FieldType = 'text' | 'bytes' | 'flag' | 'texts' | 'texts by key' | 'bytes by key' | Message;
interface Message {
  readonly [number: number]: readonly [name: string, type: FieldType];
}

/** Bytes of one field as they stand on the wire: a number, or a length-delimited value. */
interface WireField {
  readonly number: number;
  readonly value: number | Buffer;
}

// "k8s" and a zero byte open every such body; a runtime.Unknown follows.
const MAGIC = Buffer.from([0x6b, 0x38, 0x73, 0x00]);
const UNKNOWN = { typeMeta: 1, raw: 2 };
const TYPE_META: Message = { 1: ['apiVersion', 'text'], 2: ['kind', 'text'] };
const METADATA: readonly [string, FieldType] = [
  'metadata',
  {
    1: ['name', 'text'],
    2: ['generateName', 'text'],
    3: ['namespace', 'text'],
    5: ['uid', 'text'],
    6: ['resourceVersion', 'text'],
    11: ['labels', 'texts by key'],
    12: ['annotations', 'texts by key'],
    14: ['finalizers', 'texts'],
  },
];
const MESSAGES: ReadonlyMap<string, Message> = new Map<string, Message>([
  ['v1/Namespace', { 1: METADATA }],
  [
    'v1/ConfigMap',
    { 1: METADATA, 2: ['data', 'texts by key'], 3: ['binaryData', 'bytes by key'], 4: ['immutable', 'flag'] },
  ],
  [
    'v1/Secret',
    {
      1: METADATA,
      2: ['data', 'bytes by key'],
      3: ['type', 'text'],
      4: ['stringData', 'texts by key'],
      5: ['immutable', 'flag'],
    },
  ],
  ['v1/ServiceAccount', { 1: METADATA, 4: ['automountServiceAccountToken', 'flag'] }],
]);

/** Returns the object in a protobuf body, or undefined where its kind is none of those above. Throws on bytes that are none. */
export function readProtobuf(body: Buffer): JsonObject | undefined {
  if (!body.subarray(0, MAGIC.length).equals(MAGIC))
    throw new Error('provided data does not appear to be a protobuf message');
  let type: JsonObject = {};
  let raw: Buffer = Buffer.alloc(0);
  for (const { number, value } of wireFields(body.subarray(MAGIC.length))) {
    if (typeof value === 'number') continue;
    if (number === UNKNOWN.typeMeta) type = readMessage(value, TYPE_META);
    if (number === UNKNOWN.raw) raw = value;
  }
  const message = MESSAGES.get(`${type.apiVersion}/${type.kind}`);
  return message && { ...type, ...readMessage(raw, message) };
}

/** Reads one message. Empty texts are left out: senders write every field, and mean by an empty one that it is not set. */
function readMessage(bytes: Buffer, message: Message): JsonObject {
  const content: Record<string, Json> = {};
  for (const { number, value } of wireFields(bytes)) {
    const [name, type] = message[number] ?? [];
    if (name === undefined || type === undefined) continue;
    const read = readValue(value, type, content[name]);
    if (read !== '') content[name] = read;
  }
  return content;
}

/** Reads one value; `before` is what the same field held already, for those that repeat. */
function readValue(value: number | Buffer, type: FieldType, before: Json | undefined): Json {
  if (typeof value === 'number') return value !== 0;
  if (type === 'text') return value.toString();
  if (type === 'bytes') return value.toString('base64');
  if (type === 'texts') return [...(Array.isArray(before) ? before : []), value.toString()];
  if (type === 'texts by key' || type === 'bytes by key') {
    // A map is a repeated pair of key and value; an empty value may be absent from its pair.
    const { key, value: held } = { key: '', value: '', ...readMessage(value, pairOf(type)) };
    const entries = typeof before === 'object' && before !== null && !Array.isArray(before) ? before : {};
    return { ...entries, [key]: held };
  }
  return type === 'flag' ? false : readMessage(value, type);
}

function pairOf(type: 'texts by key' | 'bytes by key'): Message {
  return { 1: ['key', 'text'], 2: ['value', type === 'texts by key' ? 'text' : 'bytes'] };
}

/** Splits a message into its fields: https://protobuf.dev/programming-guides/encoding/. */
function* wireFields(bytes: Buffer): Generator<WireField> {
  let at = 0;
  const varint = (): number => {
    // Multiplied, not shifted: a number may have more than 32 bits.
    for (let value = 0, unit = 1; ; unit *= 128) {
      const byte = bytes[at++];
      if (byte === undefined) throw new Error('unexpected end of a protobuf message');
      value += (byte & 0x7f) * unit;
      if (byte < 0x80) return value;
    }
  };
  while (at < bytes.length) {
    const tag = varint();
    const number = Math.floor(tag / 8);
    if (tag % 8 === 0) {
      yield { number, value: varint() };
    } else if (tag % 8 === 2) {
      const length = varint();
      if (at + length > bytes.length) throw new Error('unexpected end of a protobuf message');
      yield { number, value: bytes.subarray(at, at + length) };
      at += length;
    } else {
      throw new Error(`unexpected protobuf wire type ${tag % 8}`);
    }
  }
}
