// What the proofs that are no test suites tell CI: a seed that the commit chooses, so that its run can be had again, and a report like
// vitest's own, so that .ci/run counts promises like tests.
import { execFileSync } from 'node:child_process';

/** One thing that was to hold. */
export type Proof = { readonly title: string; readonly broken: readonly string[] };

/** Makes the report of a run. `name` is the command's. */
export function ciReport(name: string, proofs: readonly Proof[]): object {
  const assertionResults = proofs.map(({ title, broken }) => ({
    title,
    status: broken.length === 0 ? 'passed' : 'failed',
    failureMessages: broken,
  }));
  const failed = proofs.filter(({ broken }) => broken.length > 0).length;
  return {
    numTotalTests: proofs.length,
    numPassedTests: proofs.length - failed,
    numFailedTests: failed,
    success: failed === 0,
    testResults: [{ name, status: failed === 0 ? 'passed' : 'failed', assertionResults }],
  };
}

/** The same commit gets the same choices. */
export function commitSeed(): number {
  return Number.parseInt(execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8' }).slice(0, 8), 16);
}
