// CEL rules as a schema's rules run: numbers by their schema's type, old values, and where a failure points. That they run only on
// what the schema accepts is in test/conformance/validations.ts.
import { describe, expect, it } from 'vitest';
import type { Json } from '../../../src/apiserver/json.ts';
import { ruleProblem } from '../../../src/apiserver/schema/rule-fields.ts';
import { createRules } from '../../../src/apiserver/schema/rules.ts';
import type { Rule, Schema } from '../../../src/apiserver/schema/schema.ts';

const rules = createRules();

function withRules(...list: readonly Rule[]): Schema {
  return {
    type: 'object',
    properties: {
      count: { type: 'integer' },
      ratio: { type: 'number' },
      since: { type: 'string', format: 'date-time' },
      'dash-ed': { type: 'string' },
      namespace: { type: 'string' },
      names: { type: 'array', items: { type: 'string' } },
      labels: { type: 'object', additionalProperties: { type: 'string' } },
    },
    'x-kubernetes-validations': list,
  };
}

function holds(rule: string, value: Json, old?: Json): boolean {
  return rules.check(value, old, withRules({ rule })).length === 0;
}

describe('rules', () => {
  it.each<[string, Json]>([
    ['self.count / 2 == 1', { count: 3 }],
    ['self.ratio / 2.0 == 1.5', { ratio: 3 }],
    ['self.ratio > 0', { ratio: 0.5 }],
    ["timestamp('2026-01-01T00:00:00Z') < self.since", { since: '2026-06-01T00:00:00Z' }],
    ["self.dash__dash__ed == 'x'", { 'dash-ed': 'x' }],
    ["self.__namespace__ == 'x'", { namespace: 'x' }],
    ["self.names.all(name, name.startsWith('a'))", { names: ['ab', 'ac'] }],
    ["self.names.exists(name, name.matches('^b+$'))", { names: ['a', 'bb'] }],
    ["'a-b' in self.labels && size(self.labels) == 1", { labels: { 'a-b': 'c' } }],
    ['!has(self.count) || self.count > 0', {}],
  ])('%s holds for %j', (rule, value) => {
    expect(holds(rule, value)).toBe(true);
    expect(holds(`!(${rule})`, value)).toBe(false);
  });

  it('a transition rule is asked of updates only', () => {
    const grows = 'self.count >= oldSelf.count';
    expect(holds(grows, { count: 1 })).toBe(true);
    expect(holds(grows, { count: 2 }, { count: 1 })).toBe(true);
    expect(holds(grows, { count: 1 }, { count: 2 })).toBe(false);
  });

  it('what an update leaves alone is not judged again, except by transition rules', () => {
    expect(holds('self.count > 5', { count: 1 }, { count: 1 })).toBe(true);
    expect(holds('self.count != oldSelf.count', { count: 1 }, { count: 1 })).toBe(false);
  });

  it('the old value of an item of a list-map is the item of the same key, wherever it was', () => {
    const item: Schema = {
      type: 'object',
      properties: { name: { type: 'string' }, size: { type: 'integer' } },
      'x-kubernetes-validations': [{ rule: 'self.size >= oldSelf.size', message: 'only up' }],
    };
    const schema: Schema = {
      type: 'array',
      items: item,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
    };
    const [a, b] = [
      { name: 'a', size: 5 },
      { name: 'b', size: 1 },
    ];
    expect(rules.check([b, a], [a, b], schema, 'spec.list')).toEqual([]);
    expect(rules.check([b, { ...a, size: 4 }], [a, b], schema, 'spec.list')).toMatchObject([
      { field: 'spec.list[1]', message: 'Invalid value: only up' },
    ]);
  });

  it('a failure says its message, its path and its reason', () => {
    const failure = (rule: Omit<Rule, 'rule'>) =>
      rules.check({ count: 1 }, undefined, withRules({ rule: 'false', ...rule }), 'spec');
    expect(failure({})).toEqual([
      { reason: 'FieldValueInvalid', message: 'Invalid value: failed rule: false', field: 'spec' },
    ]);
    expect(failure({ message: 'no', fieldPath: '.count', reason: 'FieldValueForbidden' })).toEqual([
      { reason: 'FieldValueForbidden', message: 'Forbidden: no', field: 'spec.count' },
    ]);
    expect(failure({ messageExpression: "'count is ' + string(self.count)" })).toMatchObject([
      { message: 'Invalid value: count is 1' },
    ]);
  });

  it('a rule that fails to run refuses the object and says why', () => {
    const [cause] = rules.check({}, undefined, withRules({ rule: 'self.count > 0' }), 'spec');
    expect(cause?.message).toContain('evaluating rule: failed rule: self.count > 0');
  });
});

describe('rules as they are written', () => {
  it.each([
    ['self.cuont > 0', "undefined field 'cuont'"],
    ['has(self.nope)', "undefined field 'nope'"],
    ['self.names.all(name, self.nope == name)', "undefined field 'nope'"],
    ['self.count >', 'Syntax error'],
  ])('%s is refused with the definition', (rule, problem) => {
    expect(ruleProblem(rule, withRules())).toContain(problem);
  });

  it.each([
    'self.labels.anything == oldSelf.labels.other',
    'self.dash__dash__ed != self.__namespace__',
  ])('%s is good', (rule) => {
    expect(ruleProblem(rule, withRules())).toBeUndefined();
  });
});
