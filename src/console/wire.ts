// What the server of the console sends to its page, as JSON. The page imports these types only.

/** A condition of an object. `since` is its lastTransitionTime. */
export type ConditionRow = {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly since?: string;
};

/** The state of an object. */
export type ObjectState = 'Ready' | 'Not ready' | 'Progressing' | 'Deleting' | 'Paused';

/** An object in the list. `id` is `plural.group/namespace/name`. */
export type ObjectRow = {
  readonly id: string;
  readonly kind: string;
  readonly cluster: string;
  readonly namespace?: string;
  readonly name: string;
  readonly state: ObjectState;
  /** Reason and message of the state. */
  readonly text: string;
  readonly conditions: readonly ConditionRow[];
  readonly generation: number;
  readonly observedGeneration: number;
  readonly createdAt?: string;
};

/** The flow of one controller. Rates are of the last ten seconds, latencies of the last minute. */
export type ControllerFlow = {
  readonly name: string;
  readonly kind: string;
  /** Messages in the queue, received ones, and dead letters; undefined while SQS does not respond. */
  readonly queued?: number;
  readonly inFlight?: number;
  readonly deadLetters?: number;
  readonly reconcilesPerSecond: number;
  readonly failuresPerSecond: number;
  /** From the change to its status. */
  readonly p50Ms?: number;
  readonly p99Ms?: number;
};

/** The state of the system. `at` is in milliseconds since 1970. */
export type Flow = {
  readonly at: number;
  readonly changesPerSecond: number;
  readonly watchers: number;
  readonly waitingTimers?: number;
  /** Over all controllers. */
  readonly p50Ms?: number;
  readonly p99Ms?: number;
  readonly controllers: readonly ControllerFlow[];
};

/** Rates over time, one number of each list for each time. Times are in seconds since 1970, latencies in ms. */
export type Series = {
  readonly at: readonly number[];
  readonly reconciles: readonly number[];
  readonly failures: readonly number[];
  readonly p50: readonly (number | null)[];
  readonly p99: readonly (number | null)[];
};

/** A field that a write changed, with its values as text. An absent value is undefined. */
export type FieldChange = { readonly path: string; readonly before?: string; readonly after?: string };

/** An event in the life of an object. */
export type TimelineEntry = {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly type: 'change' | 'reconcile' | 'status';
  readonly text: string;
  /** The controller and the cause of a reconcile, and whether it failed. */
  readonly controller?: string;
  readonly cause?: string;
  readonly failed?: true;
  readonly durationMs?: number;
  /** From the change to the end of the reconcile. */
  readonly latencyMs?: number;
  readonly changes?: readonly FieldChange[];
};

/** An entry with the object that it is about. */
export type ObjectEntry = TimelineEntry & { readonly id: string };

/** An object with its children. `id` is that of a row, if the kind has a controller. */
export type TreeNode = {
  readonly id: string;
  readonly kind: string;
  readonly name: string;
  readonly state: string;
  /** Whether the state is good, bad, or neither. */
  readonly tone: 'good' | 'bad' | 'neutral';
  readonly children: readonly TreeNode[];
};

/** Everything about one object. */
export type ObjectDetail = {
  readonly row: ObjectRow;
  readonly yaml: string;
  readonly tree: TreeNode;
  /** Newest first. */
  readonly timeline: readonly TimelineEntry[];
  /** When a reconcile is due, in milliseconds since 1970. */
  readonly dueAt?: number;
};

/** What the page shows: a local system, or a deployed stage. */
export type System = { readonly mode: 'dev' | 'stage'; readonly name: string };

/** The events of the stream, by name. */
export type ConsoleEvents = {
  readonly snapshot: {
    readonly system: System;
    readonly rows: readonly ObjectRow[];
    readonly recent: readonly ObjectEntry[];
    readonly series: Series;
  };
  readonly rows: { readonly changed: readonly ObjectRow[]; readonly removed: readonly string[] };
  readonly entries: readonly ObjectEntry[];
  readonly flow: Flow;
};
