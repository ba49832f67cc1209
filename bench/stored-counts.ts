// The bench's stored counts, in a file next to this one, and whether they have grown. Counts are equal on every
// machine, so a run in CI can fail on them; it never fails on times.
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import type { ReportedCheck } from '../test/support/ci-report.ts';
import type { Row } from './row.ts';

/** Counts by name. */
export type Counts = Readonly<Record<string, number>>;

const file = path.join(import.meta.dirname, 'stored-counts.json');
/** The allowed growth of byte counts since they were stored: not every line of code is a regression. */
const bytesAllowance = 0.01;
const storeHint = 'npm run bench -- --quick --store stores the present counts';

/** Reads the stored counts. */
export async function readCounts(): Promise<Counts> {
  return z.record(z.string(), z.number()).parse(JSON.parse(await readFile(file, 'utf8')));
}

/** Replaces the stored counts. */
export async function storeCounts(counts: Counts): Promise<void> {
  const sorted = Object.entries(counts).toSorted(([a], [b]) => (a < b ? -1 : 1));
  await writeFile(file, `${JSON.stringify(Object.fromEntries(sorted), undefined, 2)}\n`);
}

/** Compares counts with the stored ones. It fails for a higher count, and for a count that only one of them has. */
export function compareCounts(stored: Counts, counted: Counts): readonly ReportedCheck[] {
  const names = [...new Set([...Object.keys(stored), ...Object.keys(counted)])].toSorted();
  return names.map((name) => {
    const [before, now] = [stored[name], counted[name]];
    return {
      title: `${name}: ${now ?? 'none'} (stored: ${before ?? 'none'})`,
      failures: differencesOf(name, before, now),
    };
  });
}

/**
 * Compares the counts with their goals: fewer reconciles than changes are not an improvement. Times are not checked.
 */
export function checkGoals(rows: readonly Row[]): readonly ReportedCheck[] {
  return rows
    .filter(({ counts, met }) => counts !== undefined && met !== undefined)
    .map(({ what, ours, goal, met }) => ({
      title: `${what}: ${ours} (goal: ${goal})`,
      failures: met === false ? [`${what}: ${ours}, the goal is ${goal}`] : [],
    }));
}

function differencesOf(name: string, before: number | undefined, now: number | undefined): readonly string[] {
  if (now === undefined) return [`${name} was not counted`];
  if (before === undefined) return [`${name} is not stored: ${storeHint}`];
  const max = name.includes('bytes') ? before * (1 + bytesAllowance) : before;
  return now > max ? [`${name}: ${now}, stored: ${before}; if this is intended, ${storeHint}`] : [];
}
