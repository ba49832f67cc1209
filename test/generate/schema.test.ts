// Only structural schemas and CRDs from zod, as values. generated.test.ts applies them to an API server.
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { defineKind, isCustomKind } from '../../src/api/custom-kind.ts';
import { withRule } from '../../src/api/rule.ts';
import { Book } from '../../src/controllers/book.ts';
import { registry } from '../../src/controllers/registry.ts';
import { isJsonObject, type Json } from '../../src/core/json.ts';
import { crdOf } from '../../src/generate/crd/crd.ts';
import { structuralSchema } from '../../src/generate/crd/schema.ts';

const schemaOf = (shape: z.ZodRawShape) => structuralSchema(z.object(shape), 'spec').properties;

describe('structuralSchema', () => {
  // Which values a schema accepts is tested with every construct in generated.test.ts.
  it.each<[string, z.ZodType, object]>([
    [
      'the format of an integer',
      z
        .int()
        .min(0)
        .max(2 ** 40),
      { type: 'integer', format: 'int64', minimum: 0, maximum: 2 ** 40 },
    ],
    ['a format of 32 bits', z.int().min(0).max(64), { type: 'integer', format: 'int32', minimum: 0, maximum: 64 }],
    ['a default', z.number().default(3), { type: 'number', default: 3 }],
    ['a null as a default, which is none', z.string().nullable().default(null), { type: 'string', nullable: true }],
    ['the format of a URL', z.url(), { type: 'string', format: 'uri', pattern: '^[A-Za-z][A-Za-z0-9+.-]*:' }],
    ['a description', z.string().describe('what'), { type: 'string', description: 'what' }],
  ])('structuralSchema has %s', (_, schema, expected) => {
    expect(schemaOf({ field: schema })).toEqual({ field: expected });
  });

  it('structuralSchema requires fields that have no default and are not optional', () => {
    const schema = z.object({ a: z.string(), b: z.string().optional(), c: z.string().default('x') });
    expect(structuralSchema(schema, 'spec').required).toEqual(['a']);
  });

  it('structuralSchema has the rules, also of nested objects', () => {
    const inner = withRule(
      z.object({ low: z.number(), high: z.number() }),
      { rule: 'self.low < self.high', message: 'low must be below high', fieldPath: '.low' },
      ({ low, high }) => low < high,
    );
    expect(schemaOf({ range: inner })).toMatchObject({
      range: { 'x-kubernetes-validations': [{ rule: 'self.low < self.high', fieldPath: '.low' }] },
    });
  });

  const letter = String.raw`\p{L}`;
  const goAlone = [
    String.raw`^a$|\A1`,
    String.raw`1\z`,
    String.raw`\x{41}`,
    String.raw`\400`,
    String.raw`[\d[:alpha:]]`,
  ];
  const ruled = withRule(z.object({ a: z.int() }), { rule: 'self.a > 0', message: 'a is above 0' }, ({ a }) => a > 0);
  it.each<[string, z.ZodType, string]>([
    ['a transform', z.string().transform(Number), 'a transform (the text can, which reconcile converts) cannot become'],
    ['an optional transform', z.string().transform(Number).optional(), 'a transform'],
    ['an exactly optional transform', z.string().transform(Number).exactOptional(), 'a transform'],
    ['a pipe', z.string().pipe(z.coerce.number()), 'a transform'],
    ['a preprocess', z.preprocess((text) => text, z.string()), 'a transform'],
    ['a codec', z.codec(z.string(), z.number(), { decode: Number, encode: String }), 'a transform'],
    ['a trim', z.string().trim(), 'a transform'],
    ['a refinement', z.string().refine((text) => text !== 'x'), 'a refinement needs a CEL rule'],
    ['a superRefine', z.object({}).superRefine(() => {}), 'a refinement needs a CEL rule'],
    ['a check', z.string().check(() => {}), 'a refinement needs a CEL rule'],
    [
      'a refinement in an int-or-string',
      z.union([z.int(), z.string().refine(() => true)]).meta({ 'x-kubernetes-int-or-string': true }),
      'a refinement needs a CEL rule',
    ],
    [
      'an int-or-string of a boolean',
      z.union([z.boolean(), z.string()]).meta({ 'x-kubernetes-int-or-string': true }),
      'an int-or-string has one integer and one string, not boolean and string',
    ],
    ['a URL with a protocol', z.url({ protocol: /^https$/ }), 'a URL with options cannot become'],
    ['a URL of http', z.httpUrl(), 'a URL with options'],
    ['a web token', z.jwt(), 'the format jwt cannot become'],
    ['a card number', z.creditCard(), 'the format credit_card'],
    ['a format with a function', z.stringFormat('even', ({ length }) => length % 2 === 0), 'the format even'],
    ['a check of a property', z.string().check(z.property('length', z.number())), 'the check property of string'],
    ['a check of a wrapper', z.array(z.int()).readonly().check(z.minLength(1)), 'the check min_length of readonly'],
    ['a float of 32 bits', z.float32(), 'with a bound of 2^63 or more'],
    ['a divisor with a fraction', z.number().multipleOf(0.5), 'a multipleOf with a fraction'],
    ['two divisors', z.int().multipleOf(2).multipleOf(3), 'two multipleOf'],
    ['a refinement in addition to a rule', ruled.refine(() => true), 'a refinement needs a CEL rule'],
    ['a refinement of an optional schema', ruled.optional().refine(() => true), 'a refinement needs a CEL rule'],
    ['a custom type', z.custom(() => true), 'a custom check'],
    ['a union', z.union([z.string(), z.object({})]), 'a union (optional fields with withRule can'],
    ['a discriminated union', z.discriminatedUnion('t', [z.object({ t: z.literal('a') })]), 'a union'],
    ['an intersection', z.intersection(z.object({}), z.object({})), 'an intersection'],
    ['a Date', z.date(), 'a Date (z.iso.datetime() can)'],
    ['a lazy Date', z.lazy(() => z.date()), 'a Date'],
    ['a Map', z.map(z.string(), z.string()), 'a Map'],
    ['a Set', z.set(z.string()), 'a Set'],
    ['any', z.any(), 'any value (unless'],
    ['unknown', z.unknown(), 'an unknown value (unless'],
    ['null alone', z.null(), 'null (zod)'],
    ['a tuple', z.tuple([z.string()]), 'a tuple'],
    ['a bigint', z.bigint(), 'a bigint'],
    ['a catch', z.string().catch('x'), 'a catch'],
    ['a template literal', z.templateLiteral(['a', z.number()]), 'a template literal'],
    ['literals of two types', z.literal(['a', 1]), 'a literal that is not of one plain type'],
    ['nullable number literals', z.literal([1, 2]).nullable(), 'an enum of numbers cannot be null'],
    ['a rule on keys', z.record(z.string().max(9), z.string()), 'a rule on keys'],
    ['an enum of keys', z.record(z.enum(['a']), z.string()), 'a rule on keys'],
    ['a catchall', z.object({}).catchall(z.string()), 'a catchall'],
    ['a random default', z.number().default(() => Math.random()), 'a default that changes'],
    ['a default out of bounds', z.int().min(5).default(3), 'the default 3 is not valid: '],
    ['a nested default', z.object({ a: z.string().min(1) }).default({ a: '' }), 'the default {"a":""} is not valid: a'],
    ['a prefault that is no choice', z.string().regex(/^a/).prefault('b'), 'the default "b" is not valid: '],
    [
      'a default that cannot be checked',
      z.object({ a: z.string().refine(async () => true) }).default({ a: '' }),
      'the default {"a":""} is not valid: Encountered Promise',
    ],
    ['an enum of numbers and texts', z.enum({ one: 1, two: 'two' }), 'an enum of numbers and texts cannot become'],
    ['a case-insensitive pattern', z.string().regex(/a/i), 'the flag i of a pattern'],
    ['a lookahead', z.string().regex(/^(?=a)/), "Go's regular expressions"],
    ['a back reference', z.string().regex(/(a)\1/), "Go's regular expressions"],
    ['a code point in a class', z.string().regex(/[\u00e9]/), "Go's regular expressions"],
    ['a backspace', z.string().regex(/[^\b]/), "Go's regular expressions"],
    ...goAlone.map((source): [string, z.ZodType, string] => [
      `${source}, which Go alone has`,
      z.string().regex(new RegExp(source)),
      "JavaScript's regular expressions",
    ]),
    ['more than 1,000 repeats', z.string().regex(/^[a-z]{1,1001}$/), "Go's regular expressions have no more than 1000"],
    ['nested repeat', z.string().regex(/^(([a}]{1,63})?\.){1,32}$/), "Go's regular expressions have no more than 1000"],
    ['a script', z.string().regex(/\p{Script=Greek}/u), "Go's regular expressions have no \\p{Script=Greek}"],
    ['a property', z.string().regex(/[\P{Alphabetic}]/u), "Go's regular expressions have no \\p{Alphabetic}"],
    ['a property without the flag u', z.string().regex(new RegExp(letter)), 'the pattern /\\p{L}/ needs the flag u'],
    ['a pattern with set operations', z.string().regex(/[\p{L}--[a-z]]/v), 'the flag v of a pattern'],
    ['an ISO duration', z.iso.duration(), "Go's regular expressions"],
    ['a field that every object has', z.object({ valueOf: z.int().optional() }), 'valueOf is a member of every'],
    ['an id', z.string().meta({ id: 'Name' }), 'a schema with an id'],
  ])('structuralSchema rejects %s with the field’s path', (_, schema, problem) => {
    const field = z.object({ field: schema });
    expect(() => schemaOf({ list: z.array(field) })).toThrow(`spec.list[].field: ${problem}`);
    expect(() => schemaOf({ map: z.record(z.string(), field) })).toThrow(`spec.map{}.field: ${problem}`);
  });

  it('structuralSchema rejects recursion', () => {
    const node: z.ZodObject = z.object({
      get children() {
        return z.array(node);
      },
    });
    expect(() => schemaOf({ root: node })).toThrow('spec.root.children[]: a recursive schema');
  });
});

describe('crdOf', () => {
  const kind = defineKind({
    group: 'a.example.com',
    version: 'v1',
    kind: 'Berry',
    spec: z.object({ count: z.int().min(0), note: z.string().optional() }),
    status: z.object({
      count: z.int(),
      pods: z.string().optional(),
      ripe: z.boolean().optional(),
      picked: z.iso.datetime().optional(),
    }),
    conditions: ['Ripe'],
    columns: {
      Count: '.spec.count',
      Ripe: '.status.ripe',
      Picked: { path: '.status.picked', type: 'string', wide: true, description: 'when' },
    },
    scale: { spec: '.spec.count', status: '.status.count', selector: '.status.pods' },
    nameRule: { rule: 'size(self.metadata.name) <= 20', message: 'a name has at most 20 characters' },
  });
  const text = JSON.stringify(crdOf(kind));

  it.each([
    ['its name from plural and group', '"name":"berries.a.example.com"'],
    ['no required field of a status, so a first failure can be written', '"status":{"type":"object","properties":'],
    ['conditions as a map list, which field managers can share', '"x-kubernetes-list-map-keys":["type"]'],
    ['the subresource status', '"subresources":{"status":{},'],
    [
      'the paths of scale, by whose selector an autoscaler finds the pods',
      '{"specReplicasPath":".spec.count","statusReplicasPath":".status.count","labelSelectorPath":".status.pods"}',
    ],
    ['the types of columns', '{"name":"Ripe","type":"boolean","jsonPath":".status.ripe"}'],
    [
      'a column with a type of its own, shown with -o wide',
      '{"name":"Picked","type":"string","description":"when","priority":1,"jsonPath":".status.picked"}',
    ],
    ['the rule for names', 'size(self.metadata.name) <= 20'],
  ])('a CRD has %s', (_, part) => expect(text).toContain(part));

  it.each([
    ['.spec.cuont', false],
    ['.status.count.more', true],
    ['.status.observedGeneration', true],
    ['.status.conditions[?(@.type=="Ripe")].status', true],
    ['.metadata.generation', true],
  ] as const)('crdOf accepts a column of %s: %s', (path, isAccepted) => {
    const { spec, status } = kind.definition;
    const names = { group: 'a.example.com', version: 'v1', kind: 'Berry' };
    const crd = () => crdOf(defineKind({ ...names, spec, status, conditions: ['Ripe'], columns: { Odd: path } }));
    if (isAccepted) expect(JSON.stringify(crd())).toContain('"name":"Odd"');
    else expect(crd).toThrow(`columns.Odd: there is no field ${path}`);
  });
  it.each([
    [{ spec: '.spec.cuont', status: '.status.count' }, 'scale.spec: there is no field .spec.cuont'],
    [{ spec: '.spec.count', status: '.status.ripe' }, 'scale.status: .status.ripe is not a whole number'],
    [
      { spec: '.spec.count', status: '.status.count', selector: '.status.count' },
      'scale.selector: .status.count is not a text',
    ],
  ] as const)('crdOf refuses the scale %j', (scale, text) => {
    const { spec, status } = kind.definition;
    const names = { group: 'a.example.com', version: 'v1', kind: 'Berry' };
    expect(() => crdOf(defineKind({ ...names, spec, status, conditions: ['Ripe'], scale }))).toThrow(text);
  });

  it.each([
    [['v1']],
    [['v1alpha1', 'v1alpha1']],
    [['V1']],
  ])('a kind with the former versions %j is refused', (former) => {
    const kind = defineKind({
      group: 'a.example.com',
      version: 'v1',
      kind: 'Berry',
      spec: z.object({}),
      status: z.object({}),
      conditions: [],
      formerVersions: former,
    });
    expect(() => crdOf(kind)).toThrow('formerVersions: ');
  });

  it.each([
    ['shortNames', { shortNames: ['b', 'BY'] }],
    ['plural', { plural: 'Berries' }],
    ['kind', { kind: 'Red Berry', plural: 'berries' }],
    ['group', { group: 'A.example.com' }],
    ['version', { version: '1.0' }],
  ])('a kind whose %s an API server refuses is refused', (field, names) => {
    const { spec, status } = kind.definition;
    const given = { group: 'a.example.com', version: 'v1', kind: 'Berry', ...names };
    expect(() => crdOf(defineKind({ ...given, spec, status, conditions: [] }))).toThrow(`${field}: `);
  });

  it('crdOf has columns for Ready and its reason only for kinds with a controller', () => {
    const columns = /"additionalPrinterColumns":(\[.*?\]),"schema"/;
    const names = (crd: object) => {
      const [, list = '[]'] = columns.exec(JSON.stringify(crd)) ?? [];
      return JSON.parse(list).map(
        ({ name, priority = 0 }: { name: string; priority?: number }) => `${name} ${priority}`,
      );
    };
    expect(names(crdOf(kind))).toEqual(['Count 0', 'Ripe 0', 'Picked 1', 'Ready 0', 'Reason 0', 'Age 0']);
    expect(names(crdOf(kind, { controlled: false }))).toEqual(['Count 0', 'Ripe 0', 'Picked 1', 'Age 0']);
  });
});

/** The texts, lists and maps of a schema that may have any size. */
function unlimited(schema: Json | undefined, path: string): readonly string[] {
  if (!isJsonObject(schema)) return [];
  const { type, properties, items, additionalProperties } = schema;
  const isText = type === 'string' || schema['x-kubernetes-int-or-string'] === true;
  const isLimited =
    !(isText && schema.maxLength === undefined && schema.enum === undefined && schema.format === undefined) &&
    !(type === 'array' && schema.maxItems === undefined) &&
    !(additionalProperties !== undefined && schema.maxProperties === undefined);
  return [
    ...(isLimited ? [] : [path]),
    ...Object.entries(isJsonObject(properties) ? properties : {}).flatMap(([name, one]) =>
      unlimited(one, `${path}.${name}`),
    ),
    ...unlimited(items, `${path}[]`),
    ...unlimited(additionalProperties, `${path}{}`),
  ];
}

// Control T32.
it('every text, list and map in the spec of a sample has a limit, so that the cost of one object has one', () => {
  const kinds = registry.map(({ declaration }) => declaration.resource).filter(isCustomKind);
  expect(kinds.length).toBe(registry.length);
  const found = [Book, ...kinds].flatMap(({ kind, definition }) =>
    unlimited(structuralSchema(definition.spec, 'spec'), kind),
  );
  expect(found).toEqual([]);
});
