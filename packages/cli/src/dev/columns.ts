// Text tables for a terminal.

import { printable } from 'outrigger/internal/core/printable';

/** Returns a line for each row, with its cells padded so that the columns are aligned. The lines are printable. */
export function alignColumns(given: readonly (readonly string[])[]): readonly string[] {
  const rows = given.map((row) => row.map(printable));
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
