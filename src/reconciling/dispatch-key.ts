// One key of a batch: check the cluster's circuit breaker, reconcile the key, send the follow-up (timer or dead
// letter), and release the messages of the key.

import type { ClusterLookup, FindCluster } from '../clusters/connect.ts';
import { unlessAborted } from '../core/async.ts';
import { isClusterName } from '../core/cluster-name.ts';
import type { RetryPolicy } from '../core/controller-options.ts';
import { ReconcileTimeoutError, toError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import { type Metrics, metricNames } from '../core/metrics.ts';
import { controllerDeadLetterQueue, controllerQueue, timersQueue } from '../core/names.ts';
import { type DeadLetterCause, sendToDeadLetterQueue } from '../sqs/dead-letter.ts';
import { type FunctionIds, groupIdOf } from '../sqs/deduplication.ts';
import { attemptOf, formatMessage, keyOfMessage, type Message } from '../sqs/message.ts';
import type { QueueRecord } from '../sqs/record.ts';
import type { ReturnMessages } from '../sqs/return.ts';
import type { Send, SendResult } from '../sqs/sender.ts';
import { timerEntry } from '../timers/timer-message.ts';
import type { KeyTrace } from '../tracing/key-tracer.ts';
import { type Breaker, timeFirstResponse } from './breaker.ts';
import { type KeyGroup, mayWaitForTable, undeclaredReason } from './group-records.ts';
import { keyFields } from './key-fields.ts';
import { decide, type FollowUp, limitConflicts, type Outcome } from './outcome.ts';
import { type ReconcileInput, type ReconcileReport, reportReconcile } from './report.ts';

/** The dependencies of dispatching a key. */
export type DispatchDeps = {
  readonly controller: string;
  /** The controller's retries; absent: the default. */
  readonly retry?: RetryPolicy | undefined;
  /** Whether the controller declares the kind of a message. Absent: it declares every kind. */
  readonly declares?: (message: Message) => boolean;
  readonly reconcile: (input: ReconcileInput) => Promise<ReconcileReport>;
  readonly findCluster: FindCluster;
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

/**
 * The deadline of the reconcile, and the later deadline of its follow-up: the follow-up of a finished reconcile is
 * still sent.
 */
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
  const { message, records } = keyGroup;
  const trace = deps.startTrace?.(message, records);
  const log = deps.log({ ...keyFields(keyGroup), ...(trace === undefined ? {} : { traceId: trace.traceId }) });
  const startedAt = deps.monotonicMs();
  let traced: Parameters<KeyTrace['end']>[0] = { outcome: 'aborted' };
  try {
    const report = await runOnCluster(deps, keyGroup, { log, trace }, work);
    traced = tracedOutcome(report.outcome);
    const nowMs = deps.sqsNow(records[records.length - 1] ?? noRecord(keyGroup));
    const { ignoredSignal: isRunning, generation, outcome } = report;
    const { observedAt, afterDueAt } = keyGroup;
    const followUp = decide(outcome, report.message ?? message, {
      nowMs,
      observedAt,
      afterDueAt,
      retry: deps.retry,
      generation,
      isRunning,
    });
    const durationMs = deps.monotonicMs() - startedAt;
    if (outcome.type === 'failed' && outcome.error instanceof ReconcileTimeoutError) {
      deps.metrics.count(metricNames.reconcileTimeouts, 1, { cluster: message.cluster });
    }
    reportReconcile(deps.metrics, keyGroup, { report, followUp, log, durationMs, nowMs });
    const { orphan } = report;
    // In addition to what follows, which finds nothing if the object is gone.
    const isSaved =
      orphan === undefined ||
      (await deadLetter(deps, records.slice(-1), { ...orphan, attempts: attemptOf(message) }, log, sending));
    const traceHeader = trace?.header;
    const isDone =
      isSaved && (await sendFollowUp(deps, keyGroup, { followUp, outcome, traceHeader, nowMs }, log, sending));
    if (isDone) await release(records);
    // Not after the deadline, when a reconciler may have ignored its signal.
    else await deps.returnMessages(records, { signal: work });
  } catch (thrown) {
    // No follow-up was sent: the message stays on the queue, and is received again after its visibility timeout.
    const fields = { error: toError(thrown).message };
    log.error(work.aborted ? 'reconcile timed out or was aborted' : 'reconcile failed unexpectedly', fields);
    const error = toError(thrown);
    const isTimeout = work.aborted && [error, error.cause].includes(work.reason);
    const metric = isTimeout ? metricNames.reconcileTimeouts : metricNames.reconcilesFailed;
    deps.metrics.count(metric, 1, { cluster: message.cluster });
  } finally {
    trace?.end(traced);
  }
}

function tracedOutcome(outcome: Outcome): Parameters<KeyTrace['end']>[0] {
  return { outcome: outcome.type, ...('error' in outcome ? { error: outcome.error } : {}) };
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

async function runOnCluster(
  deps: DispatchDeps,
  { message, records }: KeyGroup,
  { log, trace }: { readonly log: Log; readonly trace: KeyTrace | undefined },
  signal: AbortSignal,
): Promise<ReconcileReport> {
  const { breaker, monotonicMs } = deps;
  const { cluster, cause } = message;
  const startedAt = monotonicMs();
  const durationMs = () => monotonicMs() - startedAt;
  const postpone = (reason: PostponedReason, error: Error): ReconcileReport => ({
    outcome: { type: 'postponed', reason, error },
    writes: 0,
  });
  const state = breaker.state(cluster);
  if (state !== 'closed') {
    const error = new Error(`cluster not called: its circuit breaker is ${state}`);
    return postpone(state === 'open' ? 'unreachable' : 'slow', error);
  }
  // The last one: the ids of mapped keys are made from it, and an earlier message may have been mapped before.
  const messageId = records.at(-1)?.messageId ?? '';
  let found: ClusterLookup;
  try {
    found = await unlessAborted(deps.findCluster(cluster, { signal }), signal);
  } catch (thrown) {
    if (signal.aborted) throw new Error('the clusters table did not respond before the deadline', { cause: thrown });
    // The clusters table is unavailable, or its entry is unusable. Both can recover without a change of the object.
    breaker.recordFailure(cluster, { durationMs: durationMs() });
    return postpone('unreachable', toError(thrown));
  }
  // Its keys wait in the timers queue, at no cost to the breaker and without an attempt.
  if (found.type === 'paused') return postpone('paused', new Error('the cluster is paused'));
  const isDeclared = deps.declares?.(message) !== false;
  if (found.type === 'unknown' && isDeclared && isClusterName(cluster) && mayWaitForTable(message))
    return postpone('unknown-cluster', new Error(`the clusters table has no ${cluster}; add it, or decommission it`));
  if (found.type === 'unknown')
    return { outcome: { type: 'refused', error: new Error(`unknown cluster ${cluster}`) }, writes: 0 };
  if (found.type === 'decommissioning') return { outcome: { type: 'nothing', reason: 'decommissioning' }, writes: 0 };
  if (!isDeclared) return postpone('undeclared', new Error(undeclaredReason(deps.controller, message)));
  // A key is postponed once for a slow response: its retry has no time limit.
  const firstResponseTimeoutMs = cause.type === 'retry' ? undefined : breaker.firstResponseTimeoutMs(cluster);
  const timed = timeFirstResponse(found.client, monotonicMs, { firstResponseTimeoutMs });
  const count: ReconcileInput['count'] = (name, value) => deps.metrics.author(name, value);
  const input = { client: trace?.client(timed.client) ?? timed.client, message, messageId, log, signal, count };
  let report: ReconcileReport;
  try {
    report = await (trace === undefined ? deps.reconcile(input) : trace.run(() => deps.reconcile(input)));
  } catch (thrown) {
    if (!timed.unanswered()) throw thrown;
    // The deadline of the function came before that of the request. Nothing has been done, and without a follow-up SQS
    // would move the key to the dead-letter queue after its last receive.
    breaker.recordFailure(cluster, { durationMs: durationMs() });
    return postpone('unreachable', new Error('no response before the deadline of the reconcile', { cause: thrown }));
  }
  if (timed.timedOut()) {
    breaker.recordTimeout(cluster, { durationMs: durationMs() });
    return postpone('slow', new Error(`no response within ${firstResponseTimeoutMs} ms; other clusters are faster`));
  }
  try {
    if (isGone(report) && (await isOtherCluster(found, message, signal))) {
      const address = 'the clusters table has the address of another cluster';
      return postpone('other-cluster', new Error(`${address} for ${cluster}; correct the entry`));
    }
  } catch (thrown) {
    if (signal.aborted) throw thrown;
    // Not compared, so it may be gone in another cluster only.
    return postpone('unreachable', toError(thrown));
  }
  const outcome = limitConflicts(report.outcome, message);
  const isUnreachable = outcome.type === 'postponed' && outcome.reason === 'unreachable';
  if (isUnreachable) breaker.recordFailure(cluster, { durationMs: durationMs() });
  else breaker.recordSuccess(cluster, { responseMs: timed.responseMs(), durationMs: durationMs() });
  return { ...report, outcome, requests: timed.requests() };
}

type PostponedReason = Extract<Outcome, { type: 'postponed' }>['reason'];

/** Whether the object was not found. One with an orphan was: its cluster is the right one. */
function isGone({ outcome, orphan }: ReconcileReport): boolean {
  return orphan === undefined && outcome.type === 'nothing' && outcome.reason === 'gone';
}

/** Whether a key that is gone was seen in another cluster than the one that its entry names now. */
async function isOtherCluster(
  { isOther }: Extract<ClusterLookup, { type: 'client' }>,
  message: Message,
  signal: AbortSignal,
): Promise<boolean> {
  const { clusterUid } = message;
  if (clusterUid === undefined || isOther === undefined || !mayWaitForTable(message)) return false;
  return await isOther(clusterUid, { signal });
}

/** Sends what follows a reconcile. Returns whether SQS accepted it, so that the messages may be deleted. */
async function sendFollowUp(
  deps: DispatchDeps,
  { message, records }: KeyGroup,
  {
    followUp: { again, timers, deadLetter: reason },
    outcome,
    traceHeader,
    nowMs,
  }: {
    readonly followUp: FollowUp;
    readonly outcome: Outcome;
    readonly traceHeader: string | undefined;
    readonly nowMs: number;
  },
  log: Log,
  signal: AbortSignal,
): Promise<boolean> {
  const sent: SendResult[] = [];
  if (again !== undefined) {
    const { held } = await deps.ids();
    const key = keyOfMessage(again);
    const deduplicationId = held(key, { messageId: records.at(-1)?.messageId ?? '' });
    const entry = { body: formatMessage(again), groupId: groupIdOf(key), deduplicationId, traceHeader };
    sent.push(...(await deps.send(controllerQueue(deps.controller), [entry], { signal })));
  }
  if (timers.length > 0) {
    const entries = timers.map((one) => ({ ...timerEntry(one, { nowMs }), traceHeader }));
    sent.push(...(await deps.send(timersQueue, entries, { signal })));
  }
  if (!allAccepted(sent, log)) return false;
  if (reason === undefined) return true;
  // A refused message was never reconciled, so it adds no attempt.
  const cause =
    outcome.type === 'failed'
      ? { reason, attempts: attemptOf(message) + 1, lastError: outcome.error }
      : { reason, attempts: attemptOf(message) };
  return await deadLetter(deps, records.slice(-1), cause, log, signal);
}

/**
 * Returns whether all were accepted. A message whose follow-up was rejected is not deleted, and the reason is logged.
 */
function allAccepted(sent: readonly SendResult[], log: Log): boolean {
  for (const one of sent) {
    if (!one.accepted) log.warn('message not deleted: its follow-up was rejected by SQS', { reason: one.reason });
  }
  return sent.every(({ accepted }) => accepted);
}

function noRecord({ key }: KeyGroup): never {
  throw new Error(`a group without records: ${key}`);
}
