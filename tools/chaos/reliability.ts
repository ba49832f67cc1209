// Writes the table of a full run into a document, between two markers, with the versions and the machine.
import { readFile, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { replaceBetween } from '../../test/support/replace-between.ts';
import { wrapProse } from '../../test/support/wrap-prose.ts';
import type { Plan } from './plan.ts';
import type { Row, SeededOutcome } from './row.ts';
import { formatTable } from './table.ts';

/** Replaces the text between the markers of a document. Throws if they are missing. */
export async function writeTable(
  file: string,
  plan: Plan,
  { catalogue, outcomes }: { readonly catalogue: readonly Row[]; readonly outcomes: readonly SeededOutcome[] },
): Promise<void> {
  const text = await readFile(file, 'utf8');
  const rowIndex = ({ fault }: SeededOutcome) => catalogue.findIndex((row) => row.fault === fault);
  const sorted = outcomes.toSorted((one, other) => rowIndex(one) - rowIndex(other) || one.seed - other.seed);
  const measuring = new Set(catalogue.filter((row) => row.measures === true).map(({ fault }) => fault));
  const measurements = sorted
    .filter(({ fault }) => measuring.has(fault))
    .map(({ seed, fault, notes }) => wrapProse(`- ${fault}, seed ${seed}: ${notes.join('; ')}.`));
  // Only the whole record has every row.
  const expected = plan.record === 'chaos' ? catalogue : plan.rows;
  const missing = expected.filter((row) => !outcomes.some(({ fault }) => fault === row.fault));
  const missingNote =
    missing.length === 0
      ? []
      : ['', wrapProse(`Not in this record: ${missing.map(({ fault }) => fault).join(' · ')}.`)];
  const measured = measurements.length === 0 ? [] : ['', ...measurements];
  const table = [describe(plan, outcomes), '', formatTable(sorted), ...measured, ...missingNote].join('\n');
  await writeFile(file, replaceBetween(text, table, { file, name: plan.record }));
}

function describe({ real, users }: Plan, outcomes: readonly SeededOutcome[]): string {
  const seeds = [...new Set(outcomes.map(({ seed }) => seed))].join(', ');
  const changes = outcomes.reduce((sum, one) => sum + one.changes, 0);
  const parts = real ? 'kube-apiserver 1.36.3 and etcd 3.7.3' : 'the embedded API server';
  return [
    `Run on ${new Date().toISOString().slice(0, 10)}: ${parts}, SQS emulated by fauxqs 2.4.1, Node ${process.versions.node},`,
    `${process.platform} with ${availableParallelism()} shared cores. Seeds ${seeds}; ${users.users ?? 1} users on ${users.objects} objects;`,
    `${changes} changes in total. Counts are sums over the seeds; the time to converge is the longest, from the end of the fault.`,
  ].join('\n');
}
