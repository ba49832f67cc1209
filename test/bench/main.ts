// `npm run bench`: every figure as one table. Nothing is asserted by the clock: what counts things can be compared between machines, times
// only within one run. `--only f2` measures that one, `--peers kopf` beside that one; `--quick` counts what can be counted in two
// minutes and fails when it is more than what is stored, which `--store` does. Ends with 1 when something could not be measured or was more.
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { alignColumns } from '../../src/local/align-columns.ts';
import { ciReport } from '../support/ci-report.ts';
import { writeDocument } from './document.ts';
import { allFigures, isCosts } from './figures.ts';
import { measureAll } from './measure.ts';
import { runQuick } from './quick.ts';
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
const say = (line: string) => void process.stderr.write(`${line}\n`);

if (values.quick) await quick();
else await everything();

async function quick(): Promise<void> {
  const { rows, proofs } = await runQuick({ store: values.store });
  print(rows);
  const broken = proofs.flatMap((proof) => proof.broken);
  for (const line of broken) process.stdout.write(`WORSE  ${line}\n`);
  process.stdout.write(`${proofs.length - broken.length} of ${proofs.length} counts are no worse than stored\n`);
  if (values.report !== undefined) {
    await writeFile(values.report, JSON.stringify(ciReport('npm run bench -- --quick', proofs)));
  }
  process.exitCode = broken.length === 0 ? 0 : 1;
}

async function everything(): Promise<void> {
  const { only, objects, runs, ...choices } = values;
  const figures = allFigures(
    {
      ...choices,
      ...(objects === undefined ? {} : { objects: Number(objects) }),
      ...(runs === undefined ? {} : { runs: Number(runs) }),
    },
    say,
  );
  const wanted = only?.map((name) => figures.find((figure) => figure.name === name) ?? name) ?? figures;
  const unknown = wanted.find((one) => typeof one === 'string');
  if (unknown !== undefined) {
    say(`--only ${unknown}: there is no such figure; there are ${figures.map(({ name }) => name).join(', ')}`);
    process.exitCode = 1;
    return;
  }
  const { write } = choices;
  const { rows, failed } = await measureAll(
    wanted.filter((one) => typeof one !== 'string'),
    {
      say,
      ...(write === undefined || isCosts(write) ? {} : { keep: (some) => writeDocument(write, some) }),
    },
  );
  print(rows);
  if (failed) process.exitCode = 1;
}

function print(rows: readonly Row[]): void {
  const cells = rows.map(({ figure, what, ours, peer = '-', ratio = '-', goal, met }) => [
    ...[figure, what, ours, peer, ratio, goal, verdictOf(met)],
  ]);
  process.stdout.write(`${alignColumns([['figure', 'what', 'ours', 'beside', 'ratio', 'goal', 'met'], ...cells])}\n`);
}
