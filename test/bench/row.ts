// One line of the bench's table.

/** A figure: ours, a peer's where there is one, and the goal. Units are in the texts. */
export type Row = {
  readonly figure: string;
  readonly what: string;
  readonly ours: string;
  readonly peer?: string;
  readonly ratio?: string;
  readonly goal: string;
};
