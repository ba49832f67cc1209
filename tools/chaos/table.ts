// The table of a run: one row for each fault, over all seeds.
import { passed, type SeededOutcome } from './row.ts';

const heads = [
  'fault',
  'how injected',
  'seeds',
  'fired',
  'changes',
  'lost',
  'concurrent',
  'extra writes',
  'time to converge',
];

/**
 * Formats the outcomes as a Markdown table that is also readable in a terminal. A row that failed is marked in its last
 * cell.
 */
export function formatTable(outcomes: readonly SeededOutcome[]): string {
  const faults = Map.groupBy(outcomes, ({ fault, how }) => `${fault}\n${how}`);
  const rows = [heads, ...[...faults.values()].map(cells)];
  const widths = heads.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`);
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  return [lines[0], rule, ...lines.slice(1)].join('\n');
}

/** Sums over the seeds; the time to converge is the maximum. */
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
  return [fault, how, ...counts, outcomes.every(passed) ? longest : `${longest} FAILED`];
}
