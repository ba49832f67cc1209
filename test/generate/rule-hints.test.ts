// Which fields generate names to bound when a kind has CEL rules, and which functions of them it names. That the API
// server accepts the rules then, is test/cluster/rule-costs.test.ts.
import { expect, it } from 'vitest';
import * as z from 'zod';
import { withRule } from '../../src/api/rule.ts';
import { crdOf } from '../../src/generate/crd/crd.ts';
import { ruleHints } from '../../src/generate/crd/rule-hints.ts';
import { structuralSchema } from '../../src/generate/crd/schema.ts';
import { defineKind } from '../../src/outrigger.ts';

/** The schema with a rule. */
const ruled = <S extends z.ZodType>(schema: S, rule: string) => withRule(schema, { rule, message: 'no' }, () => true);
const aKind = { group: 'a.example.com', version: 'v1', kind: 'A', status: z.object({}), conditions: [] };
const text = z.string();
const over = (field: string) => `${field}: a rule runs over it; bound it with .max()`;
const forEach = (field: string) => `${field}: a rule runs for each of it; bound it with .max()`;
const lacks = (at: string, name: string) =>
  `${at}: a rule calls ${name}(), so dev and tests refuse its objects: their API server lacks it`;
const item = ruled(z.object({ size: z.int() }), 'self.size > 1');

it.each([
  ['a rule over a list', ruled(z.object({ all: z.array(text) }), 'self.all.size() > 1'), [over('spec.all')]],
  [
    'two rules over a list',
    ruled(ruled(z.object({ all: z.array(text) }), 'self.all != []'), 'self.all.size() > 1'),
    [over('spec.all')],
  ],
  ['a rule over a bounded list', ruled(z.object({ all: z.array(text).max(9) }), 'self.all.size() > 1'), []],
  ['a rule over another field', ruled(z.object({ all: z.array(text), a: z.int() }), 'self.a > 1'), []],
  ['a rule over an enum', ruled(z.object({ side: z.enum(['a', 'b']) }), "self.side == 'a'"), []],
  ['a rule over a map', ruled(z.object({ map: z.record(text, text) }), "'a' in self.map"), [over('spec.map')]],
  ['a rule of a text', z.object({ name: ruled(text, "self.contains('a')") }), [over('spec.name')]],
  ['a rule of a text with a limit', z.object({ name: ruled(text.max(9), "self.contains('a')") }), []],
  ['a rule in a list', z.object({ all: z.array(item) }), [forEach('spec.all')]],
  ['a rule in a bounded list', z.object({ all: z.array(item).max(9) }), []],
  ['a rule in a map', z.object({ map: z.record(text, item) }), [forEach('spec.map')]],
  [
    'a rule in a list of lists of which one is bounded',
    z.object({ all: z.array(z.object({ few: z.array(item).max(9) })) }),
    [forEach('spec.all')],
  ],
  [
    'rules with functions of format and semver',
    z.object({
      a: ruled(text.max(9), '!format.dns1123Label().validate(self).hasValue()'),
      b: ruled(text.max(9), 'isSemver(self)'),
    }),
    [],
  ],
  [
    'a rule with an optional value that is made',
    z.object({ a: ruled(text.max(9), 'optional.of(self).hasValue()') }),
    [lacks('spec.a', 'optional.of')],
  ],
  ['a rule with functions of ip', z.object({ a: ruled(text.max(9), "{'b': ip(self).family()} == {}") }), []],
  ['a rule with functions of sets', z.object({ a: ruled(text.max(9), "sets.equivalent([self], ['a'])") }), []],
  ['no rule', z.object({ all: z.array(text) }), []],
])('the hints for %s name each unbounded field once', (_, spec, expected) => {
  expect(ruleHints(structuralSchema(spec, 'spec'), 'spec')).toEqual(expected);
});

it.each([
  ['a field that is not there', 'self.b > 1', "undefined field 'b'"],
  ['a syntax error', 'self.a ==', 'Syntax error'],
])('the CRD of a kind whose rule has %s is refused with the field', (_, rule, message) => {
  const all = z.array(ruled(z.object({ a: z.int() }), rule));
  const kind = defineKind({ ...aKind, spec: z.object({ all }) });
  expect(() => crdOf(kind)).toThrow(new RegExp(`^spec\\.all\\[\\]: .*${message}`));
});

it('the CRD of a kind whose rule has the path of a field that is not there is refused with the path', () => {
  const kindWith = (fieldPath: string) => {
    const size = z.object({ least: z.int() });
    const cel = { rule: 'self.size.least > 1', message: 'no', fieldPath };
    return defineKind({ ...aKind, spec: withRule(z.object({ size }), cel, () => true) });
  };
  expect(() => crdOf(kindWith('.size.most'))).toThrow(/^spec: .*"\.size\.most": must be a valid path/);
  expect(() => crdOf(kindWith('.size.least'))).not.toThrow();
});

it('a rule with a syntax that only a real API server knows is accepted', () => {
  expect(() =>
    crdOf(defineKind({ ...aKind, spec: ruled(z.object({ a: z.int() }), "{?'a': self.a} != {}") })),
  ).not.toThrow();
});
