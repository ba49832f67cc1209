// Random changes of an object, made by the schema of its kind: any field gets a value of its type that is good, at a
// limit, or wrong; fields and items go, come twice, or come beside those that exclude them.
import { isList, isObject, type Json, type JsonObject } from '@outrigger/apiserver/json';
import { fieldSchema, type Schema } from '@outrigger/apiserver/schema/schema';

/** A number of at least 0 and less than 1. */
export type Random = () => number;

/** Returns the numbers of a seed (mulberry32). */
export function randomOf(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Returns one of the values. */
export function pick<Value>(random: Random, values: readonly [Value, ...Value[]] | readonly Value[]): Value {
  const found = values[Math.floor(random() * values.length)];
  if (found === undefined) throw new Error('there is nothing to pick');
  return found;
}

const texts = [
  ...[
    '',
    'a',
    'x-1',
    'A',
    'a b',
    'a.b',
    'a.example.com',
    '-a',
    'a_b',
    'a/b',
    'example.com/a',
    '/abs',
    '../x',
    'a..b',
    '*.a.example',
  ],
  ...[
    'x'.repeat(16),
    'x'.repeat(64),
    'x'.repeat(254),
    '10.0.0.1',
    '10.0.0.0/24',
    'fd00::1',
    '300.0.0.1',
    '1',
    '0',
    '-1',
    '50%',
    '101%',
  ],
  ...[
    'http',
    'metadata.name',
    'spec.nodeName',
    'status.podIP',
    'metadata.labels',
    "metadata.annotations['a']",
    'limits.cpu',
  ],
  ...[
    'requests.memory',
    'kubernetes.io/hostname',
    'cpu',
    'memory',
    'storage',
    'None',
    'True',
    'Always',
    'Never',
    'In',
    'Exists',
    'Gt',
  ],
  ...[
    'Equal',
    'NoSchedule',
    'NoExecute',
    'TCP',
    'Local',
    'Ingress',
    '* * * * *',
    '61 * * * *',
    'Etc/UTC',
    'TZ=UTC * * * * *',
    '@daily',
  ],
];
const numbers = [
  -2, -1, 0, 1, 2, 5, 15, 30, 60, 100, 101, 1000, 3601, 32_767, 65_535, 65_536, 86_400, 86_401, 2_147_483_647,
];
const quantities = ['0', '1', '-1', '100m', '1m', '2', '5', '1Gi', '512Ki', '-1Gi', '1.5', '1e3', '1n', 'x'];
const times = [
  '2026-01-01T00:00:00Z',
  '2026-01-01T00:00:00.000000Z',
  '2026-01-01T00:00:00.123Z',
  'yesterday',
  '2026-02-30T00:00:00Z',
];
const keys = [
  'a',
  'b.example/c',
  'A_B',
  'cpu',
  'memory',
  'storage',
  'pods',
  'example.com/gpu',
  'hugepages-2Mi',
  'a b',
  '',
  '..a',
  'x'.repeat(64),
  'tls.crt',
];
const deepest = 4;

/** Returns a value of a schema. It is not always valid. */
function valueFor(random: Random, schema: Schema, depth = 0): Json {
  if (random() < 0.02) return pick<Json>(random, ['text', 5, true, [], {}, null]);
  if (schema.enum !== undefined && random() < 0.75) return pick(random, schema.enum);
  if (schema.format === 'quantity') return pick(random, quantities);
  if (schema['x-kubernetes-int-or-string'] === true)
    return random() < 0.5 ? pick(random, numbers) : pick(random, texts);
  switch (schema.type) {
    case 'string':
      if (schema.format === 'byte') return pick(random, ['', 'YQ==', '%', Buffer.from('{}').toString('base64')]);
      if (schema.format === 'date-time') return pick(random, times);
      return pick(random, texts);
    case 'integer':
    case 'number':
      return pick(random, numbers);
    case 'boolean':
      return random() < 0.5;
    case 'array': {
      const { items = {} } = schema;
      const count = pick(random, [0, 1, 1, 1, 2]);
      return Array.from({ length: depth > deepest ? 0 : count }, () => valueFor(random, items, depth + 1));
    }
    default:
      return objectOf(random, schema, depth);
  }
}

function objectOf(random: Random, schema: Schema, depth: number): JsonObject {
  const { properties = {}, required = [], additionalProperties } = schema;
  if (depth > deepest) return {};
  const names = Object.keys(properties);
  if (names.length === 0) {
    if (typeof additionalProperties !== 'object') return {};
    return random() < 0.2 ? {} : { [pick(random, keys)]: valueFor(random, additionalProperties, depth + 1) };
  }
  const count = pick(random, [0, 1, 1, 2, 3]);
  const chosen = new Set([
    ...required.filter(() => random() < 0.9),
    ...Array.from({ length: count }, () => pick(random, names)),
  ]);
  return Object.fromEntries(
    [...chosen].map((name): [string, Json] => [name, valueFor(random, properties[name] ?? {}, depth + 1)]),
  );
}

/** Returns the object with one change below its metadata and status. */
export function changed(random: Random, object: JsonObject, schema: Schema): JsonObject {
  const { apiVersion: _a, kind: _k, status: _s, metadata: _m, ...properties } = schema.properties ?? {};
  const next = changeIn(random, object, { ...schema, properties });
  return isObject(next) ? next : object;
}

function changeIn(random: Random, value: Json, schema: Schema): Json {
  if (isList(value)) return changeList(random, value, schema);
  if (!isObject(value)) return random() < 0.1 ? null : valueFor(random, schema);
  const { properties = {} } = schema;
  const present = Object.keys(value).filter((name) => fieldSchema(schema, name) !== undefined);
  const named = Object.keys(properties);
  const isMap = named.length === 0;
  if (present.length > 0 && random() < (isMap ? 0.6 : 0.8)) {
    const name = pick(random, present);
    if (random() < 0.12) return Object.fromEntries(Object.entries(value).filter(([other]) => other !== name));
    return { ...value, [name]: changeIn(random, value[name] ?? null, fieldSchema(schema, name) ?? {}) };
  }
  const name = isMap ? pick(random, keys) : pick(random, named);
  const below = fieldSchema(schema, name);
  return below === undefined ? value : { ...value, [name]: valueFor(random, below) };
}

function changeList(random: Random, value: readonly Json[], { items = {} }: Schema): Json {
  const at = Math.floor(random() * value.length);
  const item = value[at];
  const kind = random();
  if (item === undefined || kind < 0.12) return [...value, valueFor(random, items)];
  if (kind < 0.2) return value.toSpliced(at, 1);
  if (kind < 0.28) return [...value, item];
  if (kind < 0.31) return [];
  return value.with(at, changeIn(random, item, items));
}
