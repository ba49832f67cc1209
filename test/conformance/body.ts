// The shapes the cases read out of answers: every field a case may ask for, none of them promised. One type for objects, lists,
// Status and Table keeps the cases short; a field that is not there reads as undefined and fails the expectation.

/** ObjectMeta and ListMeta in one. */
export interface Metadata {
  readonly name?: string;
  readonly generateName?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly Readonly<Record<string, unknown>>[];
  readonly managedFields?: readonly ManagedFields[];
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

/** One manager's entry in `metadata.managedFields`. */
export interface ManagedFields {
  readonly manager?: string;
  readonly operation?: string;
  readonly apiVersion?: string;
  readonly time?: string;
  readonly fieldsType?: string;
  readonly fieldsV1?: unknown;
  readonly subresource?: string;
}

/** One entry of a Status' `details.causes`. */
export interface Cause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

/** An object's status; conditions are what most kinds have in common. */
export interface StatusContent {
  readonly conditions?: readonly { readonly type?: string; readonly status?: string }[] | null;
  readonly [field: string]: unknown;
}

/** Anything an API server answers. */
export interface Body {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata?: Metadata;
  readonly spec?: Readonly<Record<string, unknown>>;
  /** An object's status, or `Success` and `Failure` in a Status. */
  readonly status?: StatusContent | string;
  readonly data?: Readonly<Record<string, string>>;
  readonly items?: readonly Body[];
  readonly reason?: string;
  readonly message?: string;
  readonly code?: number;
  readonly details?: {
    readonly name?: string;
    readonly group?: string;
    readonly kind?: string;
    readonly uid?: string;
    readonly retryAfterSeconds?: number;
    readonly causes?: readonly Cause[];
  };
  readonly columnDefinitions?: readonly {
    readonly name?: string;
    readonly type?: string;
    readonly priority?: number;
  }[];
  readonly rows?: readonly { readonly cells?: readonly unknown[]; readonly object?: Body }[];
}

/** Says whether the object carries the condition with status True. */
export function hasCondition({ status }: Body, type: string): boolean {
  if (typeof status !== 'object') return false;
  return status.conditions?.some((condition) => condition.type === type && condition.status === 'True') ?? false;
}
