// One key of a batch: reconcile it, then do what its outcome asks for, then let go of its messages.
import type { Log } from '../core/context.ts';
import { toError } from '../core/errors.ts';
import type { Meter } from '../core/meter.ts';
import { redact } from '../core/redact.ts';
import { unlessAborted } from '../core/unless-aborted.ts';
import { controllerDeadLetters, timersQueue } from '../core/names.ts';
import type { FoundCluster } from '../kube/found-cluster.ts';
import { hashOf } from '../queue/message.ts';
import type { Entry, Send, Sent } from '../sqs/sender.ts';
import { timerEntry } from '../queue/timer.ts';
import type { Breaker } from './breaker.ts';
import type { FindCluster } from './clusters.ts';
import { timeFirstAnswer } from './first-answer.ts';
import type { Group, QueueRecord } from './intake.ts';
import type { Job, Report } from './job.ts';
import { type Action, decide, type Outcome } from './outcome.ts';

/** What the handling of one key works with. */
export type HandleParts = {
  readonly controller: string;
  readonly reconcile: (job: Job) => Promise<Report>;
  readonly findCluster: FindCluster;
  readonly breaker: Breaker;
  readonly send: Send;
  readonly log: (fields: object) => Log;
  readonly meter: Meter;
  /** SQS's clock for a record, in milliseconds. */
  readonly sqsNow: (record: QueueRecord) => number;
  readonly monotonicMs: () => number;
};

/** Until when a key may be worked on, and until when what follows from it may be sent: an outcome that is known is not lost. */
export type Deadlines = { readonly work: AbortSignal; readonly sending: AbortSignal };

/** Handles one key. `release` is called when its messages may go; without it they stay and come again. */
export async function handle(
  parts: HandleParts,
  group: Group,
  { work, sending }: Deadlines,
  release: (records: readonly QueueRecord[]) => Promise<void>,
): Promise<void> {
  const { message, records } = group;
  const log = parts.log(fieldsOf(group));
  const startedAt = parts.monotonicMs();
  try {
    const report = await visit(parts, group, log, work);
    const now = parts.sqsNow(records[records.length - 1] ?? noRecord(group));
    if (report === 'leaving') {
      parts.meter.count('LeavingClusterMessages', 1, { cluster: message.cluster });
      return await release(records);
    }
    if (report === 'unknown') {
      const reason = `unknown cluster ${message.cluster}`;
      log.error('message refused', { reason });
      const letter = { reason, attempts: message.attempt };
      if (await bury(parts, records.slice(-1), letter, log, sending)) await release(records);
      return;
    }
    const action = decide(report.outcome, message, now);
    account(parts, group, report, action, log, parts.monotonicMs() - startedAt, now);
    if (await follow(parts, group, action, report.outcome, log, now, sending)) await release(records);
  } catch (thrown) {
    // Nothing followed: the message stays and comes again after its visibility time-out.
    log.error('reconcile broke off', { error: redact(toError(thrown).message) });
    parts.meter.count('ReconcilesBrokenOff', 1, { cluster: message.cluster });
  }
}

async function visit(
  parts: HandleParts,
  { message, records }: Group,
  log: Log,
  signal: AbortSignal,
): Promise<Report | 'leaving' | 'unknown'> {
  const { breaker, monotonicMs } = parts;
  const { cluster, lane } = message;
  const startedAt = monotonicMs();
  const wholeMs = () => monotonicMs() - startedAt;
  const putOff = (why: 'unreachable' | 'slow', error: Error): Report => ({
    outcome: { type: 'deferred', why, error },
    writes: 0,
  });
  const advice = breaker.advise(cluster);
  if (advice !== 'try') return putOff(advice, new Error(`not tried: ${advice} of late`));
  const messageId = records[0]?.messageId ?? '';
  let found: FoundCluster;
  try {
    found = await unlessAborted(parts.findCluster(cluster, { signal }), signal);
  } catch (thrown) {
    if (signal.aborted) throw signal.reason;
    // A table that is away, or an entry that cannot be used: the way to the cluster is lost, and comes back by itself.
    breaker.unreachable(cluster, { wholeMs: wholeMs() });
    return putOff('unreachable', toError(thrown));
  }
  if (found.type !== 'client') return found.type;
  // A key is put off once: what comes again is awaited.
  const patienceMs = lane === 'retry' ? undefined : breaker.patienceMs(cluster);
  const timed = timeFirstAnswer(found.client, monotonicMs, { patienceMs });
  const report = await parts.reconcile({ client: timed.client, message, messageId, log, signal });
  if (timed.gaveUp()) {
    breaker.gaveUp(cluster, { wholeMs: wholeMs() });
    return putOff('slow', new Error(`no answer within ${patienceMs} ms, others are faster`));
  }
  const { outcome } = report;
  const isLost = outcome.type === 'deferred' && outcome.why === 'unreachable';
  if (isLost) breaker.unreachable(cluster, { wholeMs: wholeMs() });
  else breaker.reached(cluster, { ...timed.first(), wholeMs: wholeMs() });
  return report;
}

/** Does what must be done before the messages are given up. Tells whether it was. */
async function follow(
  parts: HandleParts,
  group: Group,
  action: Action,
  outcome: Outcome,
  log: Log,
  nowMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  switch (action.type) {
    case 'delete':
      return true;
    case 'later': {
      const sent = await parts.send(timersQueue, [timerEntry(action.message, { nowMs })], { signal });
      return allAccepted(sent, log);
    }
    case 'dead-letter': {
      // What was refused was never tried.
      const letter =
        outcome.type === 'failed'
          ? { attempts: group.message.attempt + 1, lastError: outcome.error }
          : { attempts: group.message.attempt };
      return await bury(parts, group.records.slice(-1), { reason: action.reason, ...letter }, log, signal);
    }
  }
}

/** What is said of messages that are given up. `attempts` counts the reconciles that failed, where that is known. */
type Obituary = { readonly reason: string; readonly attempts?: number; readonly lastError?: Error };

/** Copies messages to the dead-letter queue, bodies unchanged, with the reason beside them (queue/dead-letter.ts reads it). */
export async function bury(
  parts: HandleParts,
  records: readonly QueueRecord[],
  { reason, attempts, lastError }: Obituary,
  log: Log,
  signal: AbortSignal,
): Promise<boolean> {
  const entries = records.map(
    ({ body, messageId, groupId, firstReceivedAt }): Entry => ({
      body,
      groupId: groupId ?? 'none',
      deduplicationId: hashOf('dead', messageId),
      attributes: {
        reason: redact(reason),
        ...(attempts === undefined ? {} : { attempts: String(attempts) }),
        // SQS refuses an attribute without a value.
        ...(lastError === undefined ? {} : { error: redact(lastError.message) || lastError.name || 'Error' }),
        firstSeenAt: new Date(firstReceivedAt).toISOString(),
        messageId,
      },
    }),
  );
  const sent = await parts.send(controllerDeadLetters(parts.controller), entries, { signal });
  parts.meter.count('DeadLetters', sent.filter(({ accepted }) => accepted).length);
  return allAccepted(sent, log);
}

/** Tells whether everything was accepted; what was not keeps its message, and the log says why. */
function allAccepted(sent: readonly Sent[], log: Log): boolean {
  for (const one of sent) {
    if (!one.accepted) log.warn('message kept: what must follow it was not accepted', { reason: redact(one.reason) });
  }
  return sent.length > 0 && sent.every(({ accepted }) => accepted);
}

function account(
  parts: HandleParts,
  { message }: Group,
  { outcome, writes, noops = 0, generation, observedBefore = false }: Report,
  action: Action,
  log: Log,
  tookMs: number,
  nowMs: number,
): void {
  const lagMs = Math.max(0, Math.round(nowMs - message.seenAt));
  const repaired = message.lane === 'resync' && observedBefore && writes > 0 && outcome.type === 'done';
  const whose = { cluster: message.cluster };
  parts.meter.count(`Reconciles${outcomeNames[outcome.type]}`, 1, whose);
  if (repaired) parts.meter.count('Repaired', 1, whose);
  if (noops > 0) parts.meter.count('ApplyNoops', noops, whose);
  // From a change to its status, errors in between included. What comes by itself at its time follows no change.
  const followsChange = message.lane === 'watch' || message.lane === 'retry';
  if (outcome.type === 'done' && followsChange) parts.meter.milliseconds('LagMilliseconds', lagMs, whose);
  const failed = 'error' in outcome ? { error: redact(outcome.error.message) } : {};
  const why = 'why' in outcome ? { why: outcome.why } : {};
  const next = action.type === 'later' ? { nextLane: action.message.lane, dueAt: action.message.dueAt } : {};
  const end = action.type === 'dead-letter' ? { givenUp: redact(action.reason) } : {};
  const fields = {
    outcome: outcome.type,
    ...why,
    ...failed,
    ...next,
    ...end,
    writes,
    generation,
    ...(followsChange ? { lagMs } : {}),
    tookMs: Math.round(tookMs),
    ...(repaired ? { repaired } : {}),
  };
  if (outcome.type === 'refused') log.error('message refused', fields);
  else if (outcome.type === 'failed' || outcome.type === 'terminal') log.warn('reconciled', fields);
  else log.info('reconciled', fields);
}

const outcomeNames = {
  done: 'Done',
  nothing: 'Nothing',
  failed: 'Failed',
  terminal: 'Terminal',
  refused: 'Refused',
  deferred: 'Deferred',
} as const;

/** What every line about a key says. Bytes of logs are most of what a reconcile costs, so what is zero is left out. */
function fieldsOf({ message, target, records }: Group): object {
  const { namespace, name, lane, cluster, attempt, deferrals } = message;
  const again = { ...(attempt > 0 ? { attempt } : {}), ...(deferrals > 0 ? { deferrals } : {}) };
  return { key: target, namespace, name, lane, ...again, cluster, messageId: records[0]?.messageId };
}

function noRecord({ target }: Group): never {
  throw new Error(`a group without records: ${target}`);
}
