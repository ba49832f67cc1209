// The metrics of the functions: their names, and the interface that counts and times. The labels say which controller
// and cluster a value belongs to. The writer decides which labels become dimensions, because CloudWatch charges for
// each dimension value.

/** The dimension of every metric. Its value is a controller, `timers` or `resync`. */
export const serviceDimension = 'service';
/** The second dimension, with METRICS_PER_CLUSTER. */
export const clusterDimension = 'cluster';

/** The further dimension of Reconciles: why the object was reconciled. */
export const causeDimension = 'cause';

/** The further dimension of ClusterTrouble. */
export const troubleDimension = 'what';

/** Every metric of the functions. docs/metrics.md explains each one. */
export const metricNames = {
  reconcileLatency: 'ReconcileLatency',
  reconciles: 'Reconciles',
  reconcilesDone: 'ReconcilesDone',
  reconcilesNothing: 'ReconcilesNothing',
  reconcilesPostponed: 'ReconcilesPostponed',
  clusterPostponements: 'ClusterPostponements',
  reconcilesFailed: 'ReconcilesFailed',
  reconcilesTerminal: 'ReconcilesTerminal',
  reconcilesRefused: 'ReconcilesRefused',
  reconcileTimeouts: 'ReconcileTimeouts',
  deadLetters: 'DeadLetters',
  deadLetterQueueDepth: 'DeadLetterQueueDepth',
  sendersRefused: 'SendersRefused',
  kindNotServed: 'KindNotServed',
  statusSubresourceMissing: 'StatusSubresourceMissing',
  unusableResponses: 'UnusableResponses',
  driftCorrected: 'DriftCorrected',
  selfTriggered: 'SelfTriggered',
  applyNoops: 'ApplyNoops',
  decommissioningClusterMessages: 'DecommissioningClusterMessages',
  missedChanges: 'MissedChanges',
  watcherDown: 'WatcherDown',
  clusterTrouble: 'ClusterTrouble',
  clustersTableAge: 'ClustersTableAge',
  clustersTableStale: 'ClustersTableStale',
  resyncRuns: 'ResyncRuns',
  resyncPages: 'ResyncPages',
  resyncObjects: 'ResyncObjects',
  resyncFailures: 'ResyncFailures',
  resyncRetriesExhausted: 'ResyncRetriesExhausted',
} as const;
export type MetricName = (typeof metricNames)[keyof typeof metricNames];

/** The controller and the cluster that a value belongs to. */
export type MetricLabels = {
  /** Set by a function that works for all controllers. Default: the function's own controller. */
  readonly controller?: string;
  readonly cluster?: string;
  /** The type of a message's cause. A value with a cause has it as a dimension, and never the cluster. */
  readonly cause?: string;
};

/** What is wrong with a cluster. The metric is written only while something is, so a healthy fleet pays nothing. */
export type ClusterTrouble = 'invalid-entry' | 'not-listed' | 'list-abandoned' | 'not-reconciled' | 'watcher-down';

/** Records counts and durations. */
export type Metrics = {
  /** Adds to a counter. */
  count(name: MetricName, value?: number, labels?: MetricLabels): void;
  /** Records a duration in milliseconds. */
  milliseconds(name: MetricName, value: number, labels?: MetricLabels): void;
  /** Adds to a counter of the author of the controller. */
  author(name: string, value: number): void;
  /** Records that something is wrong with a cluster: ClusterTrouble, with the dimensions cluster and what. */
  trouble(cluster: string, what: ClusterTrouble): void;
};

/** Metrics that keep nothing. */
export const silentMetrics: Metrics = { count: () => {}, author: () => {}, milliseconds: () => {}, trouble: () => {} };

/** Throws a TypeError for a count that is not an author's to write: each name is a metric that is billed. */
export function checkAuthorCount(name: string, value: number): void {
  if (!/^[A-Z][A-Za-z0-9]{0,63}$/.test(name))
    throw new TypeError(`metrics.count: ${name} is not a name such as RecordsWritten, the same for every object`);
  if (Object.values(metricNames).some((one) => one === name))
    throw new TypeError(`metrics.count: ${name} is a metric of Outrigger; use another name`);
  if (!Number.isFinite(value)) throw new TypeError(`metrics.count: ${name} has no finite value`);
}
