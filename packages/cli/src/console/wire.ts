// What the server of the console sends to its page, as JSON. The page imports nothing else of the server.

/**
 * How a state is shown. good: it works. busy: it is on its way. bad: a person is needed. unknown: it cannot be read.
 * neutral: a person wants it so.
 */
export type Tone = 'good' | 'busy' | 'bad' | 'unknown' | 'neutral';

/** How each state of a part is shown. The worse one of two is the one that comes first. */
export const partTones = {
  'cannot load': 'bad',
  crashing: 'bad',
  unreachable: 'bad',
  refused: 'bad',
  down: 'bad',
  throttled: 'bad',
  slow: 'bad',
  failing: 'bad',
  'not known': 'unknown',
  silent: 'busy',
  reconnecting: 'busy',
  starting: 'busy',
  decommissioning: 'neutral',
  paused: 'neutral',
  working: 'good',
} as const satisfies Readonly<Record<string, Tone>>;
/** The state of a part: a cluster, its watchers, a function, a queue. */
export type PartState = keyof typeof partTones;
/** The health of a part. `since` is in milliseconds since 1970. */
export type Health<S = PartState> = {
  readonly state: S;
  readonly tone: Tone;
  readonly text?: string;
  readonly since?: number;
};

/** A condition of an object. `since` is its lastTransitionTime. */
export type ConditionRow = {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly tone: Tone;
  readonly since?: string;
};

/** How each state of an object is shown, the worse one first. */
export const objectTones = {
  Stalled: 'bad',
  Failed: 'bad',
  Progressing: 'busy',
  Deleting: 'busy',
  Paused: 'neutral',
  Ready: 'good',
} as const satisfies Readonly<Record<string, Tone>>;
/** The state of an object. Failed: its last reconcile failed, and is retried. Stalled: it is not retried. */
export type ObjectState = keyof typeof objectTones;

/** An object in the list. `id` is `cluster:plural.group/namespace/name`. */
export type ObjectRow = {
  readonly id: string;
  readonly kind: string;
  readonly cluster: string;
  readonly namespace?: string | undefined;
  readonly name: string;
  /** The health of the object. The text has the reason and the message of its state. */
  readonly state: ObjectState;
  readonly tone: Tone;
  readonly text: string;
  readonly conditions: readonly ConditionRow[];
  /** Each as `key=value`. */
  readonly labels?: readonly string[];
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
  /** When its oldest message was sent, in milliseconds since 1970; undefined if there is none, or on AWS. */
  readonly oldestAt?: number | undefined;
  /** Undefined while the log does not show each run. */
  readonly reconcilesPerSecond?: number;
  readonly failuresPerSecond?: number;
  /** Of its function. */
  readonly health: Health;
  /** From the change to its status. */
  readonly p50Ms?: number;
  readonly p99Ms?: number;
};

/** A cluster, with the health of its API server and its watchers. */
export type ClusterFlow = {
  readonly name: string;
  readonly health: Health;
  /** Nothing of it is reconciled until it is resumed. */
  readonly paused?: boolean;
};

/**
 * The last run of the resync, by its time (RFC 3339), and the changes that it found and that no event had brought.
 * `unknown`: the lists of which that is not known; absent if there are none.
 */
export type ResyncRun = { readonly run: string; readonly missed: number; readonly unknown?: number };

/** The state of the system. `at` is in milliseconds since 1970. */
export type Flow = {
  readonly at: number;
  readonly changesPerSecond: number;
  readonly clusters: readonly ClusterFlow[];
  /** Of a stage: the version of the project that is deployed, or `not known`. */
  readonly version?: string;
  /** What the page cannot know, and why. */
  readonly notes?: readonly string[];
  readonly waitingTimers?: number;
  /** On the queues of timers and resync; undefined while SQS does not respond. */
  readonly sharedDeadLetters?: number;
  /** Absent while no run was read. */
  readonly resync?: ResyncRun;
  /** Of a stage: the functions that all controllers share. */
  readonly shared?: readonly { readonly name: string; readonly health: Health }[];
  /** Of a local system: the code that was saved last, if it does not run. */
  readonly saved?: Health | undefined;
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
export type FieldChange = {
  readonly path: string;
  readonly before?: string | undefined;
  readonly after?: string | undefined;
};

/** Who wrote an object, as its managedFields say: the manager, Apply or Update, and the subresource. */
export type Writer = { readonly manager: string; readonly operation: string; readonly time?: string | undefined };

/** A request of a run: to the API server by its path, or to another system by its host alone. */
export type RunRequest = {
  readonly method: string;
  readonly target: string;
  /** Absent without a response. */
  readonly status?: number;
  /** Since the start of the run. */
  readonly startMs: number;
  readonly durationMs: number;
};

/** What the spans of a run say, in milliseconds since 1970. `forwardedAt` and `queuedAt` are of the watcher's span. */
export type RunTrace = {
  readonly startedAt: number;
  readonly forwardedAt?: number;
  readonly queuedAt?: number;
  readonly requests: readonly RunRequest[];
};

/** An event in the life of an object. `log`: a line of its controller's author; `action`: of an operator's console. */
export type TimelineEntry = {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly type: 'change' | 'reconcile' | 'status' | 'log' | 'action' | 'crash';
  readonly text: string;
  /** The controller and the cause of a reconcile, and whether it failed. */
  readonly controller?: string;
  readonly cause?: string;
  readonly failed?: true;
  readonly outcome?: string;
  readonly error?: string | undefined;
  /** It is not retried. */
  readonly final?: true;
  /** Its message is a dead letter, for this reason. */
  readonly deadLetterReason?: string | undefined;
  /** Of a status. */
  readonly tone?: Tone;
  /** It was postponed: a retry follows, which costs no attempt. */
  readonly postponed?: true;
  /** Its message, and the failed reconciles before this one. */
  readonly messageId?: string | undefined;
  readonly attempts?: number | undefined;
  readonly durationMs?: number | undefined;
  /** To the API server, and the time in which at least one was open. */
  readonly requests?: number | undefined;
  readonly requestMs?: number | undefined;
  /** The requests that changed something. */
  readonly writes?: number | undefined;
  /** Of a change or a status: who wrote it. */
  readonly writers?: readonly Writer[];
  /** The id of the run's trace, and what its spans say as far as they are known. */
  readonly traceId?: string | undefined;
  readonly trace?: RunTrace;
  /** The id of its X-Ray trace, if that is sampled. */
  readonly xrayTraceId?: string | undefined;
  /** From the change to the end of the reconcile. */
  readonly latencyMs?: number | undefined;
  readonly changes?: readonly FieldChange[];
};

/** An entry with the object that it is about. */
export type ObjectEntry = TimelineEntry & { readonly id: string };

/** A time range, in milliseconds since 1970. */
export type TimeRange = { readonly from: number; readonly to: number };

/** An entry that is about an object, or about a function or a cluster as a whole. */
export type PastEntry = TimelineEntry & { readonly id?: string | undefined };

/** What AWS knows of a function. An absent figure is not known. */
export type FunctionFigures = {
  readonly name: string;
  /** In a time range. */
  readonly invocations?: number | undefined;
  readonly errors?: number | undefined;
  readonly throttles?: number | undefined;
  /** Invocations that Lambda has ended, which are among the errors. */
  readonly timeouts?: number;
  /** When its code or its configuration was changed last, in milliseconds since 1970; its SHA-256 in Base64. */
  readonly deployedAt?: number;
  readonly code?: string;
};

/** What has happened in a time range, the newest first. `notes`: what cannot be read, or is left out. */
export type Past = {
  readonly entries: readonly PastEntry[];
  readonly functions: readonly FunctionFigures[];
  readonly notes: readonly string[];
};

/** An object with its children. `id` is that of a row, if the kind has a controller. */
export type TreeNode = {
  readonly id: string;
  readonly kind: string;
  readonly name: string;
  readonly state: string;
  readonly tone: Tone;
  readonly children: readonly TreeNode[];
};

/** Why an object is in its state, as one sentence, and the action that ends it. */
export type Why = {
  readonly state: string;
  readonly tone: Tone;
  readonly text: string;
  readonly action?: ConsoleAction;
};

/** Everything about one object. */
export type ObjectDetail = {
  readonly row: ObjectRow;
  readonly why?: Why | undefined;
  readonly yaml: string;
  readonly tree: TreeNode;
  /** The kinds of children that could not be listed, with the reason. */
  readonly unlisted?: readonly string[];
  /** Newest first. */
  readonly timeline: readonly TimelineEntry[];
  /** Why more of the timeline is not known. */
  readonly timelineNote?: string;
  /** When a reconcile is due, in milliseconds since 1970. */
  readonly dueAt?: number;
};

/** A message of a queue. `id` is that of an object's row; absent for a body that is not a message. */
export type QueuedMessage = {
  readonly queue: string;
  readonly messageId: string;
  readonly state: 'waiting' | 'in flight' | 'timer' | 'dead';
  readonly body: string;
  readonly controller?: string;
  readonly id?: string;
  readonly cause?: string;
  /** Failed reconciles so far. */
  readonly attempts?: number;
  /** Why a dead letter is no longer retried, and its last error. */
  readonly reason?: string;
  readonly error?: string;
  /** Milliseconds since 1970. For a dead letter: when it was first received. */
  readonly since?: number;
  readonly dueAt?: number;
};

/**
 * What is on the queues. `more` has the number of messages that are not in `messages`, by queue; `unread` are the
 * queues that could not be read, `notes` what cannot be read at all.
 */
export type Queues = {
  readonly messages: readonly QueuedMessage[];
  readonly more?: Readonly<Record<string, number>>;
  readonly unread: readonly string[];
  readonly notes?: readonly string[];
};

/** Something that a person does. An `id` is that of a row. */
export type ConsoleAction =
  | { readonly type: 'reconcile' | 'dry-run' | 'pause' | 'resume'; readonly id: string }
  | { readonly type: 'pause-controller' | 'resume-controller'; readonly controller: string }
  | { readonly type: 'pause-cluster' | 'resume-cluster'; readonly cluster: string }
  /** Of one message, of one object, or of a whole queue. */
  | { readonly type: 'redrive' | 'delete'; readonly queue: string; readonly messageId?: string; readonly id?: string }
  /** For eight seconds, if `seconds` is absent. */
  | { readonly type: 'break'; readonly fault: string; readonly seconds?: number };

/** A fault that can be started on this machine. */
export type FaultRow = {
  readonly name: string;
  readonly title: string;
  readonly text: string;
  /** The part of the system that it concerns, as a heading. */
  readonly part: string;
};

/** A fault that was started while every object changed. Times are in milliseconds since 1970. */
export type Experiment = {
  /** The name of the fault. */
  readonly fault: string;
  readonly startedAt: number;
  /** How long the part is broken. */
  readonly seconds: number;
  /** The reconciles that the changes require, and those that are not done yet. */
  readonly total: number;
  readonly awaited: number;
  /** Those that have run and failed. */
  readonly failed: number;
  /** When the part was repaired, the last reconcile was done, and the experiment ended. */
  readonly repairedAt?: number;
  readonly reconciledAt?: number;
  readonly endedAt?: number;
  /** Why the experiment has ended early. */
  readonly problem?: string;
};

/** A line of an object's YAML: as it is, or as a write would remove or add it. */
export type YamlLine = { readonly mark: ' ' | '-' | '+'; readonly text: string };

/** What an action has done, for a person: one line. Of a dry run its lines, and the YAML with what it would write. */
export type ActionResult = {
  readonly text: string;
  readonly lines?: readonly string[];
  readonly yaml?: readonly YamlLine[];
};

/** What the page shows: a local system, or a deployed stage. */
export type System = {
  readonly mode: 'dev' | 'stage';
  readonly name: string;
  /** The command that serves the page. */
  readonly command: string;
  /** Dry runs alone are carried out. */
  readonly readOnly?: true;
  /** Of a stage: CloudWatch in the AWS console, if its partition has one, and the prefix of the functions' names. */
  readonly aws?: { readonly cloudWatch: string; readonly prefix: string } | undefined;
};

/** Why an action is refused by a console that only reads; undefined if it is not. */
export function refusedByReadOnly(
  { readOnly }: Pick<System, 'readOnly'>,
  { type }: { readonly type: ConsoleAction['type'] },
): string | undefined {
  if (readOnly !== true || type === 'dry-run') return undefined;
  return 'This console only reads: it was started with --read-only';
}

/** The events of the stream, by name. */
export type ConsoleEvents = {
  readonly snapshot: {
    readonly system: System;
    readonly rows: readonly ObjectRow[];
    readonly recent: readonly ObjectEntry[];
    readonly series: Series;
    readonly faults: readonly FaultRow[];
    readonly experiments: readonly Experiment[];
  };
  readonly rows: { readonly changed: readonly ObjectRow[]; readonly removed: readonly string[] };
  readonly entries: readonly ObjectEntry[];
  /** The newest first. */
  readonly experiments: readonly Experiment[];
  readonly flow: Flow;
};
