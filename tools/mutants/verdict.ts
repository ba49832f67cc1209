// Judges the run of a mutant's test files: which tests caught it. Pure.

import type { SuitesRun } from './run-suites.ts';
import { statementIds } from './statement-ids.ts';

/** Whether a mutant was caught, and by which tests. */
export type Verdict =
  | {
      readonly type: 'caught';
      readonly statements: readonly string[];
      /** Tests that caught it and are named after no statement. */
      readonly others: readonly string[];
      /** Every test that caught it only waited in vain, or nothing came to an end at all. */
      readonly timedOut: boolean;
    }
  | { readonly type: 'survived' }
  | { readonly type: 'broken'; readonly why: string };

/** Judges a run. */
export function judge(run: SuitesRun): Verdict {
  if (run.type === 'broken') return run;
  if (run.type === 'hung') return { type: 'caught', statements: [], others: [], timedOut: true };
  const failed = run.tests.filter(({ passed }) => !passed);
  if (failed.length === 0) return { type: 'survived' };
  return {
    type: 'caught',
    statements: idsOf(failed.map(({ name }) => name)),
    others: failed.map(({ name }) => name).filter((name) => statementIds(name).length === 0),
    timedOut: failed.every(({ timedOut }) => timedOut),
  };
}

/** Lists the statements that tests are named after, each once, in their order. */
export function idsOf(names: readonly string[]): readonly string[] {
  return [...new Set(names.flatMap(statementIds))].sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
}

/** Says it in one line. */
export function formatVerdict(verdict: Verdict): string {
  switch (verdict.type) {
    case 'survived':
      return 'SURVIVED: nothing catches it';
    case 'broken':
      return `BROKEN: ${verdict.why}`;
    case 'caught': {
      const { statements, others, timedOut } = verdict;
      const who = [...statements, ...named(others)].join(' ');
      return timedOut ? `timed out${who === '' ? '' : `: ${who}`}` : who;
    }
  }
}

/** Of tests that are named after no statement the first says what was noticed. */
function named([first, ...others]: readonly string[]): readonly string[] {
  if (first === undefined) return [];
  return [`"${first}"`, ...(others.length === 0 ? [] : [`and ${others.length} more`])];
}
