// A batch of messages of one controller: groups the records by key, reconciles each key once, and deletes the messages
// that are done. A message is deleted last, after its follow-up (timer or dead letter) has been accepted.

import { unlessAborted } from '../core/async.ts';
import { metricNames } from '../core/metrics.ts';
import type { QueueRecord } from '../sqs/record.ts';
import { type DispatchDeps, deadLetter, dispatchKey } from './dispatch-key.ts';
import { groupRecords, type KeyGroup, orderRedelivered, type RefusedRecord, readRecord } from './group-records.ts';
import { labelKnownClusters } from './known-clusters.ts';
import type { SenderCheck } from './sender-check.ts';

/** The dependencies of a batch. */
export type BatchDeps = DispatchDeps & {
  /** Whether the clusters table, as it was last read, has a cluster. Absent: every one is known. */
  readonly isKnownCluster?: (cluster: string) => boolean;
  /** Absent: the sender check is off. */
  readonly senders?: SenderCheck | undefined;
  /** Deletes messages by their receipt handles. A failure is harmless: the message is received again. */
  readonly deleteMessages: (
    receiptHandles: readonly string[],
    options: { readonly signal: AbortSignal },
  ) => Promise<void>;
  /** Returns the records that no other function can receive while the batch is processed. Absent: all. */
  readonly hold?: (
    records: readonly QueueRecord[],
    options: { readonly signal: AbortSignal },
  ) => Promise<readonly QueueRecord[]>;
  /** Resolves after this many milliseconds, or when the signal aborts. */
  readonly wait: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** Ends the process: the only way to stop a reconcile that ignores its signal. */
  readonly exitProcess: (reason: string) => never;
};

/**
 * The time limits of a batch, in milliseconds: of its reconciles, and until the process exits if a reconcile ignores
 * its signal. The second one includes the time to report that.
 */
export type BatchLimits = { readonly reconcileMs: number; readonly graceMs: number };

/**
 * From this time on, finished messages are deleted immediately: a function that times out cannot report partial
 * failures.
 */
const earlyDeleteMs = 1_000;

/** The time limit of the last deletions: the function's own deadline is near. */
const lastDeleteMs = 1_000;

/**
 * Creates a function that processes a controller's batches. It returns the ids of the messages that must stay on the
 * queue.
 */
export function createBatch(
  given: BatchDeps,
): (records: readonly QueueRecord[], limits: BatchLimits) => Promise<readonly string[]> {
  const { isKnownCluster = () => true } = given;
  const deps = { ...given, metrics: labelKnownClusters(given.metrics, isKnownCluster) };
  return async (records, { reconcileMs, graceMs }) => {
    const startedAt = deps.monotonicMs();
    const remaining = new Set(records.map(({ messageId }) => messageId));
    let undeleted: QueueRecord[] = [];

    async function release(done: readonly QueueRecord[]): Promise<void> {
      for (const { messageId } of done) remaining.delete(messageId);
      undeleted.push(...done);
      if (deps.monotonicMs() - startedAt >= earlyDeleteMs) await deleteDone();
    }

    /** Not after the deadline: the function's response, which follows soon, deletes the messages as well. */
    async function deleteDone(signal = work.signal): Promise<void> {
      if (signal.aborted) return;
      if (undeleted.length === 0) return;
      const batch = undeleted;
      undeleted = [];
      await deps.deleteMessages(
        batch.map(({ receiptHandle }) => receiptHandle),
        { signal },
      );
    }

    const work = new AbortController();
    const sending = new AbortController();
    const finished = new AbortController();
    const deadline = deps.wait(reconcileMs, finished.signal).then(() => {
      if (!finished.signal.aborted) work.abort(new Error('out of time'));
    });
    const deadlines = { work: work.signal, sending: sending.signal };

    const held = (await deps.hold?.(records, { signal: work.signal })) ?? records;
    if (held.length < records.length)
      deps.log({}).warn('messages not reconciled: another function may have received them', {
        messages: records.length - held.length,
      });
    const read = held.map(readRecord);
    // The senders are in the clusters table, which may be slow.
    const judge = deps.senders && (await unlessAborted(deps.senders.judge(read), work.signal));
    const { groups, refused } = groupRecords(deps.controller, read, {
      ...(deps.retry === undefined ? {} : { attempts: deps.retry.attempts }),
      ...(deps.declares === undefined ? {} : { declares: deps.declares }),
      ...(judge === undefined ? {} : { judge }),
    });
    /** The keys whose reconciler runs: not those that wait for the clusters table, or for SQS. */
    const running = new Set<string>();
    async function dispatch(keyGroup: KeyGroup): Promise<void> {
      const { key } = keyGroup;
      const reconcile: BatchDeps['reconcile'] = async (input) => {
        running.add(key);
        let ignoredSignal: boolean | undefined;
        try {
          const report = await deps.reconcile(input);
          ({ ignoredSignal } = report);
          return report;
        } finally {
          if (ignoredSignal !== true) running.delete(key);
        }
      };
      await dispatchKey({ ...deps, reconcile }, keyGroup, deadlines, release);
    }

    const firstDeliveries = groups.filter(({ redelivered }) => !redelivered);
    const redeliveries = orderRedelivered(groups.filter(({ redelivered }) => redelivered));
    const allDone = (async () => {
      await Promise.all([
        ...refused.map(async (one) => {
          if (await reportRefused(deps, one, sending.signal)) await release([one.record]);
          else await deps.returnMessages([one.record], { signal: work.signal });
        }),
        ...firstDeliveries.map(dispatch),
      ]);
      // One of the redelivered keys may have crashed its function, so the first runs alone. Each wave that ends doubles
      // the next one: after Lambda has throttled the function all are redelivered, and one by one would take too long.
      let longestMs = 0;
      for (let begun = 0, waveSize = 1; begun < redeliveries.length; begun += waveSize, waveSize *= 2) {
        const waveAt = deps.monotonicMs();
        if (work.signal.aborted || longestMs > startedAt + reconcileMs - waveAt) {
          // No reconcile of these keys has begun, so their visibility timeout has nothing to prevent. One that has too
          // little time would be ended at the deadline. Nothing has failed either, so they are not delayed by their
          // receive count.
          const options = { signal: sending.signal };
          const kept = redeliveries.slice(begun).flatMap((keyGroup) => keyGroup.records);
          await deps.returnMessages(
            kept.map((record) => ({ ...record, receiveCount: 1 })),
            options,
          );
          return;
        }
        await deleteDone();
        await Promise.all(redeliveries.slice(begun, begun + waveSize).map(dispatch));
        longestMs = Math.max(longestMs, deps.monotonicMs() - waveAt);
      }
    })();
    // Messages that finished before this moment are deleted now. Without this they would wait for the next one to
    // finish, if there is one.
    void deps.wait(earlyDeleteMs, finished.signal).then(async () => {
      if (!finished.signal.aborted) await deleteDone();
    });

    const ended = await Promise.race([
      allDone.then(() => true),
      deadline.then(() => deps.wait(graceMs, finished.signal)).then(() => false),
    ]).finally(() => finished.abort('finished'));
    if (!ended || running.size > 0) {
      sending.abort(new Error('SQS did not respond before the deadline'));
      const last = new AbortController();
      // Calls to SQS end now, and log what they have not done. A reconciler that ignored its signal does not.
      const ending = Promise.all([deleteDone(last.signal), running.size > 0 ? undefined : allDone]);
      await Promise.race([ending, deps.wait(lastDeleteMs, last.signal)]);
      // Lambda would freeze the process and thaw it later. The reconcile would then go on in parallel to the next one
      // of the same key.
      if (running.size > 0) deps.exitProcess(`the reconcile of ${[...running].join(', ')} ignored its signal`);
    }
    return [...remaining];
  };
}

/**
 * Reports a refused record, and sends its dead letter. Returns whether the record may be deleted. Dead letters of
 * refused senders are limited: above that, the messages are only counted.
 */
async function reportRefused(
  deps: BatchDeps,
  { record, reason, message }: RefusedRecord,
  signal: AbortSignal,
): Promise<boolean> {
  const log = deps.log({ messageId: record.messageId });
  deps.metrics.count(metricNames.reconcilesRefused);
  if (message === undefined || deps.senders === undefined) {
    log.error('message refused', { outcome: 'refused', reason });
    return await deadLetter(deps, [record], { reason }, log, signal);
  }
  const { cluster } = message;
  const lastError = new Error(deps.senders.explain(message, record));
  log.error('message refused', { outcome: 'refused', reason, cluster, error: lastError.message });
  deps.metrics.count(metricNames.sendersRefused);
  return !deps.senders.mayCopy() || (await deadLetter(deps, [record], { reason, lastError }, log, signal));
}
