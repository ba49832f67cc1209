// One key of a batch: check the cluster's circuit breaker, reconcile the key, send the follow-up (timer or dead
// letter), and release the messages of the key.
import type { ClusterLookup, FindCluster } from '../clusters/connect.ts';
import { unlessAborted } from '../core/async.ts';
import { isClusterName } from '../core/cluster-name.ts';
import type { RetryPolicy } from '../core/controller-options.ts';
import { toError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import { type MetricLabels, type Metrics, metricNames } from '../core/metrics.ts';
import { controllerDeadLetterQueue, controllerQueue, timersQueue } from '../core/names.ts';
import { type DeadLetterCause, sendToDeadLetterQueue } from '../sqs/dead-letter.ts';
import { type FunctionIds, groupIdOf } from '../sqs/deduplication.ts';
import { attemptOf, formatMessage, keyOfMessage, type Message } from '../sqs/message.ts';
import type { QueueRecord } from '../sqs/record.ts';
import type { ReturnMessages } from '../sqs/return.ts';
import type { Send, SendResult } from '../sqs/sender.ts';
import { timerEntry } from '../timers/timer-message.ts';
import type { KeyTrace } from '../tracing/key-tracer.ts';
import { type Breaker, timeRequests } from './breaker.ts';
import { type KeyGroup, undeclaredReason } from './group-records.ts';
import { decide, limitPostponed, mayBePostponed, type PostponedReason } from './outcome.ts';
import { keyFields, type Reconciled, type ReconcileInput, type ReconcileReport, reportReconcile } from './report.ts';

/** The dependencies of dispatching a key. */
export type DispatchDeps = {
  readonly controller: string;
  /** The controller's retries; absent: the default. */
  readonly retry?: RetryPolicy | undefined;
  /** Whether the controller declares the kind of a message. Absent: it declares every kind. */
  readonly declares?: (message: Message) => boolean;
  readonly reconcile: (input: ReconcileInput) => Promise<ReconcileReport>;
  readonly findCluster: FindCluster;
  /** Whether the clusters table, as it was last read, has a cluster. Absent: every one is known. */
  readonly isKnownCluster?: (cluster: string) => boolean;
  readonly breaker: Breaker;
  readonly send: Send;
  /** Resolves with the deduplication ids of this deployment. */
  readonly ids: () => Promise<FunctionIds>;
  readonly returnMessages: ReturnMessages;
  readonly log: (fields: object) => Log;
  readonly metrics: Metrics;
  /** The time by the clock of SQS, calculated from a record, in milliseconds. */
  readonly sqsNow: (record: QueueRecord) => number;
  readonly monotonicMs: () => number;
  /** Begins the trace of a key; undefined for one that is not sampled. Absent: traces are off. */
  readonly startTrace?: ((message: Message, records: readonly QueueRecord[]) => KeyTrace | undefined) | undefined;
};

/** The deadline of the reconcile, and the later one of its follow-up, which is still sent. */
export type Deadlines = { readonly work: AbortSignal; readonly sending: AbortSignal };

/**
 * Dispatches one key. `release` is called when its messages may be deleted. Without that call they are received again:
 * soon if only the follow-up failed, and after the visibility timeout if the reconcile may still be running.
 */
export async function dispatchKey(
  deps: DispatchDeps,
  keyGroup: KeyGroup,
  { work, sending }: Deadlines,
  release: (records: readonly QueueRecord[]) => Promise<void>,
): Promise<void> {
  const { message, records, last, observedAt, afterDueAt } = keyGroup;
  const trace = deps.startTrace?.(message, records);
  const log = deps.log({ ...keyFields(keyGroup), traceId: trace?.traceId });
  const startedAt = deps.monotonicMs();
  let traced: Parameters<KeyTrace['end']>[0] = { outcome: 'aborted' };
  try {
    const report = await runOnCluster(deps, keyGroup, { log, trace }, work);
    const { outcome, orphan, generation, ignoredSignal: isRunning } = report;
    traced = { outcome: outcome.type, error: 'error' in outcome ? outcome.error : undefined };
    const nowMs = deps.sqsNow(last);
    const circumstances = { nowMs, observedAt, afterDueAt, retry: deps.retry, generation, isRunning };
    const followUp = decide(outcome, report.message ?? message, circumstances);
    const durationMs = deps.monotonicMs() - startedAt;
    const reconciled = { report, followUp, log, durationMs, nowMs, labels: labelsOf(deps, message) };
    reportReconcile(deps.metrics, keyGroup, reconciled);
    // In addition to what follows, which finds nothing if the object is gone.
    const isSaved =
      orphan === undefined ||
      (await deadLetter(deps, [last], { ...orphan, attempts: attemptOf(message) }, log, sending));
    const isDone = isSaved && (await sendFollowUp(deps, keyGroup, reconciled, trace?.header, sending));
    if (isDone) await release(records);
    // Not after the deadline, when a reconciler may have ignored its signal.
    else await deps.returnMessages(records, { signal: work });
  } catch (thrown) {
    // No follow-up was sent: the message stays on the queue, and is received again after its visibility timeout.
    const error = toError(thrown);
    const fields = { error: error.message };
    log.error(work.aborted ? 'reconcile timed out or was aborted' : 'reconcile failed unexpectedly', fields);
    const isTimeout = work.aborted && [error, error.cause].includes(work.reason);
    const metric = isTimeout ? metricNames.reconcileTimeouts : metricNames.reconcilesFailed;
    deps.metrics.count(metric, 1, labelsOf(deps, message));
  } finally {
    trace?.end(traced);
  }
}

/**
 * Labels with the cluster of a message if the table has it: each label is a metric that is billed, and while the table
 * cannot be read, nothing else refuses a name that is not in it. The fixed label is no valid name of a cluster.
 */
function labelsOf({ isKnownCluster = () => true }: DispatchDeps, { cluster }: Message): MetricLabels {
  return { cluster: isKnownCluster(cluster) ? cluster : 'not known' };
}

/** Sends a copy of each record to the controller's dead-letter queue. Returns whether SQS accepted all of them. */
export async function deadLetter(
  deps: DispatchDeps,
  records: readonly QueueRecord[],
  cause: DeadLetterCause,
  log: Log,
  signal: AbortSignal,
): Promise<boolean> {
  const queue = controllerDeadLetterQueue(deps.controller);
  const sent = await sendToDeadLetterQueue(deps.send, { queue, records, cause, signal });
  deps.metrics.count(metricNames.deadLetters, sent.filter(({ accepted }) => accepted).length);
  return allAccepted(sent, log);
}

/** Reconciles a key, unless its cluster is not called now. Tells the breaker how that went. */
async function runOnCluster(
  deps: DispatchDeps,
  { message, last }: KeyGroup,
  { log, trace }: { readonly log: Log; readonly trace: KeyTrace | undefined },
  signal: AbortSignal,
): Promise<ReconcileReport> {
  const { breaker, monotonicMs } = deps;
  const { cluster, cause } = message;
  const startedAt = monotonicMs();
  const took = () => ({ durationMs: monotonicMs() - startedAt });
  const state = breaker.state(cluster);
  if (state !== 'closed')
    return postponed(state === 'open' ? 'unreachable' : 'slow', `cluster not called: its circuit breaker is ${state}`);
  let found: ClusterLookup;
  try {
    found = await unlessAborted(deps.findCluster(cluster, { signal }), signal);
  } catch (thrown) {
    if (signal.aborted) throw new Error('the clusters table did not respond before the deadline', { cause: thrown });
    // The clusters table is unavailable, or its entry is unusable. Both can recover without a change of the object.
    breaker.recordFailure(cluster, took());
    return postponed('unreachable', toError(thrown));
  }
  const isDeclared = deps.declares?.(message) !== false;
  if (found.type !== 'client') return withoutClient(found.type, message, isDeclared);
  if (!isDeclared) return postponed('undeclared', undeclaredReason(deps.controller, message));
  // A key is postponed once for a slow response: its retry has no time limit.
  const firstResponseTimeoutMs = cause.type === 'retry' ? undefined : breaker.firstResponseTimeoutMs(cluster);
  const timed = timeRequests(found.client, monotonicMs, firstResponseTimeoutMs);
  const client = trace?.client(timed.client) ?? timed.client;
  const count: ReconcileInput['count'] = (name, value) => deps.metrics.author(name, value);
  // The ids of mapped keys are made from that of the last one: an earlier message may have been mapped before.
  const input = { client, message, messageId: last.messageId, log, signal, count };
  let report: ReconcileReport;
  try {
    report = await (trace === undefined ? deps.reconcile(input) : trace.run(() => deps.reconcile(input)));
  } catch (thrown) {
    if (!timed.seen.unanswered) throw thrown;
    // The deadline of the function came before that of the request. Nothing has been done, and without a follow-up SQS
    // would move the key to the dead-letter queue after its last receive.
    breaker.recordFailure(cluster, took());
    const error = new Error('no response before the deadline of the reconcile', { cause: thrown });
    return postponed('unreachable', error);
  }
  if (timed.seen.timedOut) {
    breaker.recordTimeout(cluster, took());
    return postponed('slow', `no response within ${firstResponseTimeoutMs} ms; other clusters are faster`);
  }
  const { clusterUid } = message;
  const isGone = report.outcome.type === 'nothing' && report.outcome.reason === 'gone';
  // An object with an orphan was found: its cluster is the right one.
  const isLost = isGone && report.orphan === undefined;
  const isAsked = isLost && clusterUid !== undefined && mayBePostponed('other-cluster', message);
  try {
    // It was seen in another cluster than the one that its entry names now.
    if (isAsked && (await found.isOther?.(clusterUid, { signal })) === true) {
      const address = 'the clusters table has the address of another cluster';
      return postponed('other-cluster', `${address} for ${cluster}; correct the entry`);
    }
  } catch (thrown) {
    if (signal.aborted) throw thrown;
    // Not compared, so it may be gone in another cluster only.
    return postponed('unreachable', toError(thrown));
  }
  const outcome = limitPostponed(report.outcome, report.message ?? message);
  const isUnreachable = outcome.type === 'postponed' && outcome.reason === 'unreachable';
  if (isUnreachable) breaker.recordFailure(cluster, took());
  else breaker.recordSuccess(cluster, { ...took(), responseMs: timed.seen.responseMs });
  return { ...report, outcome, requests: timed.seen.requests, requestMs: Math.round(timed.seen.requestMs) };
}

function postponed(reason: PostponedReason, error: Error | string): ReconcileReport {
  return { outcome: { type: 'postponed', reason, error: toError(error) }, writes: 0 };
}

/** The report of a key whose cluster is not called, at no cost to the breaker. */
function withoutClient(
  type: Exclude<ClusterLookup['type'], 'client'>,
  message: Message,
  isDeclared: boolean,
): ReconcileReport {
  // Its keys wait in the timers queue, without an attempt.
  if (type === 'paused') return postponed('paused', 'the cluster is paused');
  if (type === 'decommissioning') return { outcome: { type: 'nothing', reason: type }, writes: 0 };
  if (isDeclared && isClusterName(message.cluster) && mayBePostponed('unknown-cluster', message))
    return postponed('unknown-cluster', `the clusters table has no ${message.cluster}; add it, or decommission it`);
  return { outcome: { type: 'refused', error: new Error(`unknown cluster ${message.cluster}`) }, writes: 0 };
}

/** Sends what follows a reconcile. Returns whether SQS accepted it, so that the messages may be deleted. */
async function sendFollowUp(
  deps: DispatchDeps,
  { message, last }: KeyGroup,
  { report: { outcome }, followUp, log, nowMs }: Reconciled,
  traceHeader: string | undefined,
  signal: AbortSignal,
): Promise<boolean> {
  const { again, timers, deadLetter: reason } = followUp;
  const sent: SendResult[] = [];
  if (again !== undefined) {
    const key = keyOfMessage(again);
    const deduplicationId = (await deps.ids()).held(key, last);
    const entry = { body: formatMessage(again), groupId: groupIdOf(key), deduplicationId, traceHeader };
    sent.push(...(await deps.send(controllerQueue(deps.controller), [entry], { signal })));
  }
  if (timers.length > 0) {
    const entries = timers.map((one) => ({ ...timerEntry(one, { nowMs }), traceHeader }));
    sent.push(...(await deps.send(timersQueue, entries, { signal })));
  }
  if (!allAccepted(sent, log)) return false;
  if (reason === undefined) return true;
  const attempts = attemptOf(message);
  // A refused message was never reconciled, so it adds no attempt.
  const cause =
    outcome.type === 'failed' ? { reason, attempts: attempts + 1, lastError: outcome.error } : { reason, attempts };
  return await deadLetter(deps, [last], cause, log, signal);
}

/** Returns whether all were accepted. */
function allAccepted(sent: readonly SendResult[], log: Log): boolean {
  for (const one of sent)
    if (!one.accepted) log.warn('message not deleted: its follow-up was rejected by SQS', { reason: one.reason });
  return sent.every(({ accepted }) => accepted);
}
