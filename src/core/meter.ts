// What the verbs count and time, without knowing where the figures go. Fields are for the log line only: a metric's
// dimensions cost money, so that a controller is one and an object's name or a cluster never is.

/** Counts and times. */
export type Meter = {
  /** Adds to a counter. */
  count(name: string, value?: number, fields?: Readonly<Record<string, string>>): void;
  /** Notes a duration in milliseconds. */
  milliseconds(name: string, value: number, fields?: Readonly<Record<string, string>>): void;
};
