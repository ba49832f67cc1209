// How figures of several runs are told: their median, and the least and the most.

/** A figure of several runs. */
export type Spread = { readonly median: number; readonly least: number; readonly most: number };

/** Returns the value below which such a share of them is: 0.5 for the median. NaN when there are none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** Makes the spread of some runs. */
export function spreadOf(runs: readonly number[]): Spread {
  return { median: quantile(runs, 0.5), least: Math.min(...runs), most: Math.max(...runs) };
}
