// The table that `npm run chaos` prints.
import { held, type Outcome } from './row.ts';

const heads = [
  'fault',
  'how produced',
  'fired',
  'changes',
  'lost',
  'concurrent',
  'extra writes',
  'time to converge',
  '',
];

/** Formats the outcomes, one line each, under a line of heads. */
export function formatTable(outcomes: readonly Outcome[]): string {
  const rows = [heads, ...outcomes.map(cells)];
  const widths = heads.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join(' | ')
        .trimEnd(),
    )
    .join('\n');
}

function cells(outcome: Outcome): readonly string[] {
  const { row, fired, changes, lost, concurrent, extraWrites, convergeSeconds } = outcome;
  const counts = [fired, changes, lost.length, concurrent, extraWrites].map(String);
  return [row.fault, row.how, ...counts, `${convergeSeconds.toFixed(1)} s`, held(outcome) ? '' : 'DOES NOT HOLD'];
}
