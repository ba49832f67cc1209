// `npm run soak`: random edits on objects of every kind while everything breaks, on the real control plane. `--minutes N` of it, `--seed N`
// for the choices of an earlier run, `--objects N`; `--ci` is two minutes with a seed of the commit's;
// `--write FILE` puts the outcome into a document. Ends with 1 when a promise broke.
import { randomInt } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { controlPlaneBinaries } from '../../test/control-plane/build.ts';
import { ciReport, commitSeed } from '../../test/support/ci-report.ts';
import { replaceBetween } from '../../test/support/replace-between.ts';
import { formatOutcome, promises } from '../../test/soak/outcome.ts';
import { soak } from '../../test/soak/soak.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string' },
    seed: { type: 'string' },
    objects: { type: 'string' },
    pause: { type: 'string', default: '900' },
    ci: { type: 'boolean', default: false },
    verbose: { type: 'boolean', default: false },
    report: { type: 'string' },
    /** The document that is to have the outcome. */
    write: { type: 'string' },
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
const told = [
  ...(outcome === undefined ? [] : [formatOutcome(outcome)]),
  ...held.flatMap(({ promise, broken }) => [
    `${broken.length === 0 ? 'holds ' : 'BROKEN'}  ${promise}`,
    ...broken.slice(0, 20).map((line) => `          ${line}`),
  ]),
  `seed ${seed}: ${held.filter(({ broken }) => broken.length === 0).length} of ${held.length} promises hold`,
].join('\n');
process.stdout.write(`${told}\n`);
if (values.write !== undefined) {
  const day = new Date().toISOString().slice(0, 10);
  const how = `Run on ${day}: ${minutes} minutes, ${objects} objects, seed ${seed}; the machine was shared.`;
  const text = await readFile(values.write, 'utf8');
  const place = { file: values.write, name: 'soak' };
  await writeFile(values.write, replaceBetween(text, `${how}\n\n\`\`\`text\n${told}\n\`\`\``, place));
}
if (values.report !== undefined) {
  const proofs = held.map(({ promise, broken }) => ({ title: promise, broken }));
  await writeFile(values.report, JSON.stringify(ciReport('npm run soak', proofs)));
}
process.exitCode = held.every(({ broken }) => broken.length === 0) ? 0 : 1;
