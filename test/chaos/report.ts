// A run as vitest reports its own, as far as anybody reads it: so that CI counts rows like tests.
import { held, type Outcome, type SeededOutcome } from './row.ts';

/** Makes the report of what came of a run. */
export function makeReport(outcomes: readonly SeededOutcome[]): object {
  const assertionResults = outcomes.map((outcome) => ({
    title: `${outcome.fault} (seed ${outcome.seed})`,
    status: held(outcome) ? 'passed' : 'failed',
    failureMessages: held(outcome) ? [] : [why(outcome)],
  }));
  const passed = outcomes.filter(held).length;
  const failed = outcomes.length - passed;
  return {
    numTotalTests: outcomes.length,
    numPassedTests: passed,
    numFailedTests: failed,
    success: failed === 0,
    testResults: [{ name: 'npm run chaos', status: failed === 0 ? 'passed' : 'failed', assertionResults }],
  };
}

/** Says what was lost, and what the judge saw. */
export function why({ fired, changes, lost, concurrent }: Outcome): string {
  const seen = `fired ${fired} times, ${changes} changes, ${concurrent} reconciles of one object at once`;
  return [seen, ...lost.map((line) => `lost: ${line}`)].join('\n');
}
