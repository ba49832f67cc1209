// Only reading and writing YAML. That kubectl, kustomize and Helm read the same is shown in test/cluster/yaml.test.ts.
import { describe, expect, it } from 'vitest';
import { readYaml, readYamlDocuments } from '../src/yaml/read.ts';
import { Verbatim, writeYaml } from '../src/yaml/write.ts';
import { hostileTexts, readings } from './texts.ts';

describe('K6: YAML that people give', () => {
  it.each(readings)('%j is read as kubectl reads it', (text, documents) => {
    if (documents === undefined) expect(() => readYamlDocuments(text)).toThrow();
    else expect(readYamlDocuments(text)).toEqual(documents);
  });

  it('aliases that expand to a billion values are refused', () => {
    const lists = Array.from({ length: 9 }, (_, at) => `l${at + 1}: &l${at + 1} [${Array(10).fill(`*l${at}`).join()}]`);
    expect(() => readYaml(`l0: &l0 [a]\n${lists.join('\n')}\n`)).toThrow('aliases');
  });

  it('ten thousand levels are refused, and end no process', () => {
    expect(() => readYaml('['.repeat(10_000) + ']'.repeat(10_000))).toThrow();
  });

  it('U+2028 outside of quotes is refused with advice, because it is a line break for kubectl alone', () => {
    for (const text of ['a: b\u2028c\n', '# a\u2028b: 1\n', 'a: |\n  b\u2028c\n', 'a: "b \u2028c"\n'])
      expect(() => readYaml(text)).toThrow('write "\\u2028" in double quotes');
  });
});

describe('K6: what kubectl reads in another way in [] and {}', () => {
  it.each(['[?a]', '{b, ?a}', '[:a]', '[a:]', '{a:,b: 1}', '[a :]', '{b: !,a}', '[![]]'])('%s is refused', (text) => {
    expect(() => readYaml(`x: ${text}\n`)).toThrow('in [] and {} a');
  });

  it.each([
    ['[? a, a?b, "?c"]', [{ a: null }, 'a?b', '?c']],
    ['{a: , "b":1, c:d}', { a: null, b: 1, 'c:d': null }],
    ['[http://a:80, !!str 1]', ['http://a:80', '1']],
  ])('%s is read', (text, value) => {
    expect(readYaml(`x: ${text}\n`)).toEqual({ x: value });
  });
});

describe('K6: YAML that is written', () => {
  it('every hostile text is the same when it is read, as a value, a key, an item and deep inside', () => {
    for (const text of hostileTexts) {
      const value = { value: text, items: [text, [text]], [text]: { [text]: [{ [text]: text }] } };
      expect(readYamlDocuments(writeYaml([value, value])), JSON.stringify(text)).toEqual([value, value]);
    }
  });

  it('a text without another meaning is plain, and several lines are a block', () => {
    const text = writeYaml([
      { rule: 'self.a <= self.b', path: '.spec.a', kind: 'Foo', query: 'a\n  b', n: 1e21, no: [] },
    ]);
    expect(text).toBe(
      'rule: self.a <= self.b\npath: .spec.a\nkind: Foo\nquery: |-\n  a\n    b\n"n": 1.0e+21\n"no": []\n',
    );
  });

  it('half of a surrogate pair is U+FFFD, a number without a text is refused, and a member that is undefined is left out', () => {
    expect(writeYaml([{ a: '\ud800' }])).toBe('a: "\ufffd"\n');
    expect(() => writeYaml([Number.NaN])).toThrow('NaN');
    expect(writeYaml([{ a: undefined, b: new Verbatim('{{ c }}') }])).toBe('b: {{ c }}\n');
  });
});
