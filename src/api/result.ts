// The result of a reconciler: the observed state, which the runtime writes. Errors may be thrown instead: any error
// means that the reconcile is retried, TerminalError that it is not: a change or the periodic reconcile comes next.

/** A condition in a result; its type is the key, and times and generations are the runtime's. */
export type DeclaredCondition = {
  /** Whether the condition holds. */
  readonly status: 'True' | 'False' | 'Unknown';
  /** One CamelCase word (metav1.Condition: 1 to 1024 characters of letters, digits, `_`, `,` and `:`). */
  readonly reason: string;
  /** A sentence for people. */
  readonly message?: string;
};

/** A condition in an object's status (metav1.Condition). */
export type Condition = DeclaredCondition & {
  /** The type, such as `Served`. */
  readonly type: string;
  /** The generation that it is of. */
  readonly observedGeneration?: number;
  /** RFC 3339. */
  readonly lastTransitionTime?: string;
};

/**
 * When the object is reconciled again: `requeueAfterSeconds` or `requeueAt`, and for an `error` in addition. Whatever
 * else triggers it meanwhile, there is one next time of an object: that of its last reconcile. `undefined` counts as
 * absent.
 *
 * - `requeueAfterSeconds`: the first wait is half to one and a half times as long, each following one exactly as long.
 * - `requeueAt`: within a few seconds of that time, for what expires or is scheduled.
 * @example return { status, conditions, requeueAfterSeconds: 300 };
 */
export type Later = (
  | {
      /**
       * The first wait is half to one and a half times this (300: 150 to 450 s), which spreads the objects of a fleet.
       * Each following wait is exactly this. Less than a second, such as the rest of a time that has passed, is a
       * second.
       */
      readonly requeueAfterSeconds?: number | undefined;
      /** Give one of the two. */
      readonly requeueAt?: undefined;
    }
  | {
      /**
       * At this time, for what expires or is scheduled: at most a second before it, and normally within a few seconds
       * after it. After a time that has passed the wait is as long as it is past, from a second to five minutes.
       */
      readonly requeueAt?: Date | undefined;
      /** Give one of the two. */
      readonly requeueAfterSeconds?: undefined;
    }
) & {
  /**
   * Write this status, then go on as if the error had been thrown. With a time the object is also reconciled at that
   * time, whatever becomes of the retries: a schedule goes on.
   */
  readonly error?: Error | undefined;
};

/**
 * What reconcile returns: `status`, which replaces the former one, `conditions` with each one of the kind, and when the
 * object is reconciled again ({@link Later}). A controller of a foreign kind writes no status: it returns a requeue
 * time or nothing, and the conditions that it declares.
 * @example return { status: { waiters }, conditions: { Served: ok('AllSeated') } };
 */
export type Result<Status, C extends string> = [Status] extends [never]
  ?
      | ({
          /** Another controller writes it. */
          readonly status?: never;
          /** Declare them with `statusSlice`. */
          readonly conditions?: never;
        } & Later)
      // biome-ignore lint/suspicious/noConfusingVoidType: a reconcile without a return statement
      | void
  : [Status] extends [undefined]
    ? {
        /** The slice has conditions only. */
        readonly status?: undefined;
        /** Each condition of the slice. */
        readonly conditions: Readonly<Record<C, DeclaredCondition>>;
      } & Later
    : {
        /** The whole status, which replaces the former one. */
        readonly status: Status;
        /** Each condition of the kind. */
        readonly conditions: Readonly<Record<C, DeclaredCondition>>;
      } & Later;

/**
 * What finalize returns: `'done'` removes the finalizer. Any other result keeps it, and has the `reason` (the reason of
 * the condition Finalized) and when finalize is called again.
 * @example return (await dns.exists(host)) ? { reason: 'RecordRemains', requeueAfterSeconds: 30 } : 'done';
 */
export type Finalized =
  | 'done'
  | ({
      /** Why the object stays, as a CamelCase word: the reason of its condition Finalized. */
      readonly reason: string;
      /** A sentence for people. */
      readonly message?: string;
    } & (
      | {
          /** Seconds until finalize is called again, spread as those of a result. */
          readonly requeueAfterSeconds: number;
          /** Give one of the two. */
          readonly requeueAt?: undefined;
        }
      | {
          /** The time at which finalize is called again. */
          readonly requeueAt: Date;
          /** Give one of the two. */
          readonly requeueAfterSeconds?: undefined;
        }
    ));

/**
 * A result as it was returned, or the names of the fields that no result has. An inferred return type would let them
 * pass, because TypeScript checks surplus fields of fresh literals only.
 */
export type Exactly<R, Status, C extends string> = [Surplus<R, C> | SurplusStatus<R, Status>] extends [never]
  ? R
  : NotInAResult<Surplus<R, C> | SurplusStatus<R, Status>>;

/** What is returned in place of a result with a field that no result has. The compiler's errors show it. */
export interface NotInAResult<Field extends PropertyKey> {
  readonly 'annotate reconcile with Promise<ResultOf<typeof ItsKind>>, which shows the place': Field;
}

type SurplusStatus<R, Status> = R extends { readonly status: infer S } ? Exclude<KeyOfEach<S>, keyof Status> : never;
type KeyOfEach<U> = U extends object ? keyof U : never;

type Surplus<R, C extends string> = R extends object
  ?
      | Exclude<keyof R, 'requeueAfterSeconds' | 'requeueAt' | 'error' | 'status' | 'conditions'>
      | (R extends { readonly conditions: infer D }
          ? Exclude<keyof D, C> extends never
            ? never
            : 'conditions'
          : never)
  : never;
