// Measures one figure after the other, and reports the progress with an estimate of the remaining time.
import { toError } from '../src/core/errors.ts';
import type { Figure } from './figures.ts';
import type { Row } from './row.ts';

/** The result. */
export type Measured = { readonly rows: readonly Row[]; readonly failed: boolean };

/**
 * The timeout of a figure, as a multiple of its usual time, with a minimum for short ones, because peers have to be
 * built as well.
 */
const timeout = { times: 3, leastSeconds: 1_800 };

/**
 * Measures the figures. A figure that cannot be measured, or hangs, is reported in its row, and the others continue.
 * The rows of each figure are passed on at once, because all figures together take hours.
 */
export async function measureAll(
  figures: readonly Figure[],
  {
    log,
    keep,
    longestMs,
  }: {
    readonly log: (line: string) => void;
    readonly keep?: (rows: readonly Row[]) => Promise<void>;
    /** Overrides the timeout that follows from a figure's usual time. */
    readonly longestMs?: number;
  },
): Promise<Measured> {
  const rows: Row[] = [];
  let failed = false;
  for (const [index, { name, seconds: usual, measure }] of figures.entries()) {
    const remaining = figures.slice(index).reduce((sum, { seconds }) => sum + seconds, 0);
    log(`measuring ${name} (${index + 1} of ${figures.length}; all in about ${formatDuration(remaining)}) ...`);
    const longest = longestMs ?? Math.max(timeout.leastSeconds, timeout.times * usual) * 1000;
    const measured = await withTimeout(longest, measure()).catch((error: unknown): readonly Row[] => [
      { figure: name, what: 'could not be measured', ours: toError(error).message, goal: '-', failed: true },
    ]);
    rows.push(...measured);
    failed ||= measured.some((row) => row.failed === true);
    await keep?.(measured);
  }
  return { rows, failed };
}

async function withTimeout<T>(milliseconds: number, measuring: Promise<T>): Promise<T> {
  const { promise: timedOut, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new Error(`timeout after ${formatDuration(milliseconds / 1000)}`)),
    milliseconds,
  );
  return await Promise.race([measuring, timedOut]).finally(() => clearTimeout(timer));
}

function formatDuration(seconds: number): string {
  return seconds < 90 ? `${Math.ceil(seconds)} s` : `${Math.round(seconds / 60)} min`;
}
