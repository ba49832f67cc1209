// Only the rows and seeds that a command line of `npm run chaos` selects, and when a row fails; not the rows themselves.
import { expect, it } from 'vitest';
import { createCatalogue } from '../../../tools/chaos/chaos.ts';
import { makePlan } from '../../../tools/chaos/plan.ts';
import { makeReport } from '../../../tools/chaos/report.ts';

const catalogue = createCatalogue();
const plan = (commit: number, ...args: string[]) =>
  makePlan(args, { catalogue, commitSeed: () => commit, randomSeed: () => 1 });
const names = (rows: readonly { readonly fault: string }[]) => rows.map(({ fault }) => fault);

it('makePlan --ci is equal for equal commits, and over many commits selects every row except the long ones', () => {
  expect(names(plan(5, '--ci').rows)).toEqual(names(plan(5, '--ci').rows));
  const seen = new Set(Array.from({ length: 300 }, (_, commit) => names(plan(commit, '--ci').rows)).flat());
  expect([...seen].sort()).toEqual(names(catalogue.filter(({ long }) => long !== true)).sort());
});

it('makePlan --ci has at most one slow row, as the last one, and uses the seed of the commit', () => {
  for (let commit = 0; commit < 50; commit += 1) {
    const { rows, seeds, real } = plan(commit, '--ci');
    expect(rows.slice(0, -1).some(({ slow }) => slow === true)).toBe(false);
    expect([seeds, real]).toEqual([[commit], true]);
  }
});

it('makePlan --full selects every row with three seeds and a thousand changes', () => {
  const { rows, seeds, amounts, real } = plan(5, '--full', '--seed', '7');
  expect([names(rows), seeds, amounts.changes, real]).toEqual([names(catalogue), [7, 8, 9], 1000, true]);
});

it('makePlan without --real lists the rows that need it as skipped', () => {
  const { rows, skipped } = plan(5);
  expect(names(skipped)).toContain('etcd restored from a backup');
  expect(rows.length + skipped.length).toBe(catalogue.length);
});

it('createCatalogue has rows with unique names', () => {
  expect(new Set(names(catalogue)).size).toBe(catalogue.length);
});

const good = {
  seed: 1,
  fault: 'overload',
  how: 'many requests',
  fired: 2,
  changes: 10,
  lost: [],
  concurrent: 0,
  extraWrites: 1,
  convergeSeconds: 1.25,
  notes: [],
};

it.each([
  ['passes if the fault occurred and no change was lost', good, undefined],
  ['fails if the fault did not occur', { ...good, fired: 0 }, 'fired 0 times'],
  ['fails without changes', { ...good, changes: 0 }, '0 changes'],
  ['fails with concurrent reconciles of one object', { ...good, concurrent: 1 }, '1 concurrent'],
  ['names a lost change', { ...good, lost: ['portion-1: gone'] }, 'lost: portion-1: gone'],
])('a row of the chaos test %s', (_, outcome, failure) => {
  const failureMessages = failure === undefined ? [] : [expect.stringContaining(failure)];
  expect(makeReport('npm run chaos', [outcome])).toMatchObject({
    testResults: [{ assertionResults: [{ failureMessages }] }],
  });
});
