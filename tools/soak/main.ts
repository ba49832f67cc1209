// `npm run soak`: random edits on objects of every kind during random faults, on the real control plane. `--minutes N`
// sets the duration, `--seed N` repeats the choices of an earlier run, `--objects N` sets the number of objects; `--ci`
// is one minute with a seed from the commit; `--write FILE` writes the outcome into a document. The exit status is 1
// when a guarantee did not hold.
import { randomInt } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { ciReport, commitSeed } from '../../test/support/ci-report.ts';
import { replaceBetween } from '../../test/support/replace-between.ts';
import { controlPlaneBinaries } from '../control-plane/build.ts';
import { checkGuarantees, formatOutcome } from './outcome.ts';
import { longMinutes, soak } from './soak.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string' },
    seed: { type: 'string' },
    objects: { type: 'string' },
    pause: { type: 'string', default: '900' },
    ci: { type: 'boolean', default: false },
    verbose: { type: 'boolean', default: false },
    report: { type: 'string' },
    /** The document to which the outcome is written. */
    write: { type: 'string' },
  },
});
const { ci } = values;
const seed = Number(values.seed ?? (ci ? commitSeed() : randomInt(2 ** 31)));
const minutes = Number(values.minutes ?? (ci ? 1 : 30));
const objects = Number(values.objects ?? (ci ? 250 : 2000));
const log = (line: string) => void process.stderr.write(`${line}\n`);
log(`seed ${seed} (repeat: npm run soak -- --seed ${seed} --minutes ${minutes} --objects ${objects})`);
const interrupted = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => interrupted.abort(new Error(name)));

await controlPlaneBinaries();
const options = { seed, minutes, objects, pauseMilliseconds: Number(values.pause) };
const outcome = await soak({
  ...options,
  signal: interrupted.signal,
  onProgress: log,
  ...(values.verbose ? { onLine: log } : {}),
}).catch((error: unknown) => {
  log(interrupted.signal.aborted ? 'interrupted; the system was stopped' : String(error));
  return undefined;
});
const results = checkGuarantees(outcome, { isLong: minutes >= longMinutes });
const report = [
  ...(outcome === undefined ? [] : [formatOutcome(outcome)]),
  ...results.flatMap(({ guarantee, violations }) => [
    `${violations.length === 0 ? 'passed' : 'FAILED'}  ${guarantee}`,
    ...violations.slice(0, 20).map((line) => `          ${line}`),
  ]),
  `seed ${seed}: ${results.filter(({ violations }) => violations.length === 0).length} of ${results.length} guarantees held`,
].join('\n');
process.stdout.write(`${report}\n`);
if (values.write !== undefined) {
  const day = new Date().toISOString().slice(0, 10);
  const header = `Run on ${day}: ${minutes} minutes, ${objects} objects, seed ${seed}; the machine was shared.`;
  const text = await readFile(values.write, 'utf8');
  const marker = { file: values.write, name: 'soak' };
  await writeFile(values.write, replaceBetween(text, `${header}\n\n\`\`\`text\n${report}\n\`\`\``, marker));
}
if (values.report !== undefined) {
  const checks = results.map(({ guarantee, violations }) => ({ title: guarantee, failures: violations }));
  await writeFile(values.report, JSON.stringify(ciReport('npm run soak', checks)));
}
process.exitCode = results.every(({ violations }) => violations.length === 0) ? 0 : 1;
