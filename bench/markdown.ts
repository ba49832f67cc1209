// Parts of the documents that the bench writes.

/** Renders a table. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** Renders an amount of money. */
export function dollars(amount: number): string {
  return `$${amount.toFixed(2)}`;
}
