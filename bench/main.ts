// `npm run bench`: every figure as one table, which is also written to docs/performance.md, its record and
// docs/records/cost.md. Times are never asserted: counts can be compared between machines, times only within one run.
// `--only f2` measures this figure, `--peers kopf` only with this peer, and both write only with `--write FILE`.
// `--quick` counts what can be counted in two minutes and fails when a count is higher than stored, or misses its goal;
// with `--store` it stores the counts. The exit status is 1 when a figure could not be measured, or a count was higher.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { alignColumns } from '@outrigger/cli/dev/columns';
import { ciReport } from '../test/support/ci-report.ts';
import { writeDocument } from './document.ts';
import { allFigures } from './figures.ts';
import { measureAll } from './measure.ts';
import { runQuick } from './quick.ts';
import { formatMet, type Row } from './row.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    objects: { type: 'string' },
    profile: { type: 'string' },
    prices: { type: 'string' },
    write: { type: 'string' },
    quick: { type: 'boolean', default: false },
    store: { type: 'boolean', default: false },
    report: { type: 'string' },
    runs: { type: 'string' },
    peers: { type: 'string', multiple: true },
  },
});
const documents = { figures: 'docs/performance.md', costs: 'docs/records/cost.md', scale: 'docs/scale.md' };
const log = (line: string) => void process.stderr.write(`${line}\n`);

if (values.quick) await quick();
else await measureEverything();

async function quick(): Promise<void> {
  const { rows, checks } = await runQuick({ store: values.store });
  print(rows);
  const failures = checks.flatMap((proof) => proof.failures);
  for (const line of failures) process.stdout.write(`FAILED  ${line}\n`);
  process.stdout.write(
    `${checks.length - failures.length} of ${checks.length} counts are not higher than stored, or meet their goals\n`,
  );
  if (values.report !== undefined) {
    await writeFile(values.report, JSON.stringify(ciReport('npm run bench -- --quick', checks)));
  }
  process.exitCode = failures.length === 0 ? 0 : 1;
}

async function measureEverything(): Promise<void> {
  const { only, objects, runs, profile, prices, peers, write } = values;
  const isWholeRun = [only, objects, runs, profile, prices, peers].every((one) => one === undefined);
  const { figures: document, costs, scale } = documentsOf(write, isWholeRun);
  const figures = allFigures(
    {
      ...(profile === undefined ? {} : { profile }),
      ...(prices === undefined ? {} : { prices }),
      ...(peers === undefined ? {} : { peers }),
      ...(costs === undefined ? {} : { costs }),
      scaleDocument: scale !== undefined,
      ...(objects === undefined ? {} : { objects: Number(objects) }),
      ...(runs === undefined ? {} : { runs: Number(runs) }),
    },
    log,
  );
  const defaultFigures = figures.filter(({ onlyOnRequest = false }) => !onlyOnRequest);
  const selected = only?.map((name) => figures.find((figure) => figure.name === name) ?? name) ?? defaultFigures;
  const unknown = selected.find((one) => typeof one === 'string');
  if (unknown !== undefined) {
    log(`--only ${unknown}: unknown figure; known figures are ${figures.map(({ name }) => name).join(', ')}`);
    process.exitCode = 1;
    return;
  }
  const { rows, failed } = await measureAll(
    selected.filter((one) => typeof one !== 'string'),
    {
      log,
      ...(document === undefined ? {} : { keep: (some) => writeDocument(document, some) }),
    },
  );
  print(rows);
  // A measurement that hangs would keep the process running.
  if (failed) process.exit(1);
}

/** The documents to write: those that were named, or all after a whole run. */
function documentsOf(write: string | undefined, isWholeRun: boolean): Partial<typeof documents> {
  if (write === undefined) return isWholeRun ? documents : {};
  if (path.basename(write) === path.basename(documents.costs)) return { costs: write };
  if (path.basename(write) === path.basename(documents.scale)) return { scale: write };
  return { ...(isWholeRun ? documents : {}), figures: write };
}

function print(rows: readonly Row[]): void {
  const cells = rows.map(({ figure, what, ours, peer = '-', ratio = '-', goal, met }) => [
    ...[figure, what, ours, peer, ratio, goal, formatMet(met)],
  ]);
  process.stdout.write(
    `${alignColumns([['figure', 'what', 'ours', 'compared with', 'ratio', 'goal', 'met'], ...cells]).join('\n')}\n`,
  );
}
