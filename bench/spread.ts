// The values of several runs: their median, minimum and maximum.

/** A figure of several runs. */
export type Spread = { readonly median: number; readonly least: number; readonly most: number };

/** Returns the value below which this share of them is: 0.5 for the median. NaN if there are none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** Returns the spread of some runs. */
export function spreadOf(runs: readonly number[]): Spread {
  return { median: quantile(runs, 0.5), least: Math.min(...runs), most: Math.max(...runs) };
}
