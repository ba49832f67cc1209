// f5: what a function costs before it does anything. The size of its bundle, and the time to import it over bare Node, each in
// a fresh process.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Row } from './row.ts';

const runs = 9;
const goalKilobytes = 480;
const goalMilliseconds = 80;

/** Measures the bundle of a reconcile function in `dist/`. */
export async function f5(dist = 'dist', name = 'water-tank'): Promise<readonly Row[]> {
  const folder = join(dist, name);
  const files = readdirSync(folder).filter((file) => file.endsWith('.mjs'));
  const bytes = (file: string) => statSync(join(folder, file)).size;
  const bundle = join(process.cwd(), folder, 'index.mjs');
  const bare = median(times('0'));
  const imported = median(times(`await import(${JSON.stringify(bundle)})`));
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
  ];
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

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function kilobytes(bytes: number): number {
  return Math.round(bytes / 1000);
}
