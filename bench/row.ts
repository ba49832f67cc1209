// One line of the bench's table.
import type { Spread } from './spread.ts';

/** A figure: Outrigger's value, a peer's if there is one, and the goal. Units are in the texts. */
export type Row = {
  readonly figure: string;
  readonly what: string;
  readonly ours: string;
  readonly peer?: string;
  readonly ratio?: string;
  readonly goal: string;
  /** Whether the goal is met, if the values are numbers. */
  readonly met?: boolean;
  /** Outrigger, then each peer, for a table with a column for each and for charts. */
  readonly comparisons?: readonly Comparison[];
  /** For a row whose columns are growing amounts: the ratio of the last to the first. */
  readonly growth?: string;
  /** True if a contestant could not be measured; the row has the reason. */
  readonly failed?: boolean;
  /** Counts by name: equal on every machine, so they can be compared with stored ones. */
  readonly counts?: Readonly<Record<string, number>>;
};

/** One of the compared programs. */
export type Comparison = {
  readonly name: string;
  readonly unit: string;
  readonly version?: string;
  /** Undefined if it could not be measured. */
  readonly spread?: Spread;
  /** The last line of its error, if it could not be built or started, or failed. */
  readonly failure?: string;
};

/** Formats whether a goal is met. */
export function formatMet(met: boolean | undefined): 'met' | 'missed' | '-' {
  if (met === undefined) return '-';
  return met ? 'met' : 'missed';
}
