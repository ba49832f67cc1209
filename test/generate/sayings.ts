// What an author may say of a field, with values that are so and values that are not. A drawn schema is right when zod and the
// API server judge them alike; both are asked about every row.
import * as z from 'zod';
import { preserveKey, withRule } from '../../src/api/rule.ts';

/** A schema, values that it takes, and values that it refuses. */
type Saying = {
  readonly what: string;
  readonly schema: z.ZodType;
  readonly takes: readonly unknown[];
  readonly refuses: readonly unknown[];
};

const range = withRule(
  z.object({ low: z.number().default(1), high: z.number() }),
  { rule: 'self.low < self.high', message: 'low must be below high', fieldPath: '.low' },
  ({ low, high }) => low < high,
);

/** Every construct that `generate` draws. */
export const sayings: readonly Saying[] = [
  { what: 'a string', schema: z.string(), takes: ['', 'a'], refuses: [1, true, [], {}] },
  { what: 'lengths', schema: z.string().min(2).max(3), takes: ['ab', 'abc'], refuses: ['a', 'abcd'] },
  { what: 'characters beyond 16 bits', schema: z.string().regex(/^.$/u).max(2), takes: ['é', '🌊'], refuses: ['ab'] },
  { what: 'a pattern', schema: z.string().regex(/^a+$/), takes: ['a', 'aa'], refuses: ['', 'b'] },
  { what: 'two patterns', schema: z.string().regex(/a/).regex(/b/), takes: ['ab', 'ba'], refuses: ['a', 'b'] },
  { what: 'a beginning', schema: z.string().startsWith('a.b'), takes: ['a.b', 'a.bc'], refuses: ['ab', 'axb'] },
  { what: 'a number', schema: z.number(), takes: [0, -1.5, 1e300], refuses: ['1', true] },
  { what: 'bounds', schema: z.number().min(0).max(9), takes: [0, 9], refuses: [-0.1, 9.1] },
  { what: 'open bounds', schema: z.number().gt(0).lt(9), takes: [0.1, 8.9], refuses: [0, 9] },
  { what: 'a multiple', schema: z.int().multipleOf(5), takes: [0, 10], refuses: [7] },
  { what: 'an integer', schema: z.int(), takes: [0, -7, 2 ** 40], refuses: [1.5, '1'] },
  { what: 'a small integer', schema: z.int32(), takes: [2 ** 31 - 1], refuses: [2 ** 31] },
  { what: 'yes or no', schema: z.boolean(), takes: [true, false], refuses: ['true', 0] },
  { what: 'a choice', schema: z.enum(['a', 'b']), takes: ['a', 'b'], refuses: ['c', ''] },
  { what: 'a choice or null', schema: z.enum(['a', 'b']).nullable(), takes: ['a', null], refuses: ['c'] },
  { what: 'numbers to choose from', schema: z.literal([1, 2]), takes: [1, 2], refuses: [3, '1'] },
  { what: 'null', schema: z.string().min(1).nullable(), takes: ['a', null], refuses: [''] },
  {
    what: 'a time',
    schema: z.iso.datetime(),
    takes: ['2026-01-31T23:59:59Z', '2026-01-31T23:59:59.123Z'],
    refuses: ['2026-01-31', '2026-02-30T00:00:00Z', '2026-01-31T23:59:59+01:00', 'now'],
  },
  {
    what: 'a time with a zone',
    schema: z.iso.datetime({ offset: true }),
    takes: ['2026-01-31T23:59:59Z', '2026-01-31T23:59:59+01:00'],
    refuses: ['2026-01-31T23:59:59', 'now'],
  },
  { what: 'a date', schema: z.iso.date(), takes: ['2024-02-29'], refuses: ['2026-02-29', '31.1.2026'] },
  { what: 'a URL', schema: z.url(), takes: ['https://a.example.com/b?c=d'], refuses: ['', 'a b'] },
  { what: 'an e-mail address', schema: z.email(), takes: ['a.b@example.com'], refuses: ['a', 'a@b', 'a@@b.com'] },
  { what: 'IPv4', schema: z.ipv4(), takes: ['10.0.0.1'], refuses: ['10.0.0.256', '10.0.0', '::1'] },
  { what: 'IPv6', schema: z.ipv6(), takes: ['::1', 'fe80::1'], refuses: ['10.0.0.1', ':::'] },
  { what: 'a network', schema: z.cidrv4(), takes: ['10.0.0.0/8'], refuses: ['10.0.0.0', '10.0.0.0/33'] },
  { what: 'a host', schema: z.hostname(), takes: ['a.example.com', 'localhost'], refuses: ['a b', '-a', 'a/b'] },
  {
    what: 'a UUID',
    schema: z.uuid(),
    takes: ['123e4567-e89b-42d3-a456-426614174000'],
    refuses: ['123e4567e89b42d3a456426614174000', 'x'],
  },
  { what: 'base64', schema: z.base64(), takes: ['', 'YWI='], refuses: ['YWI', '%'] },
  { what: 'a list', schema: z.array(z.int()).min(1).max(2), takes: [[1], [1, 2]], refuses: [[], [1, 2, 3], ['a'], 1] },
  {
    what: 'a list by name',
    schema: z
      .array(z.object({ name: z.string(), port: z.int().optional() }))
      .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] }),
    takes: [[{ name: 'a' }, { name: 'b', port: 1 }]],
    refuses: [[{ port: 1 }]],
  },
  {
    what: 'a map',
    schema: z.record(z.string(), z.int().min(0)),
    takes: [{}, { a: 1 }],
    refuses: [{ a: -1 }, { a: 'x' }],
  },
  {
    what: 'an object',
    schema: z.object({ a: z.string(), b: z.int().optional(), c: z.object({ d: z.int().default(2) }).prefault({}) }),
    takes: [{ a: '' }, { a: '', b: 1, c: { d: 3 } }],
    refuses: [{}, { a: 1 }, { a: '', b: 'x' }, { a: '', c: { d: 'x' } }],
  },
  { what: 'a shut object', schema: z.strictObject({ a: z.string() }), takes: [{ a: '' }], refuses: [{}] },
  { what: 'an open object', schema: z.looseObject({ a: z.string() }), takes: [{ a: '', b: [1] }], refuses: [{ b: 1 }] },
  { what: 'anything', schema: z.unknown().meta({ [preserveKey]: true }), takes: [1, 'a', { b: [1] }], refuses: [] },
  {
    what: 'a number or a name',
    schema: z.union([z.int(), z.string()]).meta({ 'x-kubernetes-int-or-string': true }),
    takes: [80, 'http'],
    refuses: [true, {}],
  },
  {
    what: 'a number or a name, each with bounds of its own',
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
    takes: [80, 'http'],
    refuses: [0, 70_000, '', 'HTTP', 'averyveryverylongname'],
  },
  {
    what: 'a rule',
    schema: range,
    takes: [{ low: 1, high: 2 }, { high: 2 }],
    refuses: [{ low: 2, high: 2 }, { high: 0 }],
  },
  {
    what: 'a rule in a list',
    schema: z.array(range).max(9),
    takes: [[], [{ high: 2 }]],
    refuses: [[{ high: 2 }, { low: 3, high: 2 }]],
  },
];
