// Only the pure parts of `npm run mutate`: the verdict on a run, and the error for a stale mutant.
import { expect, it } from 'vitest';
import { mutate, swap } from '../../../tools/mutants/mutant.ts';
import type { Test } from '../../../tools/mutants/run-suites.ts';
import { statementIds } from '../../../tools/mutants/statement-ids.ts';
import { formatVerdict, idsOf, judge } from '../../../tools/mutants/verdict.ts';

const test = (name: string, more: Partial<Test> = {}): Test => ({
  name,
  file: 'a.test.ts',
  passed: false,
  timedOut: false,
  ...more,
});

it.each([
  ['W3: it stands', ['W3']],
  ['M2, M12a, X15: it stands', ['M2', 'M12a', 'X15']],
  ['BK: a title that is empty', ['BK']],
  ['C, bad input: two owners', ['C']],
  ['it stands', []],
  ['Foo: it stands', []],
  ['W3 stands', []],
])('of %j are %j', (name, ids) => {
  expect(statementIds(name)).toEqual(ids);
});

it('the ids of a test come once each, in the order of their numbers', () => {
  expect(idsOf(['W10: a', 'W2, W10: b', 'I1: c'])).toEqual(['I1', 'W2', 'W10']);
});

it('a mutant that no test fails on survives, and one whose files cannot be loaded is not caught by that', () => {
  expect(judge({ type: 'ran', tests: [test('W1: a', { passed: true })] })).toEqual({ type: 'survived' });
  expect(judge({ type: 'broken', why: 'no such file' })).toEqual({ type: 'broken', why: 'no such file' });
});

it('a mutant is caught by the statements whose tests fail, and by tests without an id', () => {
  const verdict = judge({ type: 'ran', tests: [test('W1: a'), test('W2: b', { passed: true }), test('c')] });
  expect(formatVerdict(verdict)).toBe('W1 "c"');
});

it('a mutant that nothing comes to an end on is caught, and it is said by what', () => {
  expect(formatVerdict(judge({ type: 'hung' }))).toBe('timed out');
  const waiting = [test('W1: a', { timedOut: true }), test('W2: b', { timedOut: true })];
  expect(formatVerdict(judge({ type: 'ran', tests: waiting }))).toBe('timed out: W1 W2');
  expect(formatVerdict(judge({ type: 'ran', tests: [...waiting, test('W3: c')] }))).toBe('W1 W2 W3');
});

it('a mutant is stale when its text is nowhere in its file, or more than once', () => {
  const mutant = swap('is off by one', 'src/a.ts', 'a < b', 'a <= b');
  expect(mutate('if (a < b) c();', 'src/a.ts', mutant)).toBe('if (a <= b) c();');
  expect(mutate('d();', 'src/b.ts', mutant)).toBe('d();');
  expect(() => mutate('d();', 'src/a.ts', mutant)).toThrow('the mutant "is off by one" is stale: nowhere in src/a.ts');
  expect(() => mutate('a < b; a < b;', 'src/a.ts', mutant)).toThrow('more than once in src/a.ts');
});
