// `npm run soak`: random edits on objects of every kind while everything breaks, on the real control plane. `--minutes N` of it, `--seed N`
// for the choices of an earlier run, `--objects N`; `--ci` is two minutes with a seed of the commit's. Ends with 1 when a promise broke.
import { execFileSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { controlPlaneBinaries } from '../control-plane/build.ts';
import { formatOutcome, promises } from './outcome.ts';
import { soak } from './soak.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string' },
    seed: { type: 'string' },
    objects: { type: 'string' },
    pause: { type: 'string', default: '900' },
    ci: { type: 'boolean', default: false },
    verbose: { type: 'boolean', default: false },
    // As vitest has them, so that one script can ask every tier for its report.
    reporter: { type: 'string', multiple: true },
    'outputFile.json': { type: 'string' },
  },
});
/** Less is all warm-up: heaps are shown, and not judged. */
const heapMinutes = 5;
const { ci } = values;
const seed = Number(values.seed ?? (ci ? seedOfCommit() : randomInt(2 ** 31)));
const minutes = Number(values.minutes ?? (ci ? 2 : 30));
const objects = Number(values.objects ?? (ci ? 400 : 2000));
const say = (line: string) => void process.stderr.write(`${line}\n`);
say(`seed ${seed} (again: npm run soak -- --seed ${seed} --minutes ${minutes} --objects ${objects})`);
const interrupted = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => interrupted.abort(new Error(name)));

await controlPlaneBinaries();
const options = { seed, minutes, objects, pauseMilliseconds: Number(values.pause) };
const outcome = await soak({
  ...options,
  ...{ signal: interrupted.signal, onProgress: say, ...(values.verbose ? { onLine: say } : {}) },
}).catch((error: unknown) => {
  say(interrupted.signal.aborted ? 'interrupted; everything was stopped' : String(error));
  return undefined;
});
const held = promises(outcome, { judgesHeaps: minutes >= heapMinutes });
if (outcome !== undefined) process.stdout.write(`${formatOutcome(outcome)}\n`);
for (const { promise, broken } of held) {
  process.stdout.write(`${broken.length === 0 ? 'holds ' : 'BROKEN'}  ${promise}\n`);
  for (const line of broken.slice(0, 20)) process.stdout.write(`          ${line}\n`);
}
process.stdout.write(
  `seed ${seed}: ${held.filter(({ broken }) => broken.length === 0).length} of ${held.length} promises hold\n`,
);
const report = values['outputFile.json'];
if (report !== undefined) writeFileSync(report, JSON.stringify(reportOf()));
process.exitCode = held.every(({ broken }) => broken.length === 0) ? 0 : 1;

/** The same commit gets the same choices. */
function seedOfCommit(): number {
  const hash = execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8' });
  return Number.parseInt(hash.slice(0, 7), 16);
}

/** Each promise as a test of vitest's report. */
function reportOf(): object {
  const tests = held.map(({ promise, broken }) => ({
    ...{ fullName: promise, title: promise, status: broken.length === 0 ? 'passed' : 'failed' },
    failureMessages: broken,
  }));
  const failed = tests.filter(({ status }) => status === 'failed').length;
  const file = { name: 'test/soak', status: failed === 0 ? 'passed' : 'failed', assertionResults: tests };
  return {
    numTotalTests: tests.length,
    numPassedTests: tests.length - failed,
    numFailedTests: failed,
    testResults: [file],
  };
}
