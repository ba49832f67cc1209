// One line of the bench's table.

/** A figure: ours, a peer's where there is one, and the goal. Units are in the texts. */
export type Row = {
  readonly figure: string;
  readonly what: string;
  readonly ours: string;
  readonly peer?: string;
  readonly ratio?: string;
  readonly goal: string;
  /** Set where a contestant could not be measured; the row says why. */
  readonly failed?: boolean;
  /** What was counted, by name: the same on every machine, so that it can be held against what was counted before. */
  readonly counts?: Readonly<Record<string, number>>;
};
