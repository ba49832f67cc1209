// Only which rows a command line of `npm run chaos` leads to, with which seeds, and how a run is counted; what rows do, no.
import { describe, expect, it } from 'vitest';
import { createCatalogue } from '../../../tools/chaos/chaos.ts';
import { makePlan } from '../../../tools/chaos/plan.ts';
import { makeReport } from '../../chaos/report.ts';
import type { SeededOutcome } from '../../chaos/row.ts';
import { formatTable } from '../../../tools/chaos/table.ts';

const catalogue = createCatalogue();
const plan = (commit: number, ...args: string[]) =>
  makePlan(args, { catalogue, commitSeed: () => commit, randomSeed: () => 1 });
const names = (rows: readonly { readonly fault: string }[]) => rows.map(({ fault }) => fault);

describe('a plan', () => {
  it('of CI is the same for the same commit, and leaves no row out for ever but the long ones', () => {
    expect(names(plan(5, '--ci').rows)).toEqual(names(plan(5, '--ci').rows));
    const seen = new Set(Array.from({ length: 300 }, (_, commit) => names(plan(commit, '--ci').rows)).flat());
    expect([...seen].sort()).toEqual(names(catalogue.filter(({ long }) => long !== true)).sort());
  });

  it('of CI has at most one row that waits for time-outs, the last, and its seed is the commit’s', () => {
    for (let commit = 0; commit < 50; commit += 1) {
      const { rows, seeds, real } = plan(commit, '--ci');
      expect(rows.slice(0, -1).some(({ slow }) => slow === true)).toBe(false);
      expect([seeds, real]).toEqual([[commit], true]);
    }
  });

  it('in full is every row with three seeds and a thousand changes', () => {
    const { rows, seeds, amounts, real } = plan(5, '--full', '--seed', '7');
    expect([names(rows), seeds, amounts.changes, real]).toEqual([names(catalogue), [7, 8, 9], 1000, true]);
  });

  it('on embedded parts says which rows it cannot do', () => {
    const { rows, skipped } = plan(5);
    expect(names(skipped)).toContain('etcd restored from a backup');
    expect(rows.length + skipped.length).toBe(catalogue.length);
  });

  it('has rows that can be told apart by their names', () => {
    expect(new Set(names(catalogue)).size).toBe(catalogue.length);
  });
});

describe('what came of a run', () => {
  const good: SeededOutcome = {
    ...{ seed: 1, fault: 'flood', how: 'water', fired: 2, changes: 10, lost: [], concurrent: 0, extraWrites: 1 },
    ...{ convergeSeconds: 1.25, notes: [] },
  };
  const bad = { ...good, seed: 2, lost: ['portion-1: gone'], convergeSeconds: 30 };

  it('is counted like tests, and a failure says what was lost', () => {
    expect(makeReport([good, bad])).toMatchObject({
      ...{ numPassedTests: 1, numFailedTests: 1, success: false },
      testResults: [{ status: 'failed', assertionResults: [{ failureMessages: [] }, { status: 'failed' }] }],
    });
    expect(JSON.stringify(makeReport([bad]))).toContain('lost: portion-1: gone');
  });

  it('is one row for each fault, summed over the seeds, with the longest time', () => {
    const [, , row = '', ...more] = formatTable([good, bad]).split('\n');
    const cells = row.split('|').map((cell) => cell.trim());
    expect(more).toEqual([]);
    expect(cells.slice(1, -1)).toEqual(['flood', 'water', '2', '4', '20', '1', '0', '2', '30.0 s DOES NOT HOLD']);
  });
});
