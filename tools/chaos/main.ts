// `npm run chaos`: injects faults, row by row, and prints the results. `--real` uses kube-apiserver and etcd, `--seed
// N` repeats the random choices of an earlier run, `--changes N` sets the changes of each row, `--only TEXT` selects
// rows by name; `--ci` and `--full` are whole plans (plan.ts). `--calls FILE` records the calls to AWS. The exit status
// is 1 when a guarantee did not hold.
import { randomInt } from 'node:crypto';
import { appendFile, writeFile } from 'node:fs/promises';
import { commitSeed } from '../../test/support/ci-report.ts';
import type { LedgerEntry } from './call-ledger.ts';
import { createCatalogue } from './chaos.ts';
import { appendOutcome, readOutcomes } from './outcome-file.ts';
import { makePlan } from './plan.ts';
import { writeTable } from './reliability.ts';
import { makeReport } from './report.ts';
import { passed, type SeededOutcome } from './row.ts';
import { runRows } from './run-rows.ts';
import { formatTable } from './table.ts';

const log = (line: string) => void process.stderr.write(`${line}\n`);
const catalogue = createCatalogue();
const plan = makePlan(process.argv.slice(2), {
  catalogue,
  commitSeed,
  randomSeed: () => randomInt(2 ** 31),
});
const { seeds, rows, skipped, outcomeFile, document, callFile, reportFile } = plan;
log(`seed ${seeds.join(', ')} (repeat: npm run chaos -- ${process.argv.slice(2).join(' ')} --seed ${seeds[0]})`);
log(`rows: ${rows.map(({ fault }) => fault).join(' · ')}`);
const interrupted = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => interrupted.abort(new Error(name)));

const outcomes: SeededOutcome[] = [...(outcomeFile === undefined ? [] : await readOutcomes(outcomeFile))];
const allCalls: LedgerEntry[] = [];
const notRun = await runRows(
  plan,
  {
    log,
    onOutcome: async (outcome) => {
      outcomes.push(outcome);
      if (outcomeFile !== undefined) await appendOutcome(outcomeFile, outcome);
    },
    onCalls: async (all) => {
      allCalls.push(...all);
      if (callFile !== undefined) await appendFile(callFile, all.map((one) => `${JSON.stringify(one)}\n`).join(''));
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
const failed = outcomes.filter((one) => !passed(one));
const suffix = notRun === 0 ? '' : `, ${notRun} not run because time ran out`;
process.stdout.write(
  `seed ${seeds.join(', ')}: ${outcomes.length - failed.length} of ${outcomes.length} rows passed${suffix}\n`,
);
const countCalls = (some: readonly LedgerEntry[]) => some.reduce((sum, one) => sum + one.times, 0);
const callers = new Set(allCalls.map(({ caller }) => caller));
process.stdout.write(
  `calls to AWS: ${countCalls(allCalls)} by ${[...callers].join(', ')}; denied by the policies that would be deployed: ${countCalls(allCalls.filter(({ allowed }) => !allowed))}\n`,
);
if (reportFile !== undefined)
  await writeFile(reportFile, JSON.stringify(makeReport('npm run chaos', outcomes), undefined, 2));
if (document !== undefined) await writeTable(document, plan, { catalogue, outcomes });
// Rows that were not run because time ran out are not failures. A run that was interrupted, or had no rows, proves
// nothing.
process.exitCode = failed.length === 0 && outcomes.length > 0 && !interrupted.signal.aborted ? 0 : 1;
