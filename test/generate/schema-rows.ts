// The constructs that an author may use for a field, with valid and invalid values. A generated schema is right if zod
// and the API server accept and reject the same values; every row is checked with both.
import * as z from 'zod';
import { preserveKey, withRule } from '../../src/api/rule.ts';

/** A schema with valid and invalid values. */
type SchemaRow = {
  readonly what: string;
  readonly schema: z.ZodType;
  readonly accepts: readonly unknown[];
  readonly rejects: readonly unknown[];
};

const range = withRule(
  z.object({ low: z.number().default(1), high: z.number() }),
  { rule: 'self.low < self.high', message: 'low must be below high', fieldPath: '.low' },
  ({ low, high }) => low < high,
);

/** Every construct that `generate` supports. */
export const schemaRows: readonly SchemaRow[] = [
  { what: 'a string', schema: z.string(), accepts: ['', 'a'], rejects: [1, true, [], {}] },
  { what: 'lengths', schema: z.string().min(2).max(3), accepts: ['ab', 'abc'], rejects: ['a', 'abcd'] },
  { what: 'characters beyond 16 bits', schema: z.string().regex(/^.$/u).max(2), accepts: ['é', '🌊'], rejects: ['ab'] },
  { what: 'a pattern', schema: z.string().regex(/^a+$/), accepts: ['a', 'aa'], rejects: ['', 'b'] },
  {
    what: 'a pattern with a backslash before a digit and a look-ahead in a class',
    schema: z.string().regex(/^a\\1[(?=]$/),
    accepts: ['a\\1('],
    rejects: ['a1('],
  },
  {
    what: 'a pattern with repeats and categories',
    schema: z.string().regex(/^(?:\p{Lu}{1,50}[^(]){1,20}\{9999\}$/u),
    accepts: ['Äa{9999}'],
    rejects: ['äa{9999}'],
  },
  { what: 'two patterns', schema: z.string().regex(/a/).regex(/b/), accepts: ['ab', 'ba'], rejects: ['a', 'b'] },
  { what: 'a prefix', schema: z.string().startsWith('a.b'), accepts: ['a.b', 'a.bc'], rejects: ['ab', 'axb'] },
  { what: 'a number', schema: z.number(), accepts: [0, -1.5, 1e300], rejects: ['1', true] },
  { what: 'bounds', schema: z.number().min(0).max(9), accepts: [0, 9], rejects: [-0.1, 9.1] },
  { what: 'open bounds', schema: z.number().gt(0).lt(9), accepts: [0.1, 8.9], rejects: [0, 9] },
  { what: 'bounds with fractions', schema: z.number().min(0.5).max(1.5), accepts: [0.5, 1, 1.5], rejects: [0, 2] },
  { what: 'negative bounds', schema: z.number().min(-1.5).max(-0.5), accepts: [-1.5, -1, -0.5], rejects: [-2, 0] },
  { what: 'open bounds with fractions', schema: z.number().gt(0.5).lt(1.5), accepts: [1], rejects: [0.5, 0, 2, 1.5] },
  { what: 'negative open bounds', schema: z.number().gt(-1.5).lt(-0.5), accepts: [-1], rejects: [-1.5, -2, 0, -0.5] },
  { what: 'bounds of an integer with fractions', schema: z.int().gt(0.5).max(2.5), accepts: [1, 2], rejects: [0, 3] },
  { what: 'a float of 64 bits', schema: z.float64(), accepts: [0, -5, 1.5, 1e300], rejects: ['1'] },
  { what: 'a multiple', schema: z.int().multipleOf(5), accepts: [0, 10], rejects: [7] },
  { what: 'an integer', schema: z.int(), accepts: [0, -7, 2 ** 40], rejects: [1.5, '1', 2 ** 53] },
  { what: 'a small integer', schema: z.int32(), accepts: [2 ** 31 - 1], rejects: [2 ** 31] },
  { what: 'a boolean', schema: z.boolean(), accepts: [true, false], rejects: ['true', 0] },
  { what: 'an enum', schema: z.enum(['a', 'b']), accepts: ['a', 'b'], rejects: ['c', ''] },
  { what: 'a nullable enum', schema: z.enum(['a', 'b']).nullable(), accepts: ['a', null], rejects: ['c'] },
  { what: 'number literals', schema: z.literal([1, 2]), accepts: [1, 2], rejects: [3, '1'] },
  { what: 'a nullable string', schema: z.string().min(1).nullable(), accepts: ['a', null], rejects: [''] },
  {
    what: 'a time',
    schema: z.iso.datetime(),
    accepts: ['2026-01-31T23:59:59Z', '2026-01-31T23:59:59.123Z'],
    rejects: ['2026-01-31', '2026-02-30T00:00:00Z', '2026-01-31T23:59:59+01:00', '2026-01-31t23:59:59Z', 'now'],
  },
  {
    what: 'a time with a zone',
    schema: z.iso.datetime({ offset: true }),
    accepts: ['2026-01-31T23:59:59Z', '2026-01-31T23:59:59+01:00'],
    rejects: ['2026-01-31T23:59:59', '2026-01-31T23:59:59+24:00', 'now'],
  },
  { what: 'a date', schema: z.iso.date(), accepts: ['2024-02-29'], rejects: ['2026-02-29', '31.1.2026'] },
  { what: 'a date with a pattern', schema: z.iso.date().regex(/^2/), accepts: ['2024-02-29'], rejects: ['1999-12-31'] },
  { what: 'a URL', schema: z.url(), accepts: ['https://a.example.com/b?c=d'], rejects: ['', 'a b', '/a'] },
  {
    what: 'a URL with a pattern',
    schema: z.url().regex(/^https:/),
    accepts: ['https://a'],
    rejects: ['http://a', 'https:// '],
  },
  { what: 'an e-mail address', schema: z.email(), accepts: ['a.b@example.com'], rejects: ['a', 'a@b', 'a@@b.com'] },
  { what: 'IPv4', schema: z.ipv4(), accepts: ['10.0.0.1'], rejects: ['10.0.0.256', '10.0.0', '::1'] },
  { what: 'IPv6', schema: z.ipv6(), accepts: ['::1', 'fe80::1'], rejects: ['10.0.0.1', ':::'] },
  { what: 'a CIDR block', schema: z.cidrv4(), accepts: ['10.0.0.0/8'], rejects: ['10.0.0.0', '10.0.0.0/33'] },
  {
    what: 'a host',
    schema: z.hostname(),
    accepts: ['a.example.com', 'localhost', 'db-host-1', 'a.b', '10.0.0.1', 'a.'],
    rejects: ['a b', '-a', 'a/b', 'bücher.example', 'a'.repeat(64), `${'a.'.repeat(127)}a`],
  },
  { what: 'MAC addresses with dots', schema: z.mac({ delimiter: '.' }), accepts: ['00.1a.2b.3c.4d.5e'], rejects: [''] },
  { what: 'an address with a pattern', schema: z.email({ pattern: /^.+@.+$/ }), accepts: ['a..b@c'], rejects: ['a'] },
  {
    what: 'a UUID',
    schema: z.uuid(),
    accepts: ['123e4567-e89b-42d3-a456-426614174000'],
    rejects: ['123e4567e89b42d3a456426614174000', 'x'],
  },
  { what: 'base64', schema: z.base64(), accepts: ['', 'YWI='], rejects: ['YWI', '%'] },
  {
    what: 'a list',
    schema: z.array(z.int()).min(1).max(2),
    accepts: [[1], [1, 2]],
    rejects: [[], [1, 2, 3], ['a'], 1],
  },
  {
    what: 'a map list',
    schema: z
      .array(z.object({ name: z.string(), port: z.int().optional() }))
      .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] }),
    accepts: [[{ name: 'a' }, { name: 'b', port: 1 }]],
    rejects: [[{ port: 1 }]],
  },
  {
    what: 'a map',
    schema: z.record(z.string(), z.int().min(0)),
    accepts: [{}, { a: 1 }],
    rejects: [{ a: -1 }, { a: 'x' }],
  },
  {
    what: 'an object',
    schema: z.object({ a: z.string(), b: z.int().optional(), c: z.object({ d: z.int().default(2) }).prefault({}) }),
    accepts: [{ a: '' }, { a: '', b: 1, c: { d: 3 } }],
    rejects: [{}, { a: 1 }, { a: '', b: 'x' }, { a: '', c: { d: 'x' } }],
  },
  { what: 'a strict object', schema: z.strictObject({ a: z.string() }), accepts: [{ a: '' }], rejects: [{}] },
  {
    what: 'a loose object',
    schema: z.looseObject({ a: z.string() }),
    accepts: [{ a: '', b: [1] }],
    rejects: [{ b: 1 }],
  },
  { what: 'anything', schema: z.unknown().meta({ [preserveKey]: true }), accepts: [1, 'a', { b: [1] }], rejects: [] },
  {
    what: 'an int-or-string',
    schema: z.union([z.int(), z.string()]).meta({ 'x-kubernetes-int-or-string': true }),
    accepts: [80, 'http'],
    rejects: [true, {}],
  },
  {
    what: 'an int-or-string with bounds for both',
    schema: z
      .union([
        z.int().min(1).max(65_535),
        z
          .string()
          .min(1)
          .max(15)
          .regex(/^[a-z]+$/),
      ])
      .meta({ 'x-kubernetes-int-or-string': true }),
    accepts: [80, 'http'],
    rejects: [0, 70_000, '', 'HTTP', 'averyveryverylongname'],
  },
  {
    what: 'an int-or-string with a choice',
    schema: z.union([z.int().min(1), z.enum(['auto', 'off'])]).meta({ 'x-kubernetes-int-or-string': true }),
    accepts: [80, 'auto'],
    rejects: [0, '', 'on', 'automatic'],
  },
  {
    what: 'an int-or-string with rules in both branches',
    schema: z
      .union([
        withRule(z.int(), { rule: 'self != 0', message: 'is not 0' }, (value) => value !== 0),
        withRule(z.string(), { rule: "self != ''", message: 'is not empty' }, (value) => value !== ''),
      ])
      .meta({ 'x-kubernetes-int-or-string': true })
      .nullable(),
    accepts: [1, 'a', null],
    rejects: [0, ''],
  },
  {
    what: 'a rule',
    schema: range,
    accepts: [{ low: 1, high: 2 }, { high: 2 }],
    rejects: [{ low: 2, high: 2 }, { high: 0 }],
  },
  {
    what: 'a rule in a list',
    schema: z.array(range).max(9),
    accepts: [[], [{ high: 2 }]],
    rejects: [[{ high: 2 }, { low: 3, high: 2 }]],
  },
];
