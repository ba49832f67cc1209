// What the bench counted once, in a file beside this, and whether it has become more since. Counts are the same on every machine, so that a
// run in CI can fail on them; on times nothing fails.
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import type { Proof } from '../test/support/ci-report.ts';
import type { Row } from './row.ts';

/** Counts by name. */
export type Counts = Readonly<Record<string, number>>;

const file = path.join(import.meta.dirname, 'stored-counts.json');
/** Bytes may be as much more, all changes since they were stored together: not every line of code is a figure that got worse. */
const bytesAllowance = 0.01;
const again = 'npm run bench -- --quick --store keeps what is counted now';

/** Reads what was stored. */
export async function readCounts(): Promise<Counts> {
  return z.record(z.string(), z.number()).parse(JSON.parse(await readFile(file, 'utf8')));
}

/** Stores counts in the place of those that were. */
export async function storeCounts(counts: Counts): Promise<void> {
  const sorted = Object.entries(counts).toSorted(([a], [b]) => (a < b ? -1 : 1));
  await writeFile(file, `${JSON.stringify(Object.fromEntries(sorted), undefined, 2)}\n`);
}

/** Holds counts against those stored: what is more is broken, and so is what only one of the two knows. */
export function compareCounts(stored: Counts, counted: Counts): readonly Proof[] {
  const names = [...new Set([...Object.keys(stored), ...Object.keys(counted)])].toSorted();
  return names.map((name) => {
    const [before, now] = [stored[name], counted[name]];
    return { title: `${name}: ${now ?? 'none'} (stored: ${before ?? 'none'})`, broken: brokenBy(name, before, now) };
  });
}

/** Holds what was counted to its goals: fewer reconciles than changes are no improvement. What takes time is not judged. */
export function judgeGoals(rows: readonly Row[]): readonly Proof[] {
  return rows
    .filter(({ counts, met }) => counts !== undefined && met !== undefined)
    .map(({ what, ours, goal, met }) => ({
      title: `${what}: ${ours} (goal: ${goal})`,
      broken: met === false ? [`${what}: ${ours}, the goal is ${goal}`] : [],
    }));
}

function brokenBy(name: string, before: number | undefined, now: number | undefined): readonly string[] {
  if (now === undefined) return [`${name} was not counted`];
  if (before === undefined) return [`${name} is not stored: ${again}`];
  const most = name.includes('bytes') ? before * (1 + bytesAllowance) : before;
  return now > most ? [`${name}: ${now}, stored are ${before}; where it has to be so, ${again}`] : [];
}
