// Only from zod to structural schemas and CRDs, as values. That API servers take them is test/cluster/generated.test.ts.
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { defineResource } from '../../src/core/resource.ts';
import { withRule } from '../../src/core/rule.ts';
import { crdOf } from '../../src/generate/crd.ts';
import { structuralSchema } from '../../src/generate/schema.ts';

const draw = (shape: z.ZodRawShape) => structuralSchema(z.object(shape), 'spec').properties;

describe('a structural schema', () => {
  it.each<[string, z.ZodType, object]>([
    ['a string', z.string().min(1).max(9), { type: 'string', minLength: 1, maxLength: 9 }],
    ['a pattern', z.string().regex(/^a+$/), { type: 'string', pattern: '^a+$' }],
    ['an open minimum', z.number().gt(0), { type: 'number', minimum: 0, exclusiveMinimum: true }],
    ['an integer', z.int(), { type: 'integer', format: 'int64' }],
    ['a small integer', z.int().min(0).max(64), { type: 'integer', format: 'int32', minimum: 0, maximum: 64 }],
    ['a choice', z.enum(['a', 'b']), { type: 'string', enum: ['a', 'b'] }],
    ['a constant', z.literal('a'), { type: 'string', enum: ['a'] }],
    ['a default', z.number().default(3), { type: 'number', default: 3 }],
    ['null', z.string().nullable(), { type: 'string', nullable: true }],
    ['a time', z.iso.datetime(), { type: 'string', format: 'date-time', pattern: 'Z$' }],
    ['a URL', z.url(), { type: 'string', format: 'uri' }],
    ['a list', z.array(z.string()).min(1), { type: 'array', minItems: 1, items: { type: 'string' } }],
    ['a map', z.record(z.string(), z.number()), { type: 'object', additionalProperties: { type: 'number' } }],
    ['words for people', z.string().describe('what'), { type: 'string', description: 'what' }],
  ])('%s', (_, schema, expected) => {
    expect(draw({ field: schema })).toEqual({ field: expected });
  });

  it('requires what has neither a default nor a question mark', () => {
    const schema = z.object({ a: z.string(), b: z.string().optional(), c: z.string().default('x') });
    expect(structuralSchema(schema, 'spec').required).toEqual(['a']);
  });

  it('carries rules, also of nested objects', () => {
    const inner = withRule(
      z.object({ low: z.number(), high: z.number() }),
      { rule: 'self.low < self.high', message: 'low must be below high', fieldPath: '.low' },
      ({ low, high }) => low < high,
    );
    expect(draw({ range: inner })).toMatchObject({
      range: { 'x-kubernetes-validations': [{ rule: 'self.low < self.high', fieldPath: '.low' }] },
    });
  });

  it.each<[string, z.ZodType, string]>([
    ['a transform', z.string().transform(Number), 'spec.list[].field: a transform'],
    ['a trim', z.string().trim(), 'spec.list[].field: a transform'],
    ['a refinement without a rule', z.string().refine((text) => text !== 'x'), 'spec.list[].field: a refinement'],
    ['a union', z.union([z.string(), z.object({})]), 'spec.list[].field: a union'],
    ['a date', z.date(), 'spec.list[].field: a Date'],
    ['any', z.any(), 'spec.list[].field: any value'],
    ['a tuple', z.tuple([z.string()]), 'spec.list[].field: a tuple'],
    ['an optional transform', z.string().transform(Number).optional(), 'spec.list[].field: a transform'],
  ])('is refused for %s, by the field’s path', (_, schema, message) => {
    expect(() => draw({ list: z.array(z.object({ field: schema })) })).toThrow(message);
  });

  it('is refused for recursion', () => {
    const node: z.ZodObject = z.object({
      get children() {
        return z.array(node);
      },
    });
    expect(() => draw({ root: node })).toThrow('spec.root.children[]: a recursive schema');
  });
});

describe('a CRD', () => {
  const kind = defineResource({
    group: 'a.example.com',
    version: 'v1',
    kind: 'Berry',
    spec: z.object({ count: z.int().min(0), note: z.string().optional() }),
    status: z.object({ count: z.int(), ripe: z.boolean().optional() }),
    conditions: ['Ripe'],
    columns: { Count: '.spec.count', Ripe: '.status.ripe' },
    scale: { spec: '.spec.count', status: '.status.count' },
    nameRule: { rule: 'size(self.metadata.name) <= 20', message: 'a name has at most 20 characters' },
  });
  const text = JSON.stringify(crdOf(kind));

  it('is named after plural and group', () =>
    expect(crdOf(kind)).toMatchObject({ metadata: { name: 'berries.a.example.com' } }));
  it('requires nothing of a status, so that a first failure can be said', () => {
    expect(text).toContain('"status":{"type":"object","properties":{"count"');
  });
  it('has conditions that two managers can share', () =>
    expect(text).toContain('"x-kubernetes-list-map-keys":["type"]'));
  it('has both subresources', () => {
    expect(text).toContain(
      '"subresources":{"status":{},"scale":{"specReplicasPath":".spec.count","statusReplicasPath":".status.count"}}',
    );
  });
  it('types its columns', () => expect(text).toContain('{"name":"Ripe","type":"boolean","jsonPath":".status.ripe"}'));
  it('checks the name', () => expect(text).toContain('size(self.metadata.name) <= 20'));
});
