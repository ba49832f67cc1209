// The results of a run in the format of vitest's report: each row is a test.
import { ciReport } from '../../test/support/ci-report.ts';
import { type Outcome, passed, type SeededOutcome } from './row.ts';

/** Creates the report of a run. `name` is the command. */
export function makeReport(name: string, outcomes: readonly SeededOutcome[]): object {
  return ciReport(
    name,
    outcomes.map((outcome) => ({
      title: `${outcome.fault} (seed ${outcome.seed})`,
      failures: passed(outcome) ? [] : [describeFailure(outcome)],
    })),
  );
}

/** Describes why a row failed. */
export function describeFailure({ fired, changes, lost, concurrent }: Outcome): string {
  const summary = `fired ${fired} times, ${changes} changes, ${concurrent} concurrent reconciles of one object`;
  return [summary, ...lost.map((line) => `lost: ${line}`)].join('\n');
}
