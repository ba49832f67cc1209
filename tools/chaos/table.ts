// The table of a run: a row for each fault, over all seeds.
import { held, type SeededOutcome } from '../../test/chaos/row.ts';

const heads = [
  'fault',
  'how produced',
  'seeds',
  'fired',
  'changes',
  'lost',
  'concurrent',
  'extra writes',
  'time to converge',
];

/** Formats the outcomes as a Markdown table that a terminal shows as well. What does not hold says so in its last cell. */
export function formatTable(outcomes: readonly SeededOutcome[]): string {
  const faults = Map.groupBy(outcomes, ({ fault, how }) => `${fault}\n${how}`);
  const rows = [heads, ...[...faults.values()].map(cells)];
  const widths = heads.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`);
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  return [lines[0], rule, ...lines.slice(1)].join('\n');
}

/** Sums over the seeds; of the times to converge the longest. */
function cells(outcomes: readonly SeededOutcome[]): readonly string[] {
  const sum = (count: (outcome: SeededOutcome) => number) => outcomes.reduce((all, one) => all + count(one), 0);
  const counts = [
    outcomes.length,
    sum(({ fired }) => fired),
    sum(({ changes }) => changes),
    sum(({ lost }) => lost.length),
    sum(({ concurrent }) => concurrent),
    sum(({ extraWrites }) => extraWrites),
  ].map(String);
  const longest = `${Math.max(...outcomes.map(({ convergeSeconds }) => convergeSeconds)).toFixed(1)} s`;
  const { fault = '', how = '' } = outcomes[0] ?? {};
  return [fault, how, ...counts, outcomes.every(held) ? longest : `${longest} DOES NOT HOLD`];
}
