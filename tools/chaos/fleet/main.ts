// `npm run chaos:fleet`: a fleet watcher of many clusters under faults, row by row. `--clusters N` API servers in memory
// and `--real N` control planes, `--minutes N` of kills under `--per-second N` changes, `--only TEXT` for rows by name.
// `--keep FILE` keeps the outcomes, so that an interrupted run continues; `--write FILE` writes the record. `--ci` kills
// replicas of a fleet watcher of six clusters, one of them real, for some seconds, and `--report FILE` writes the results
// as vitest does. The exit status is 1 when a guarantee did not hold.
import { randomInt } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { commitSeed } from '../../../test/support/ci-report.ts';
import { replaceBetween } from '../../../test/support/replace-between.ts';
import { wrapProse } from '../../../test/support/wrap-prose.ts';
import { appendOutcome, readOutcomes } from '../outcome-file.ts';
import { makeReport } from '../report.ts';
import { type Outcome, passed } from '../row.ts';
import { formatTable } from '../table.ts';
import { type FleetOptions, runFleetChaos, startRow } from './fleet-chaos.ts';
import { fleetRows } from './rows.ts';

const { values } = parseArgs({
  options: {
    clusters: { type: 'string', default: '50' },
    real: { type: 'string', default: '3' },
    minutes: { type: 'string', default: '5' },
    'per-second': { type: 'string', default: '50' },
    objects: { type: 'string', default: '20' },
    measure: { type: 'string', default: '15' },
    seed: { type: 'string' },
    only: { type: 'string', multiple: true },
    ci: { type: 'boolean', default: false },
    keep: { type: 'string' },
    report: { type: 'string' },
    write: { type: 'string' },
    /** Runs nothing; only writes the outcomes of `--keep`. */
    'report-only': { type: 'boolean', default: false },
    verbose: { type: 'boolean', default: false },
  },
});
const log = (line: string) => void process.stderr.write(`${line}\n`);
const { ci, keep, only = ci ? ['one of two replicas killed'] : [''], report, write } = values;
const seed = values.seed === undefined ? (ci ? commitSeed() : randomInt(2 ** 31)) : Number(values.seed);
const kept = keep === undefined ? [] : await readOutcomes(keep);
const options: FleetOptions = {
  seed,
  log,
  inMemory: Number(values.clusters),
  real: Number(values.real),
  objects: Number(values.objects),
  perSecond: Number(values['per-second']),
  killSeconds: Number(values.minutes) * 60,
  measureSeconds: Number(values.measure),
  ...(ci ? { inMemory: 5, real: 1, objects: 4, perSecond: 10, killSeconds: 15, measureSeconds: 5 } : {}),
  isWanted: (fault) =>
    (fault === startRow || only.some((text) => fault.includes(text))) && !kept.some((one) => one.fault === fault),
  onOutcome: async (outcome) => {
    if (keep !== undefined) await appendOutcome(keep, { ...outcome, seed });
  },
  ...(values.verbose ? { onLine: log } : {}),
};
log(`seed ${seed}`);
const measured = values['report-only'] ? [] : await runFleetChaos(options);
const places = [startRow, ...fleetRows.map(({ fault }) => fault)];
const outcomes = [...kept, ...measured.filter(({ fault }) => !kept.some((one) => one.fault === fault))].toSorted(
  (one, other) => places.indexOf(one.fault) - places.indexOf(other.fault),
);
if (report !== undefined) {
  const seeded = outcomes.map((one) => ({ ...one, seed }));
  await writeFile(report, JSON.stringify(makeReport('npm run chaos:fleet', seeded), undefined, 2));
}
const text = describe(options, outcomes);
process.stdout.write(`${text}\n`);
if (write !== undefined) {
  const document = await readFile(write, 'utf8');
  await writeFile(write, replaceBetween(document, text, { file: write, name: 'fleet' }));
}
process.exitCode = outcomes.every(passed) ? 0 : 1;

function describe({ inMemory, real, objects }: FleetOptions, all: readonly Outcome[]): string {
  const changes = all.reduce((sum, one) => sum + one.changes, 0);
  const introduction = [
    `Run on ${new Date().toISOString().slice(0, 10)}: ${inMemory} API servers in memory and ${real} kube-apiservers 1.36.3`,
    `with etcd 3.7.3, SQS emulated by fauxqs 2.4.1, Node ${process.versions.node}, ${process.platform} with`,
    `${availableParallelism()} shared cores. Seed ${seed}; ${objects} objects in each cluster besides the samples;`,
    `${changes} changes in total.`,
  ].join(' ');
  const notes = all
    .filter((one) => one.notes.length > 0)
    .map(({ fault, notes: texts }) => wrapProse(`- ${fault}: ${texts.join('; ')}.`));
  return [wrapProse(introduction), '', formatTable(all.map((one) => ({ ...one, seed }))), '', ...notes].join('\n');
}
