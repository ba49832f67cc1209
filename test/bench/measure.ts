// One figure after the other, and what is told to whoever waits: which it is, and about how long the rest takes.
import { toError } from '../../src/core/errors.ts';
import type { Figure } from './figures.ts';
import type { Row } from './row.ts';

/** What came of it. */
export type Measured = { readonly rows: readonly Row[]; readonly failed: boolean };

/**
 * Measures. What could not be measured stands among the rows, and the others go on. Each figure's rows are handed on as soon as they are
 * there: all figures take hours.
 */
export async function measureAll(
  figures: readonly Figure[],
  { say, keep }: { readonly say: (line: string) => void; readonly keep?: (rows: readonly Row[]) => Promise<void> },
): Promise<Measured> {
  const rows: Row[] = [];
  let failed = false;
  for (const [index, { name, measure }] of figures.entries()) {
    const left = figures.slice(index).reduce((sum, { seconds }) => sum + seconds, 0);
    say(`measuring ${name} (${index + 1} of ${figures.length}; all in about ${inWords(left)}) ...`);
    const measured = await measure().catch((error: unknown): readonly Row[] => [
      { figure: name, what: 'could not be measured', ours: toError(error).message, goal: '-', failed: true },
    ]);
    rows.push(...measured);
    failed ||= measured.some((row) => row.failed === true);
    await keep?.(measured);
  }
  return { rows, failed };
}

function inWords(seconds: number): string {
  return seconds < 90 ? `${Math.ceil(seconds)} s` : `${Math.round(seconds / 60)} min`;
}
