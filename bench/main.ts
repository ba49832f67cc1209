// `npm run bench`: every figure as one table, which goes into docs/performance.md and docs/cost.md as well. Nothing is asserted by the clock:
// what counts things can be compared between machines, times only within one run. `--only f2` measures that one, `--peers kopf` beside that one, and
// either writes only with `--write FILE`; `--quick` counts what can be counted in two minutes and fails when it is more than what is stored, which
// `--store` does, or misses its goal. Ends with 1 when something could not be measured, or was more.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { alignColumns } from '../src/dev/columns.ts';
import { ciReport } from '../test/support/ci-report.ts';
import { writeDocument } from './document.ts';
import { allFigures } from './figures.ts';
import { measureAll } from '../test/bench/measure.ts';
import { runQuick } from '../test/bench/quick.ts';
import { type Row, verdictOf } from './row.ts';

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
const documents = { figures: 'docs/performance.md', costs: 'docs/cost.md' };
const say = (line: string) => void process.stderr.write(`${line}\n`);

if (values.quick) await quick();
else await everything();

async function quick(): Promise<void> {
  const { rows, proofs } = await runQuick({ store: values.store });
  print(rows);
  const broken = proofs.flatMap((proof) => proof.broken);
  for (const line of broken) process.stdout.write(`WORSE  ${line}\n`);
  process.stdout.write(
    `${proofs.length - broken.length} of ${proofs.length} counts are no worse than stored, or meet their goals\n`,
  );
  if (values.report !== undefined) {
    await writeFile(values.report, JSON.stringify(ciReport('npm run bench -- --quick', proofs)));
  }
  process.exitCode = broken.length === 0 ? 0 : 1;
}

async function everything(): Promise<void> {
  const { only, objects, runs, profile, prices, peers, write } = values;
  const isWhole = [only, objects, runs, profile, prices, peers].every((one) => one === undefined);
  const { figures: document, costs } = documentsOf(write, isWhole);
  const figures = allFigures(
    {
      ...(profile === undefined ? {} : { profile }),
      ...(prices === undefined ? {} : { prices }),
      ...(peers === undefined ? {} : { peers }),
      ...(costs === undefined ? {} : { costs }),
      ...(objects === undefined ? {} : { objects: Number(objects) }),
      ...(runs === undefined ? {} : { runs: Number(runs) }),
    },
    say,
  );
  const usual = figures.filter(({ isApart = false }) => !isApart);
  const wanted = only?.map((name) => figures.find((figure) => figure.name === name) ?? name) ?? usual;
  const unknown = wanted.find((one) => typeof one === 'string');
  if (unknown !== undefined) {
    say(`--only ${unknown}: there is no such figure; there are ${figures.map(({ name }) => name).join(', ')}`);
    process.exitCode = 1;
    return;
  }
  const { rows, failed } = await measureAll(
    wanted.filter((one) => typeof one !== 'string'),
    {
      say,
      ...(document === undefined ? {} : { keep: (some) => writeDocument(document, some) }),
    },
  );
  print(rows);
  // What hangs would keep it from ending.
  if (failed) process.exit(1);
}

/** What is written: what was asked for, or all of it after a whole run. */
function documentsOf(write: string | undefined, isWhole: boolean): Partial<typeof documents> {
  if (write === undefined) return isWhole ? documents : {};
  if (path.basename(write) === path.basename(documents.costs)) return { costs: write };
  return { ...(isWhole ? documents : {}), figures: write };
}

function print(rows: readonly Row[]): void {
  const cells = rows.map(({ figure, what, ours, peer = '-', ratio = '-', goal, met }) => [
    ...[figure, what, ours, peer, ratio, goal, verdictOf(met)],
  ]);
  process.stdout.write(`${alignColumns([['figure', 'what', 'ours', 'beside', 'ratio', 'goal', 'met'], ...cells])}\n`);
}
