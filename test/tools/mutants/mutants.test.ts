// Only whether the mutants are fit to be run: `npm run mutate` runs them. Each has to be in a source once, and everything that has
// to be looked after has some.
import { existsSync, readFileSync } from 'node:fs';
import { transformSync } from 'esbuild';
import { expect, it } from 'vitest';
import { crdsOnly, registry } from '../../../src/controllers/registry.ts';
import { subjects } from '../../../tools/mutants/catalogue.ts';
import { mutate } from '../../../tools/mutants/mutant.ts';

const groups = subjects.flatMap((subject) => [...subject.generic, ...subject.own]);
const all = subjects.flatMap(({ name, generic, own }) =>
  [...generic, ...own].flatMap(({ mutants }) => mutants).map((mutant) => ({ id: `${name}: ${mutant.name}`, mutant })),
);

it('there are mutants of every controller, and of every kind without one', () => {
  const names = [...registry.map(({ name }) => name), ...crdsOnly.map(({ kind }) => kind)];
  const withTwo = subjects.filter(({ own }) => own.flatMap(({ mutants }) => mutants).length >= 2);
  expect(withTwo.map(({ name }) => name)).toEqual(expect.arrayContaining(names));
});

it('no mutant is there twice', () => {
  expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
});

it('every mutant names files that catch it, and every such file is there', () => {
  expect(groups.filter(({ suites }) => suites.length === 0)).toEqual([]);
  expect(groups.flatMap(({ suites }) => suites.filter((file) => !existsSync(file)))).toEqual([]);
});

it.each(all)('the mutant of $id is in the sources, once, and can be loaded', ({ mutant }) => {
  const files = new Set(mutant.edits.map(({ file }) => file));
  expect(files.size).toBeGreaterThan(0);
  for (const file of files) {
    const code = readFileSync(file, 'utf8');
    const mutated = mutate(code, file, mutant);
    expect(mutated).not.toBe(code);
    transformSync(mutated, { loader: 'ts' });
  }
});
