// The bench: every figure as one table. Nothing is asserted by the clock; what counts things (f4, f5, loc) can be compared between
// machines, times only within one run.
import { parseArgs } from 'node:util';
import { build } from '../../src/cli/build.ts';
import { f1 } from './f1-watcher-memory.ts';
import { f4 } from './f4-requests.ts';
import { f5 } from './f5-function-size.ts';
import { f6 } from './f6-restart.ts';
import { f7 } from './f7-resync.ts';
import { f9Measure } from './f9-measure.ts';
import { f9 } from './f9-price.ts';
import { f10 } from './f10-watcher-rate.ts';
import { f11 } from './f11-watched-bytes.ts';
import { fleetLag } from './fleet.ts';
import { latency } from './latency.ts';
import { linesOfCode } from './lines-of-code.ts';
import type { Row } from './row.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    /* for a trial of f6 and f7 with fewer */ objects: { type: 'string' },
    /* an empty folder: where the time goes, instead of how much it is (f10) */ profile: { type: 'string' },
    /* of f9: another file of prices, and the document to write its tables into (measurements beside them) */ prices: {
      type: 'string',
    },
    write: { type: 'string' },
  },
});
const count = values.objects === undefined ? {} : { objects: Number(values.objects) };

const figures: Readonly<Record<string, () => Promise<readonly Row[]>>> = {
  f1,
  f4,
  f5: async () => {
    await build(process.cwd());
    return await f5();
  },
  f6: async () => await f6(count),
  f7: async () => await f7(count),
  f10: async () => await f10(values.profile === undefined ? {} : { profile: values.profile }),
  f11,
  'f9-measure': async () => await f9Measure(values),
  f9: async () => await f9(values),
  fleet: fleetLag,
  lag: latency,
  loc: linesOfCode,
};

const wanted = values.only ?? Object.keys(figures);
const rows: Row[] = [];
for (const name of wanted) {
  const measure = figures[name];
  if (measure === undefined) {
    process.stderr.write(`--only ${name}: there is no such figure; there are ${Object.keys(figures).join(', ')}\n`);
    process.exit(1);
  }
  process.stderr.write(`measuring ${name} ...\n`);
  try {
    rows.push(...(await measure()));
  } catch (error) {
    // The others go on; what failed stands in the table.
    rows.push({ figure: name, what: 'could not be measured', ours: String(error), goal: '-' });
    process.exitCode = 1;
  }
}

const table = [
  ['figure', 'what', 'ours', 'beside', 'ratio', 'goal'],
  ...rows.map(({ figure, what, ours, peer = '-', ratio = '-', goal }) => [figure, what, ours, peer, ratio, goal]),
];
const widths = (table[0] ?? []).map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
for (const row of table) {
  process.stdout.write(
    `${row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd()}\n`,
  );
}
