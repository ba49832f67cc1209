// What a reconciler returns: a value that says what is, never a call that writes it. The runtime does the writing.

/** The author's part of a condition; times, generations and Ready are the runtime's. */
export type Condition = {
  readonly status: 'True' | 'False' | 'Unknown';
  /** One CamelCase word (metav1.Condition: 1 to 1024 characters of letters, digits, `_`, `,` and `:`). */
  readonly reason: string;
  readonly message?: string;
};

/** A condition as it stands in an object's status (metav1.Condition). */
export type StandingCondition = Condition & {
  readonly type: string;
  readonly observedGeneration?: number;
  /** RFC 3339. */
  readonly lastTransitionTime?: string;
};

/** The complete status and every declared condition, with a wish for later or with the error to retry for. */
export type Result<T, C extends string> = {
  readonly status: T;
  readonly conditions: Readonly<Record<C, Condition>>;
} & (
  | { /** Approximate: 0.5 to 1.5 times this at first, then this. */ readonly requeueAfterSeconds?: number }
  | { /** Write this status, then go on as if thrown. */ readonly retry: Error }
);

/** What finalize returns: `'done'` removes the finalizer; anything else keeps it and says why. */
export type Finalized =
  | 'done'
  | { readonly requeueAfterSeconds: number; readonly reason: string; readonly message?: string };
