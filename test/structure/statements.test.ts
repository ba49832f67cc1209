// Only that no statement is silently missing: every id starts the name of a test. Whether that test would notice anything is what
// `npm run mutate` is for.
import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { statementIds } from '../../tools/mutants/statement-ids.ts';

/** Family → the number of its last statement; they are numbered from 1. */
const families = { W: 10, I: 14, BK: 11, B: 32, M: 31, F: 12, C: 8, V: 13, X: 22 };

/** What was put between two numbers. */
const between = [
  ...['B13a', 'B13b', 'B15a', 'B19a'],
  ...['M6a', 'M7a', 'M10a', 'M10b', 'M10c', 'M12a', 'M12b', 'M12c', 'M12d', 'M12e', 'M12f', 'M13a', 'M18a', 'M18b'],
  'M22a',
];

/** Statements that come later, and why that is so. */
const later: Readonly<Record<string, string>> = {};

/** Not met yet. One that is met leaves this list, or this test fails: it only ever gets shorter. */
const missing: readonly string[] = [];

const all = [
  ...Object.entries(families).flatMap(([family, last]) =>
    Array.from({ length: last }, (_, index) => `${family}${index + 1}`),
  ),
  ...between,
];

/** Names of tests are texts that start with ids, in `it` as in a template; in a table an id may stand alone, for `$id: ...`. */
const met = new Set(
  globSync('test/**/*.ts')
    .filter((file) => !file.startsWith('test/mutants/') && !file.startsWith('test/structure/'))
    .flatMap((file) => [...readFileSync(file, 'utf8').matchAll(/(['"`])((?:(?!\1).)+?)(?:: |\1)/g)])
    .flatMap(([, , name = '']) => statementIds(`${name}: `)),
);

it('every statement starts the name of a test, except those that come later', () => {
  expect(all.filter((id) => !met.has(id) && !(id in later) && !missing.includes(id))).toEqual([]);
});

it('what is said to come later, or to be missing, is not there', () => {
  expect([...Object.keys(later), ...missing].filter((id) => met.has(id))).toEqual([]);
});

it('no test is named after a statement that does not exist', () => {
  expect([...met].filter((id) => /\d/.test(id) && !all.includes(id))).toEqual([]);
});
