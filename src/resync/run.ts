// The scheduled resync: finds the changes that the watchers missed, and reconciles every object once per period. A
// resync run sends one message for each cluster and controller, so that an unreachable cluster or a very long list
// delays only its own messages.
import type { ControllerDefinition } from '../api/definition.ts';
import type { FindCluster } from '../clusters/connect.ts';
import { NoTableError } from '../clusters/registry/registry.ts';
import { forEachConcurrently, unlessAborted } from '../core/async.ts';
import { toError, UserError } from '../core/errors.ts';
import { metricNames } from '../core/metrics.ts';
import { queuesOf, resyncDeadLetterQueue, resyncQueue } from '../core/names.ts';
import { MessageError } from '../sqs/body.ts';
import { type DeadLetterCause, deadLetterAttributes } from '../sqs/dead-letter.ts';
import { hashOf } from '../sqs/message.ts';
import type { QueueRecord } from '../sqs/record.ts';
import { roleIdOf, senderReason } from '../sqs/senders.ts';
import { isQueueIdle, type ListKindDeps, type ListKindTime, listKind } from './list-kind.ts';
import { formatResyncMessage, parseResyncMessage, type ResyncMessage } from './message.ts';

/** The dependencies of the resync. */
export type ResyncDeps = Omit<ListKindDeps, 'now'> & {
  /**
   * Returns the milliseconds since 1970 by the clock of SQS. A function whose own clock is hours ahead would otherwise
   * abandon every list, because the next resync run seems to have started.
   */
  readonly sqsNow: (record: QueueRecord) => number;
  readonly registry: readonly ControllerDefinition[];
  /** The only namespaces whose objects are listed. Absent: all. */
  readonly namespaces?: readonly string[];
  readonly findCluster: FindCluster;
  /** The sender check: the id of this function's own role, the only sender of its queue. Absent: it is off. */
  readonly senders?: { readonly self: string; mayCopy(): boolean };
  /** Whether the depth of the dead-letter queues is a metric: that of the alarm of lean monitoring. Default false. */
  readonly countsDeadLetters?: boolean;
  /** Returns the names of all clusters. */
  readonly listClusters: () => Promise<readonly string[]>;
};

/** The resync: the start of a run, and the processing of its messages. */
export type Resync = {
  /**
   * Sends a message for every controller's kind in every cluster, and returns their number. `time` is the scheduled
   * time (ISO 8601), so that a trigger that is delivered twice makes no duplicates. Rejects if a message was not sent.
   * It is idempotent.
   */
  startRun(time: string, options: { readonly signal: AbortSignal }): Promise<number>;
  /** Lists the kinds of the messages. Returns the ids of the messages that must stay on the queue for a retry. */
  run(records: readonly QueueRecord[], time: ListKindTime): Promise<readonly string[]>;
};

/** Creates a resync. */
export function createResync(deps: ResyncDeps): Resync {
  return {
    startRun: async (time, { signal }) => {
      const clusters = inOrderOf(time, await unlessAborted(deps.listClusters(), signal));
      // Once for each controller: for each list it would be most requests of an idle month of many clusters.
      const idle = new Map<string, boolean | undefined>();
      if (clusters.length > 0)
        await forEachConcurrently(depthsAtOnce, deps.registry, async ({ name }) => {
          idle.set(name, await isQueueIdle(deps, name, signal));
        });
      const entries = clusters.flatMap((cluster) =>
        deps.registry.flatMap(({ name, declaration: { resource } }) => {
          const queueIdle = idle.get(name);
          const known = queueIdle === undefined ? {} : { queueIdle };
          const message: ResyncMessage = { v: 1, type: 'resync', run: time, cluster, controller: name, ...known };
          if (!resource.namespaced || deps.namespaces === undefined) return [{ body: formatResyncMessage(message) }];
          return deps.namespaces.map((namespace) => ({ body: formatResyncMessage({ ...message, namespace }) }));
        }),
      );
      for (const result of await deps.send(resyncQueue, entries, { signal })) {
        if (!result.accepted) throw new Error(`resync run not started completely: ${result.reason}`);
      }
      deps.metrics.count(metricNames.resyncRuns);
      if (deps.countsDeadLetters === true) await countDeadLetters(deps, signal);
      // Without clusters no list reports the watchers, so the metric is reset here.
      if (clusters.length === 0) deps.metrics.count(metricNames.watcherDown, 0);
      return entries.length;
    },
    run: async (records, time) => {
      const done = await Promise.all(
        records.map((record) => runRecord({ ...deps, now: () => deps.sqsNow(record) }, record, time)),
      );
      return records.filter((_, index) => done[index] !== true).map(({ messageId }) => messageId);
    },
  };
}

/**
 * Counts the messages on the dead-letter queues, for the alarm of lean monitoring: SQS moves messages there, too. The
 * metric is written only while there are some, so that it costs nothing otherwise.
 */
async function countDeadLetters({ registry, depth, log, metrics }: ResyncDeps, signal: AbortSignal): Promise<void> {
  let count = 0;
  await forEachConcurrently(depthsAtOnce, queuesOf(registry), async ({ deadLetterQueue: queue }) => {
    try {
      // One that a command reads is in flight.
      const { visible, inFlight } = await depth(queue, { signal });
      count += visible + inFlight;
    } catch (error) {
      log({ queue }).warn('queue depth unknown', { error: toError(error).message });
    }
  });
  if (count > 0) metrics.count(metricNames.deadLetterQueueDepth, count);
}

/**
 * Orders the clusters of a run. Each run has another order: the last lists of a run that takes too long are abandoned,
 * and must not be those of the same clusters each time.
 */
function inOrderOf(time: string, clusters: readonly string[]): readonly string[] {
  const positions = new Map(clusters.map((cluster) => [hashOf(time, cluster), cluster]));
  return [...positions].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, cluster]) => cluster);
}

/** The dependencies for one record. */
type RecordDeps = Omit<ResyncDeps, 'sqsNow'> & Pick<ListKindDeps, 'now'>;

/** The queues whose depths are read at the same time. */
const depthsAtOnce = 10;
/** How soon a failed list is retried, which doubles with each failure of a run. */
const retrySeconds = 30;
const maxRetrySeconds = 240;
/** How long the message of a list that its deadline has ended may take to be sent: less than the function still has. */
const retrySendMs = 1_000;

/** Lists the kind of one record. Returns whether the record may be deleted. An error affects only this record. */
async function runRecord(deps: RecordDeps, record: QueueRecord, time: ListKindTime): Promise<boolean> {
  if (deps.senders !== undefined && roleIdOf(record.senderId) !== deps.senders.self) {
    deps.metrics.count(metricNames.sendersRefused);
    const lastError = new Error(`sender ${roleIdOf(record.senderId)} may not send to the resync queue`);
    return (
      !deps.senders.mayCopy() || (await deadLetter(deps, record, { reason: senderReason, lastError }, time.signal))
    );
  }
  const parsed = readRecord(record);
  if (parsed instanceof MessageError) return await deadLetter(deps, record, { reason: parsed.message }, time.signal);
  const { failures = 0, ...message } = parsed;
  const { run, cluster, namespace } = message;
  const log = deps.log({ run, cluster, controller: message.controller, namespace });
  const controller = deps.registry.find(({ name }) => name === message.controller);
  if (controller === undefined) {
    // A deployment has removed it, or has not reached this environment yet. The next run lists what there is then.
    log.info('list skipped', { reason: 'unknown controller' });
    return true;
  }
  try {
    const found = await unlessAborted(deps.findCluster(cluster, time), time.signal);
    if (found.type === 'client') {
      // The watchers of a cluster are checked once per run, with the list of the first controller.
      const isFirst = message.namespace === undefined || message.namespace === deps.namespaces?.[0];
      const checksWatchers = controller === deps.registry[0] && isFirst;
      await listKind(deps, { message, controller, client: found.client, checksWatchers, isRetry: failures > 0 }, time);
    }
    // The cluster was removed from the table, is paused or is being decommissioned. There is nothing to list.
    else {
      log.info('list skipped', { reason: found.type });
      // If every cluster is, no list reports the watchers.
      deps.metrics.count(metricNames.watcherDown, 0);
    }
    return true;
  } catch (thrown) {
    log.warn('list failed', { error: toError(thrown).message });
    const isEntry = thrown instanceof UserError && !(thrown instanceof NoTableError);
    // Not the first failure in a run: of many clusters some list fails once in each run, and no alarm is for that.
    const counted = isEntry ? 0 : 1;
    if (failures >= counted) deps.metrics.count(metricNames.resyncFailures, 1, { cluster });
    // Once in a run: the alarm is for two runs.
    if (failures === counted) deps.metrics.trouble(cluster, isEntry ? 'invalid-entry' : 'not-listed');
    const signal = time.signal.aborted ? AbortSignal.timeout(retrySendMs) : time.signal;
    return await retrySoon(deps, { ...message, failures: failures + 1 }, signal);
  }
}

/**
 * Sends the message again with a delay: its visibility timeout would end only after the next run has started. Without
 * time for that, the list is left to the next run, but for one that has begun.
 */
async function retrySoon(deps: RecordDeps, message: ResyncMessage, signal: AbortSignal) {
  const { run, failures = 1 } = message;
  const secondsToNextRun = Date.parse(run) / 1000 + deps.rate.runIntervalSeconds - deps.now() / 1000;
  const delaySeconds = Math.min(retrySeconds * 2 ** (failures - 1), maxRetrySeconds);
  if (secondsToNextRun <= delaySeconds) {
    if (message.continue !== undefined) return false;
    // One that failed before started in time, and its failures are counted.
    if (failures === 1) deps.metrics.count(metricNames.resyncRetriesExhausted, 1, { cluster: message.cluster });
    return true;
  }
  const [sent] = await deps.send(resyncQueue, [{ body: formatResyncMessage(message), delaySeconds }], { signal });
  return sent?.accepted === true;
}

function readRecord({ body }: QueueRecord): ResyncMessage | MessageError {
  try {
    return parseResyncMessage(body);
  } catch (error) {
    if (error instanceof MessageError) return error;
    throw error;
  }
}

async function deadLetter(
  deps: RecordDeps,
  record: QueueRecord,
  cause: DeadLetterCause,
  signal: AbortSignal,
): Promise<boolean> {
  const error = cause.lastError === undefined ? {} : { error: cause.lastError.message };
  deps.log({ messageId: record.messageId }).error('message refused', { reason: cause.reason, ...error });
  deps.metrics.count(metricNames.deadLetters);
  const entry = { body: record.body, attributes: deadLetterAttributes(record, cause) };
  const [sent] = await deps.send(resyncDeadLetterQueue, [entry], { signal });
  return sent?.accepted === true;
}
