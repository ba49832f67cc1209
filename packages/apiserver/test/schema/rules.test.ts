// CEL rules of a schema: numbers by the type of the schema, old values, and the causes of failures. Rules only run on
// values that the schema accepts; test/conformance/validations.test.ts tests that.
import { describe, expect, it } from 'vitest';
import type { Json } from '../../src/json.ts';
import { ruleError } from '../../src/schema/rule-fields.ts';
import { createRules } from '../../src/schema/rules.ts';
import type { Schema, ValidationRule } from '../../src/schema/schema.ts';

const rules = createRules();

function withRules(...list: readonly ValidationRule[]): Schema {
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
      embedded: { type: 'object', 'x-kubernetes-embedded-resource': true, properties: { spec: { type: 'object' } } },
      parts: { type: 'array', items: { type: 'object', properties: { size: { type: 'integer' } } } },
    },
    'x-kubernetes-validations': list,
  };
}

function holds(rule: string, value: Json, old?: Json): boolean {
  return rules.check(value, old, withRules({ rule })).length === 0;
}

describe('evaluation of rules', () => {
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
    ["self.?labels.?a.orValue('none') == 'none' && !self.?count.hasValue()", { labels: {} }],
    ['!self.?a.b.hasValue() && self.?a.b.c.orValue(1) == 1', { a: {} }],
    ["self[?'a'].b.orValue(1) == 2 && self.?a.value().b == 2", { a: { b: 2 } }],
    [
      `self.labels[?'a-b'].orValue('') == 'c.?d' && self.labels[?"a-b"].orValue('').matches('^c[.?]+d')`,
      { labels: { 'a-b': 'c.?d' } },
    ],
    ["isQuantity('1.5Gi') && !isQuantity('1Q') && !isQuantity('')", {}],
    ["quantity('1Gi').isGreaterThan(quantity('1G')) && quantity('-1').isLessThan(quantity('0'))", {}],
    ["quantity('200M') == quantity('0.2G') && quantity('200M').compareTo(quantity('0.2G')) == 0", {}],
    ["quantity('50k').asInteger() == 50000 && quantity('9Gi').isInteger() && !quantity('1500m').isInteger()", {}],
    ["['1000m', '1.0', '1.5Gi', '1Pi', '1000000000000000000'].all(q, !quantity(q).isInteger())", {}],
    ["['1e3', '1.5k', '007', '1Ti', '1.'].all(q, quantity(q).isInteger()) && quantity('1.0') == quantity('1')", {}],
    ["!quantity('1').add(quantity('1.0')).isInteger() && quantity('1').sub(3).asInteger() == -2", {}],
    ["quantity('50k').add(20) == quantity('50020') && quantity('50k').sub(quantity('60k')).sign() == -1", {}],
    ["quantity('1500m').asApproximateFloat() == 1.5 && quantity('9E').compareTo(quantity('8Ei')) == -1", {}],
    ['self.names.isSorted() && ![2, 1].isSorted() && [].isSorted() && [1, 1].isSorted()', { names: ['a', 'b'] }],
    ['[1, 2].sum() == 3 && [1.5, 2.0].sum() == 3.5 && [].sum() == 0', {}],
    ["self.names.min() == 'a' && self.names.max() == 'c' && [2, 3, 1].min() == 1", { names: ['b', 'c', 'a'] }],
    ["self.names.indexOf('b') == 1 && self.names.lastIndexOf('b') == 2", { names: ['a', 'b', 'b'] }],
    ["self.names.indexOf('c') == -1 && self.names.lastIndexOf('c') == -1 && 'abc'.indexOf('c') == 2", { names: [] }],
    ["sets.contains(self.names, ['a']) && !sets.contains(self.names, ['a', 'c'])", { names: ['a', 'b'] }],
    ['sets.equivalent([1, 2], [2, 1, 1]) && !sets.equivalent([1], [1, 2]) && !sets.equivalent([1, 2], [1])', {}],
    ['sets.intersects([1, 2], [2, 3]) && !sets.intersects([1], [2])', {}],
    ["'abc 123'.find('[0-9]+') == '123' && 'abc'.find('[0-9]') == ''", {}],
    ["'1 b 2'.findAll('[0-9]') == ['1', '2'] && '1 2'.findAll('[0-9]', 1) == ['1']", {}],
    ["'1 2'.findAll('[0-9]', 0) == [] && '1 2'.findAll('[0-9]', -1).size() == 2 && 'a'.findAll('b') == []", {}],
  ])('the rule %s is true for %j', (rule, value) => {
    expect(holds(rule, value)).toBe(true);
    expect(holds(`!(${rule})`, value)).toBe(false);
  });

  it('a transition rule is evaluated only for updates', () => {
    const grows = 'self.count >= oldSelf.count';
    expect(holds(grows, { count: 1 })).toBe(true);
    expect(holds(grows, { count: 2 }, { count: 1 })).toBe(true);
    expect(holds(grows, { count: 1 }, { count: 2 })).toBe(false);
  });

  it('an unchanged value is evaluated again only by transition rules', () => {
    expect(holds('self.count > 5', { count: 1 }, { count: 1 })).toBe(true);
    expect(holds('self.count != oldSelf.count', { count: 1 }, { count: 1 })).toBe(false);
  });

  it('oldSelf of an item in a list of type map is the old item with the same key, at any index', () => {
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

  it('a violated rule is a cause with message, field and reason', () => {
    const failure = (rule: Omit<ValidationRule, 'rule'>) =>
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

  it('a message expression of a rule with an optional oldSelf reads it as the rule does, also at a create', () => {
    const messageExpression = "oldSelf.hasValue() ? 'at an update' : 'at a create'";
    const schema = withRules({ rule: 'oldSelf.hasValue() && false', optionalOldSelf: true, messageExpression });
    expect(rules.check({ count: 1 }, undefined, schema)).toMatchObject([{ message: 'Invalid value: at a create' }]);
    expect(rules.check({ count: 1 }, { count: 2 }, schema)).toMatchObject([{ message: 'Invalid value: at an update' }]);
  });

  it('a rule with an evaluation error is a cause with that error', () => {
    const [cause] = rules.check({}, undefined, withRules({ rule: 'self.count > 0' }), 'spec');
    expect(cause?.message).toContain('evaluating rule: self.count > 0');
    const [none] = rules.check({}, undefined, withRules({ rule: 'self.?count.value() > 0' }), 'spec');
    expect(none?.message).toContain('optional.none() dereference');
  });
});

describe('fields of rules', () => {
  it.each([
    ['self.cuont > 0', "undefined field 'cuont'"],
    ['has(self.nope)', "undefined field 'nope'"],
    ['self.names.all(name, self.nope == name)', "undefined field 'nope'"],
    ['self.parts.all(part, part.nope > 1)', "undefined field 'nope'"],
    ['self.parts.exists(a, self.parts.exists_one(b, a.size == b.nope))', "undefined field 'nope'"],
    ['self.parts[0].nope > 1', "undefined field 'nope'"],
    ['self.count >', 'Syntax error'],
  ])('the rule %s is an error of its definition', (rule, error) => {
    expect(ruleError(rule, withRules())).toContain(error);
  });

  it.each([
    'self.labels.anything == oldSelf.labels.other',
    'self.dash__dash__ed != self.__namespace__',
    'self.parts.all(part, part.size > 1 && self.parts[0].size > 1)',
    'self.parts.map(part, part.size).all(size, size > 1)',
    "self.labels.all(label, self.labels[label] != '')",
    'self.parts.all(self, self.size > 1)',
    "self.embedded.metadata.name != ''",
  ])('the rule %s has no error', (rule) => {
    expect(ruleError(rule, withRules())).toBeUndefined();
  });
});
