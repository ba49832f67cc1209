// f5: what a function costs before it does anything, and at its first key: the size of its bundle, the time to import it over bare Node and
// the first reconcile, each in a fresh process; and its memory when it has full batches.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { foo } from '../src/controllers/foo.ts';
import { functionMegabytes } from './f9-sheet.ts';
import { invokeFresh } from './fresh-function.ts';
import { batchSize, changesOf, names, openFunctionArena } from './function-setup.ts';
import type { Row } from './row.ts';
import { quantile } from './spread.ts';

const runs = 9;
const goalKilobytes = 480;
const goalMilliseconds = 80;
const goalMegabytes = 128;
/** After the first key: the first of them creates what there has to be. */
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
      what: `import of ${name} over bare Node, median of ${runs}`,
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

/** Milliseconds of the first key, and the memory of whole batches of them; each time other objects, which nobody has looked at. */
async function firstReconciles(): Promise<{ readonly first: number; readonly megabytes: number }> {
  await using parts = new AsyncDisposableStack();
  const { environment } = await openFunctionArena(parts, runs * batchSize);
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

/** A file with what it imports statically; what it loads only when needed is left out. */
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
