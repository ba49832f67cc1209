// The type of response bodies in the conformance suite. Every field is optional. One type for objects, lists, Status
// and Table keeps the cases short. An absent field reads as undefined and fails the expectation.

/** ObjectMeta and ListMeta in one type. */
export type Metadata = {
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
};

/** One entry of `metadata.managedFields`. */
export type ManagedFields = {
  readonly manager?: string;
  readonly operation?: string;
  readonly apiVersion?: string;
  readonly time?: string;
  readonly fieldsType?: string;
  readonly fieldsV1?: unknown;
  readonly subresource?: string;
};

/** One entry of `details.causes` in a Status. */
export type Cause = { readonly reason?: string; readonly message?: string; readonly field?: string };

/** The status of an object. Most kinds have conditions. */
export type StatusContent = {
  readonly conditions?: readonly { readonly type?: string; readonly status?: string }[] | null;
  readonly [field: string]: unknown;
};

/** The body of any response of an API server. */
export type Body = {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata?: Metadata;
  readonly spec?: Readonly<Record<string, unknown>>;
  /** The status of an object, or `Success` or `Failure` in a Status. */
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
};

/** Returns whether an object has a condition with status True. */
export function hasCondition({ status }: Body, type: string): boolean {
  if (typeof status !== 'object') return false;
  return status.conditions?.some((condition) => condition.type === type && condition.status === 'True') ?? false;
}
