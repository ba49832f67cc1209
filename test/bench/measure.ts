// One figure after the other, and what is told to whoever waits: which it is, and about how long the rest takes.
import { toError } from '../../src/core/errors.ts';
import type { Figure } from '../../bench/figures.ts';
import type { Row } from '../../bench/row.ts';

/** What came of it. */
export type Measured = { readonly rows: readonly Row[]; readonly failed: boolean };

/** How many times as long as it usually takes a figure may take, and how long what takes seconds may: peers have to be built as well. */
const patience = { times: 3, leastSeconds: 1_800 };

/**
 * Measures. What could not be measured, or hangs, stands among the rows, and the others go on. Each figure's rows are handed on as soon as
 * they are there: all figures take hours.
 */
export async function measureAll(
  figures: readonly Figure[],
  {
    say,
    keep,
    longestMs,
  }: {
    readonly say: (line: string) => void;
    readonly keep?: (rows: readonly Row[]) => Promise<void>;
    /** Instead of what follows from how long a figure usually takes. */
    readonly longestMs?: number;
  },
): Promise<Measured> {
  const rows: Row[] = [];
  let failed = false;
  for (const [index, { name, seconds: usual, measure }] of figures.entries()) {
    const left = figures.slice(index).reduce((sum, { seconds }) => sum + seconds, 0);
    say(`measuring ${name} (${index + 1} of ${figures.length}; all in about ${inWords(left)}) ...`);
    const longest = longestMs ?? Math.max(patience.leastSeconds, patience.times * usual) * 1000;
    const measured = await within(longest, measure()).catch((error: unknown): readonly Row[] => [
      { figure: name, what: 'could not be measured', ours: toError(error).message, goal: '-', failed: true },
    ]);
    rows.push(...measured);
    failed ||= measured.some((row) => row.failed === true);
    await keep?.(measured);
  }
  return { rows, failed };
}

async function within<T>(milliseconds: number, measuring: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`not within ${inWords(milliseconds / 1000)}`)), milliseconds);
  return await Promise.race([measuring, late]).finally(() => clearTimeout(timer));
}

function inWords(seconds: number): string {
  return seconds < 90 ? `${Math.ceil(seconds)} s` : `${Math.round(seconds / 60)} min`;
}
