// `npm run chaos`: breaks everything, row by row, and prints what came of it. `--real` takes the real control plane, `--seed N` the
// choices of an earlier run, `--changes N` more changes a row, `--only TEXT` the rows of that name; `--ci` and `--full` are whole
// plans (plan.ts). `--calls FILE` keeps which calls to AWS were made. Ends with 1 when a promise broke.
import { randomInt } from 'node:crypto';
import { appendFile, writeFile } from 'node:fs/promises';
import { commitSeed } from '../support/ci-report.ts';
import type { LedgerEntry } from './call-ledger.ts';
import { createCatalogue } from '../../tools/chaos/chaos.ts';
import { keepOutcome, readOutcomes } from '../../tools/chaos/outcome-file.ts';
import { makePlan } from '../../tools/chaos/plan.ts';
import { writeTable } from '../../tools/chaos/reliability.ts';
import { makeReport } from './report.ts';
import { held, type SeededOutcome } from './row.ts';
import { runRows } from '../../tools/chaos/run-rows.ts';
import { formatTable } from '../../tools/chaos/table.ts';

const say = (line: string) => void process.stderr.write(`${line}\n`);
const catalogue = createCatalogue();
const plan = makePlan(process.argv.slice(2), {
  catalogue,
  commitSeed,
  randomSeed: () => randomInt(2 ** 31),
});
const { seeds, rows, skipped, keep, write, calls, report } = plan;
say(`seed ${seeds.join(', ')} (again: npm run chaos -- ${process.argv.slice(2).join(' ')} --seed ${seeds[0]})`);
say(`rows: ${rows.map(({ fault }) => fault).join(' · ')}`);
const interrupted = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => interrupted.abort(new Error(name)));

const outcomes: SeededOutcome[] = [...(keep === undefined ? [] : await readOutcomes(keep))];
const made: LedgerEntry[] = [];
const left = await runRows(
  plan,
  {
    say,
    onOutcome: async (outcome) => {
      outcomes.push(outcome);
      if (keep !== undefined) await keepOutcome(keep, outcome);
    },
    onCalls: async (all) => {
      made.push(...all);
      if (calls !== undefined) await appendFile(calls, all.map((one) => `${JSON.stringify(one)}\n`).join(''));
    },
  },
  {
    signal: interrupted.signal,
    done: (seed, fault) => outcomes.some((one) => one.seed === seed && one.fault === fault),
  },
);
process.stdout.write(`${formatTable(outcomes)}\n`);
if (skipped.length > 0) {
  process.stdout.write(`only with --real: ${skipped.map(({ fault }) => fault).join(' · ')}\n`);
}
const broken = outcomes.filter((one) => !held(one));
const short = left === 0 ? '' : `, ${left} not run for want of time`;
process.stdout.write(
  `seed ${seeds.join(', ')}: ${outcomes.length - broken.length} of ${outcomes.length} rows hold${short}\n`,
);
const times = (some: readonly LedgerEntry[]) => some.reduce((sum, one) => sum + one.times, 0);
const callers = new Set(made.map(({ who }) => who));
process.stdout.write(
  `calls to AWS: ${times(made)} by ${[...callers].join(', ')}; not allowed by the policies that would be deployed: ${times(made.filter(({ allowed }) => !allowed))}\n`,
);
if (report !== undefined) await writeFile(report, JSON.stringify(makeReport(outcomes), undefined, 2));
if (write !== undefined) await writeTable(write, plan, { catalogue, outcomes });
// Rows that a limit of time left out broke no promise; a run that was interrupted, or had nothing to do, proves none.
process.exitCode = broken.length === 0 && outcomes.length > 0 && !interrupted.signal.aborted ? 0 : 1;
