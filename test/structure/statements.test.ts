// Only that no behaviour of docs/records/behaviour.md is without a test: every id starts the name of a test. `npm run mutate` shows whether the
// test would fail.
import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { statementIds } from '../../tools/mutants/statement-ids.ts';

const all = [...readFileSync('docs/records/behaviour.md', 'utf8').matchAll(/^\| ([A-Z]+\d+[a-z]?) \|/gm)]
  .map(([, id = '']) => id)
  .filter((id) => !/^G\d$/.test(id));

/** Test names are strings or templates that start with ids; in a table an id may stand alone, for `$id: ...`. */
const met = new Set(
  globSync('test/**/*.ts')
    .filter((file) => !file.startsWith('test/structure/') && !file.includes('node_modules/'))
    .flatMap((file) => [...readFileSync(file, 'utf8').matchAll(/(['"`])((?:(?!\1).)+?)(?:: |\1)/g)])
    .flatMap(([, , name = '']) => statementIds(`${name}: `)),
);

it('every behaviour id starts the name of a test', () => {
  expect(all).toHaveLength(182);
  expect(all.filter((id) => !met.has(id))).toEqual([]);
});

it('no test is named after an id that does not exist', () => {
  expect([...met].filter((id) => /\d/.test(id) && !all.includes(id))).toEqual([]);
});

it('each id has one line in docs/records/behaviour.md', () => {
  expect(new Set(all).size).toBe(all.length);
});
