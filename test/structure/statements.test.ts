// Only that no behaviour of docs/behaviour.md is without a test: every id starts the name of a test. `npm run mutate` shows whether the
// test would fail.
import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { statementIds } from '../../tools/mutants/statement-ids.ts';

/** Family → the number of its last behaviour; they are numbered from 1. */
const families = { W: 11, I: 14, BK: 11, TN: 5, B: 32, M: 31, F: 12, C: 8, V: 14, X: 24 };

/** Ids that were inserted between two numbers. */
const between = [
  ...['B13a', 'B13b', 'B15a', 'B19a'],
  ...['M6a', 'M7a', 'M10a', 'M10b', 'M10c', 'M12a', 'M12b', 'M12c', 'M12d', 'M12e', 'M12f', 'M13a', 'M18a', 'M18b'],
  'M22a',
  'M29a',
];

/** Behaviours without a test yet, each with the reason. */
const later: Readonly<Record<string, string>> = {};

/** Behaviours that are not met. An id that gets a test must leave this list. */
const missing: readonly string[] = [];

const all = [
  ...Object.entries(families).flatMap(([family, last]) =>
    Array.from({ length: last }, (_, index) => `${family}${index + 1}`),
  ),
  ...between,
];

/** Test names are strings or templates that start with ids; in a table an id may stand alone, for `$id: ...`. */
const met = new Set(
  globSync('test/**/*.ts')
    .filter((file) => !file.startsWith('test/structure/') && !file.includes('node_modules/'))
    .flatMap((file) => [...readFileSync(file, 'utf8').matchAll(/(['"`])((?:(?!\1).)+?)(?:: |\1)/g)])
    .flatMap(([, , name = '']) => statementIds(`${name}: `)),
);

it('every behaviour id starts the name of a test, except the listed ones', () => {
  expect(all.filter((id) => !met.has(id) && !(id in later) && !missing.includes(id))).toEqual([]);
});

it('a behaviour that is listed as untested has no test', () => {
  expect([...Object.keys(later), ...missing].filter((id) => met.has(id))).toEqual([]);
});

it('no test is named after an id that does not exist', () => {
  expect([...met].filter((id) => /\d/.test(id) && !all.includes(id))).toEqual([]);
});

it('docs/behaviour.md has a line for each id, and for no other', () => {
  const listed = [...readFileSync('docs/behaviour.md', 'utf8').matchAll(/^\| ([A-Z]+\d+[a-z]?) \|/gm)].map(
    ([, id]) => id,
  );
  expect(new Set(listed).size).toBe(listed.length);
  expect(listed.filter((id = '') => !/^G\d$/.test(id)).sort()).toEqual([...all].sort());
});
