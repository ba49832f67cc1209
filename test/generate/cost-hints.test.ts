// Which fields generate names to bound when a kind has CEL rules. That the API server accepts the rules then, is
// test/cluster/rule-costs.test.ts.
import { expect, it } from 'vitest';
import * as z from 'zod';
import { withRule } from '../../src/api/rule.ts';
import { costHints } from '../../src/generate/crd/cost-hints.ts';
import { structuralSchema } from '../../src/generate/crd/schema.ts';

/** The schema with a rule. */
const ruled = <S extends z.ZodType>(schema: S, rule: string) => withRule(schema, { rule, message: 'no' }, () => true);
const text = z.string();
const over = (field: string) => `${field}: a rule runs over it; bound it with .max()`;
const forEach = (field: string) => `${field}: a rule runs for each of it; bound it with .max()`;
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
  ['no rule', z.object({ all: z.array(text) }), []],
])('the hints for %s name each unbounded field once', (_, spec, expected) => {
  expect(costHints(structuralSchema(spec, 'spec'), 'spec')).toEqual(expected);
});
