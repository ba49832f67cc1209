// A run as CI counts it: rows like tests.
import { ciReport } from '../support/ci-report.ts';
import { held, type Outcome, type SeededOutcome } from './row.ts';

/** Makes the report of what came of a run. */
export function makeReport(outcomes: readonly SeededOutcome[]): object {
  return ciReport(
    'npm run chaos',
    outcomes.map((outcome) => ({
      title: `${outcome.fault} (seed ${outcome.seed})`,
      broken: held(outcome) ? [] : [why(outcome)],
    })),
  );
}

/** Says what was lost, and what the judge saw. */
export function why({ fired, changes, lost, concurrent }: Outcome): string {
  const seen = `fired ${fired} times, ${changes} changes, ${concurrent} reconciles of one object at once`;
  return [seen, ...lost.map((line) => `lost: ${line}`)].join('\n');
}
