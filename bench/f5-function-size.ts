// f5: the size of a function's bundle, the time to import it compared with bare Node, and the first reconcile, each in
// a fresh process; and its memory with full batches.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { functionMegabytes } from '@outrigger/cli/commands/cost/price-sheet';
import { foo } from '../src/controllers/foo.ts';
import { invokeFresh } from './fresh-function.ts';
import { batchSize, changesOf, names, openFunctionSetup } from './function-setup.ts';
import type { Row } from './row.ts';
import { quantile } from './spread.ts';

const runs = 9;
const goalKilobytes = 480;
const goalMilliseconds = 80;
const goalMegabytes = 128;
/** After the first key, whose reconcile creates the children. */
const fullBatches = 20;
const timeoutSeconds = 30;

/** Measures the bundle of a reconcile function in `dist/`. */
export async function f5(dist = 'dist', name = 'water-tank'): Promise<readonly Row[]> {
  const folder = join(dist, name);
  const files = readdirSync(folder).filter((file) => file.endsWith('.mjs'));
  const bytes = (file: string) => statSync(join(folder, file)).size;
  const bundle = join(process.cwd(), folder, 'index.mjs');
  const bare = quantile(times('0'), 0.5);
  const imported = quantile(times(`await import(${JSON.stringify(bundle)})`), 0.5);
  const { first, megabytes } = await firstReconciles();
  const [atStart, whole] = [sum(loadedAtStart(folder, 'index.mjs').map(bytes)), sum(files.map(bytes))];
  return [
    {
      figure: 'f5',
      what: `bundle of ${name}: loaded at start (all files)`,
      ours: `${kilobytes(atStart)} kB (${kilobytes(whole)} kB)`,
      goal: `<= ${goalKilobytes} kB`,
      met: atStart <= goalKilobytes * 1000,
      counts: { [`f5 ${name} bytes at start`]: atStart, [`f5 ${name} bytes`]: whole },
    },
    {
      figure: 'f5',
      what: `import of ${name} compared with bare Node, median of ${runs}`,
      ours: `${Math.round(imported - bare)} ms`,
      goal: `<= ${goalMilliseconds} ms`,
      met: imported - bare <= goalMilliseconds,
    },
    {
      figure: 'f5',
      what: `first reconcile of ${foo.name} in a fresh process, which creates its child, median of ${runs}`,
      ours: `${Math.round(first)} ms`,
      goal: `<= ${goalMilliseconds} ms`,
      met: first <= goalMilliseconds,
    },
    {
      figure: 'f5',
      what: `resident memory of ${foo.name} with ${functionMegabytes} MB after ${fullBatches} full batches, median of ${runs}`,
      ours: `${Math.round(megabytes)} MB`,
      goal: `<= ${goalMegabytes} MB`,
      met: megabytes <= goalMegabytes,
    },
  ];
}

/**
 * The milliseconds of the first key, and the memory with full batches, each time with other objects that were never
 * reconciled.
 */
async function firstReconciles(): Promise<{ readonly first: number; readonly megabytes: number }> {
  await using cleanup = new AsyncDisposableStack();
  const { environment } = await openFunctionSetup(cleanup, runs * batchSize);
  const limits = { memoryMegabytes: functionMegabytes, timeoutSeconds, environment };
  const bundle = join(process.cwd(), 'dist', foo.name, 'index.mjs');
  const costs = [];
  for (let run = 0; run < runs; run += 1) {
    const some = names(batchSize, run * batchSize);
    const full = Array.from({ length: fullBatches }, (_, index) => changesOf(some, `${run}-${index}`));
    costs.push(await invokeFresh(bundle, [changesOf(some.slice(0, 1), `${run}`), ...full], limits));
  }
  return {
    first: quantile(
      costs.map(({ seconds: [first = Number.NaN] }) => first * 1000),
      0.5,
    ),
    megabytes: quantile(
      costs.map((cost) => cost.megabytes),
      0.5,
    ),
  };
}

/** Returns a file and its static imports; dynamic imports are left out. */
function loadedAtStart(folder: string, file: string, seen = new Set<string>()): readonly string[] {
  if (seen.has(file)) return [];
  seen.add(file);
  const text = readFileSync(join(folder, file), 'utf8');
  for (const [, chunk = ''] of text.matchAll(/\bimport(?:[^"'()]*\bfrom)?\s*["']\.\/([^"']+\.mjs)["']/g))
    loadedAtStart(folder, chunk, seen);
  return [...seen];
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function times(statement: string): number[] {
  return Array.from({ length: runs }, () => {
    const before = performance.now();
    const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', statement], {
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(stderr);
    return performance.now() - before;
  });
}

function kilobytes(bytes: number): number {
  return Math.round(bytes / 1000);
}
