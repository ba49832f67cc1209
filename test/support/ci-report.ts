// Reports of programs other than test suites (chaos, soak, bench) for CI: a seed from the commit, so that a run can be
// repeated, and a report in vitest's format, so that .ci/run counts its checks like tests.
import { execFileSync } from 'node:child_process';

/** One check and its failures. */
export type ReportedCheck = { readonly title: string; readonly failures: readonly string[] };

/** Creates the report of a run. `name` is the command. */
export function ciReport(name: string, checks: readonly ReportedCheck[]): object {
  const assertionResults = checks.map(({ title, failures }) => ({
    title,
    status: failures.length === 0 ? 'passed' : 'failed',
    failureMessages: failures,
  }));
  const failed = checks.filter(({ failures }) => failures.length > 0).length;
  return {
    numTotalTests: checks.length,
    numPassedTests: checks.length - failed,
    numFailedTests: failed,
    success: failed === 0,
    testResults: [{ name, status: failed === 0 ? 'passed' : 'failed', assertionResults }],
  };
}

/** Returns the same seed for the same commit. */
export function commitSeed(): number {
  return Number.parseInt(execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8' }).slice(0, 8), 16);
}
