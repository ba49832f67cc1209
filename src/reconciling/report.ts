// The input and the report of the reconcile of one key. A report becomes metrics and one log line.
import { errorText, KindNotServedError, ReconcileTimeoutError, StatusSubresourceMissingError } from '../core/errors.ts';
import { type Log, stackFrames } from '../core/log.ts';
import { type MetricLabels, type MetricName, type Metrics, metricNames } from '../core/metrics.ts';
import { classifyResponse } from '../kube/client/classify.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { countsOf, describeCause, dueAtOf, type Message, originOf } from '../sqs/message.ts';
import type { KeyGroup } from './group-records.ts';
import type { FollowUp, Outcome } from './outcome.ts';

/** The report of a reconcile, for the message, for logs and for metrics. */
export type ReconcileReport = {
  readonly outcome: Outcome;
  /** The message as the object was read: a retry of an earlier generation begins anew. Absent: as it was received. */
  readonly message?: Message;
  /** Writes to children and to the object's own status or finalizers, and commands that changed something. */
  readonly writes: number;
  /** Requests to the API server, and the milliseconds in which at least one was open. */
  readonly requests?: number;
  readonly requestMs?: number;
  /** Applies that changed nothing: a difference was found where there was none. */
  readonly noops?: number;
  readonly generation?: number | undefined;
  /** An object that is gone, or may be, although its finalize was not completed. */
  readonly orphan?: Orphan | undefined;
  /** The reconciler still runs, although its signal was aborted. */
  readonly ignoredSignal?: boolean;
  /** Whether it wrote to the object again, although nothing but its own last write had it reconciled. */
  readonly selfTriggered?: boolean;
  /** Whether the status showed the generation that was read as observed. A write then corrects drift. */
  readonly observedBefore?: boolean;
};

/** An object (JSON) for a dead letter: nothing else is left of it, and an operator cleans up after it. */
export type Orphan = { readonly uid: string; readonly reason: string; readonly object: string };

/** The input of a reconcile: one key, its cluster, and its deadline. */
export type ReconcileInput = {
  readonly client: KubeClient;
  readonly message: Message;
  /** The queue's own id of the message, the last one of those that were merged. */
  readonly messageId: string;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Adds to a metric of the author. Absent: nothing is counted. */
  readonly count?: (name: string, value: number) => void;
};

/** Returns the log fields of every line about a key. Logs are most of the cost, so zeros are left out. */
export function keyFields({ message, key, records }: KeyGroup): object {
  const { namespace, name, cause, cluster, merged } = message;
  const { attempt, postponements } = countsOf(message);
  return {
    key,
    namespace,
    name,
    cause: cause.type,
    // Names from another cluster or account are cleaned, as all text in logs.
    causedBy: originOf(cause),
    attempt: attempt || undefined,
    postponements: postponements || undefined,
    merged: merged?.count,
    mergedCauses: merged?.causes.map(describeCause),
    cluster,
    messageId: records[0]?.messageId,
  };
}

/** A reconcile that has ended. Times are in milliseconds; `nowMs` is by the clock of SQS. */
export type Reconciled = {
  readonly report: ReconcileReport;
  readonly followUp: FollowUp;
  readonly log: Log;
  readonly durationMs: number;
  readonly nowMs: number;
  /** Of the metrics. */
  readonly labels: MetricLabels;
};

/** Writes the metrics and the log line of a reconcile. */
export function reportReconcile(metrics: Metrics, { message, observedAt }: KeyGroup, reconciled: Reconciled): void {
  const { report, followUp, log, durationMs, nowMs, labels } = reconciled;
  const { outcome, writes, requests, noops = 0, generation, observedBefore = false, selfTriggered = false } = report;
  const { type: cause } = message.cause;
  const error = 'error' in outcome ? outcome.error : undefined;
  const reason = 'reason' in outcome ? outcome.reason : undefined;
  const latencyMs = Math.max(0, Math.round(nowMs - observedAt));
  const driftCorrected = cause === 'resync' && observedBefore && writes > 0 && outcome.type === 'done';
  // Latency is measured from a change to its status, including retries. Requeues, resyncs and commands follow no
  // change.
  const followsChange = cause === 'change' || cause === 'retry';
  const countIf = (isCounted: boolean, metric: MetricName) => {
    if (isCounted) metrics.count(metric, 1, labels);
  };
  metrics.count(outcomeMetrics[outcome.type], 1, labels);
  metrics.count(metricNames.reconciles, 1, { cause });
  // The alarm of missed changes does not fire while this is counted. A conflict or a pause is no reason for that.
  const isTableWrong = reason === 'unknown-cluster' || reason === 'other-cluster';
  countIf(isTableWrong || reason === 'unreachable' || reason === 'slow', metricNames.clusterPostponements);
  countIf(reason === 'decommissioning', metricNames.decommissioningClusterMessages);
  const problem = error && problemMetricOf(error);
  if (problem !== undefined) metrics.count(problem, 1, labels);
  countIf(driftCorrected, metricNames.driftCorrected);
  countIf(selfTriggered, metricNames.selfTriggered);
  if (noops > 0) metrics.count(metricNames.applyNoops, noops, labels);
  if (outcome.type === 'done' && followsChange) metrics.milliseconds(metricNames.reconcileLatency, latencyMs, labels);
  const [next] = followUp.timers;
  const fields = {
    outcome: outcome.type,
    reason,
    error: error && errorText(error),
    // Not of a postponed key: its cluster is the cause. A key of a paused cluster has a line every 15 minutes.
    stack: error && outcome.type !== 'postponed' ? stackFrames(error) : undefined,
    nextCause: next?.cause.type,
    dueAt: next && dueAtOf(next),
    deadLetterReason: followUp.deadLetter,
    writes,
    requests,
    requestMs: report.requestMs,
    generation,
    latencyMs: followsChange ? latencyMs : undefined,
    durationMs: Math.round(durationMs),
    driftCorrected: driftCorrected || undefined,
    selfTriggered: selfTriggered || undefined,
  };
  if (outcome.type === 'refused') log.error('message refused', fields);
  // An operator has to correct the clusters table.
  else if (isTableWrong) log.error('reconciled', fields);
  else if (outcome.type === 'failed' || outcome.type === 'terminal') log.warn('reconciled', fields);
  else log.info('reconciled', fields);
}

/** Returns the metric of an error that has one of its own: an operator fixes the cluster, not the object. */
function problemMetricOf(error: Error): MetricName | undefined {
  if (error instanceof ReconcileTimeoutError) return metricNames.reconcileTimeouts;
  if (error instanceof KindNotServedError) return metricNames.kindNotServed;
  if (error instanceof StatusSubresourceMissingError) return metricNames.statusSubresourceMissing;
  const isUnusable = ['unusable', 'excessive'].includes(classifyResponse(error));
  return isUnusable ? metricNames.unusableResponses : undefined;
}

const outcomeMetrics = {
  done: metricNames.reconcilesDone,
  nothing: metricNames.reconcilesNothing,
  failed: metricNames.reconcilesFailed,
  terminal: metricNames.reconcilesTerminal,
  refused: metricNames.reconcilesRefused,
  postponed: metricNames.reconcilesPostponed,
} as const;
