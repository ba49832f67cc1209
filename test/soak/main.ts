// `npm run soak`: random edits on objects of every kind while everything breaks, on the real control plane. `--minutes N` of it, `--seed N`
// for the choices of an earlier run, `--objects N`; `--ci` is two minutes with a seed of the commit's. Ends with 1 when a promise broke.
import { randomInt } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { controlPlaneBinaries } from '../control-plane/build.ts';
import { ciReport, commitSeed } from '../support/ci-report.ts';
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
    report: { type: 'string' },
  },
});
/** Less is all warm-up: heaps are shown, and not judged. */
const heapMinutes = 5;
const { ci } = values;
const seed = Number(values.seed ?? (ci ? commitSeed() : randomInt(2 ** 31)));
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
if (values.report !== undefined) {
  const proofs = held.map(({ promise, broken }) => ({ title: promise, broken }));
  writeFileSync(values.report, JSON.stringify(ciReport('npm run soak', proofs)));
}
process.exitCode = held.every(({ broken }) => broken.length === 0) ? 0 : 1;
