// What the verbs count and time, without knowing where the figures go. Whose figure it is comes with it; which of that becomes
// a dimension (each of whose values is paid for) is decided where it is written.

/** Whose figure it is, where that does not go without saying. */
export type Whose = {
  /** The controller's, where one function works for all of them. */
  readonly controller?: string;
  /** The cluster's. */
  readonly cluster?: string;
};

/** Counts and times. */
export type Meter = {
  /** Adds to a counter. */
  count(name: string, value?: number, whose?: Whose): void;
  /** Notes a duration in milliseconds. */
  milliseconds(name: string, value: number, whose?: Whose): void;
};
