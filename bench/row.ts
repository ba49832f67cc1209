// One line of the bench's table.
import type { Spread } from './spread.ts';

/** A figure: ours, a peer's where there is one, and the goal. Units are in the texts. */
export type Row = {
  readonly figure: string;
  readonly what: string;
  readonly ours: string;
  readonly peer?: string;
  readonly ratio?: string;
  readonly goal: string;
  /** Whether the goal is met, where that can be told of a number. */
  readonly met?: boolean;
  /** Ours, then each peer, for a table with a column for each and for charts. */
  readonly beside?: readonly Beside[];
  /** Of a row whose columns are ours with ever more of something: how many times the first the last is. */
  readonly growth?: string;
  /** Set where a contestant could not be measured; the row says why. */
  readonly failed?: boolean;
  /** What was counted, by name: the same on every machine, so that it can be held against what was counted before. */
  readonly counts?: Readonly<Record<string, number>>;
};

/** One of those compared. */
export type Beside = {
  readonly name: string;
  readonly unit: string;
  readonly version?: string;
  /** Undefined when nothing could be measured. */
  readonly spread?: Spread;
  /** The last line of its error, when it could not be built or started, or broke off. */
  readonly failure?: string;
};

/** Says whether a goal is met. */
export function verdictOf(met: boolean | undefined): 'met' | 'missed' | '-' {
  if (met === undefined) return '-';
  return met ? 'met' : 'missed';
}
