// The function of the timers queue: sends due messages to their controller's queue, and delays the others again. A
// record is deleted only after its follow-up was accepted. All other records stay on the queue and are received again
// after a delay (sqs/return.ts).
import type { Log } from '../core/log.ts';
import { type Metrics, metricNames } from '../core/metrics.ts';
import { timersDeadLetterQueue, timersQueue } from '../core/names.ts';
import { MessageError } from '../sqs/body.ts';
import { deadLetterAttributes } from '../sqs/dead-letter.ts';
import type { FunctionIds } from '../sqs/deduplication.ts';
import { type Message, parseMessage } from '../sqs/message.ts';
import type { QueueRecord } from '../sqs/record.ts';
import type { ReturnMessages } from '../sqs/return.ts';
import type { QueueEntry, Send } from '../sqs/sender.ts';
import {
  admitTimer,
  type RoleIds,
  roleIdOf,
  senderAttribute,
  senderReason,
  unknownSinceAttribute,
} from '../sqs/senders.ts';
import { nextTimerStep, type TimerStep } from './timer-message.ts';

/** The dependencies of the timers. */
export type TimersDeps = {
  /** The controllers of the registry. A watcher may send to the timers queue, and could name any queue. */
  readonly controllers: { has(name: string): boolean };
  /** Resolves with the deduplication ids of this deployment. */
  readonly ids: () => Promise<FunctionIds>;
  /** Absent: the sender check is off. */
  readonly senders?: { readonly roles: RoleIds; mayCopy(): boolean };
  readonly send: Send;
  readonly returnMessages: ReturnMessages;
  readonly log: Log;
  readonly metrics: Metrics;
  /** The time by the clock of SQS, calculated from a record, in milliseconds. */
  readonly sqsNow: (record: QueueRecord) => number;
};

/**
 * Creates a function that processes a batch of the timers queue. It returns the ids of the messages that must stay on
 * the queue.
 */
export function createTimers({
  controllers,
  ids,
  senders,
  send,
  returnMessages,
  log,
  metrics,
  sqsNow,
}: TimersDeps): (
  records: readonly QueueRecord[],
  options: { readonly signal: AbortSignal },
) => Promise<readonly string[]> {
  /**
   * Sends messages. Removes the records of accepted ones from `remaining`, and returns the records whose queue does not
   * exist.
   */
  async function sendAll(
    messages: readonly OutgoingMessage[],
    remaining: Set<string>,
    signal: AbortSignal,
  ): Promise<readonly RefusedRecord[]> {
    const missing: RefusedRecord[] = [];
    const queues = Map.groupBy(messages, ({ queue }) => queue);
    await Promise.all(
      [...queues].map(async ([queue, all]) => {
        const sent = await send(
          queue,
          all.map(({ entry }) => entry),
          { signal },
        );
        for (const [index, { records }] of all.entries()) {
          const result = sent[index] ?? { accepted: false, reason: `${queue}: no response` };
          if (result.accepted) for (const { messageId } of records) remaining.delete(messageId);
          else if (result.missingQueue) missing.push(...records.map((record) => ({ record, reason: result.reason })));
          else log.warn('message not forwarded', { queue, reason: result.reason, messages: records.length });
        }
      }),
    );
    return missing;
  }

  return async (records, { signal }) => {
    const remaining = new Set(records.map(({ messageId }) => messageId));
    const { outgoing, refused } = planBatch(records, { controllers, ids: await ids(), roles: senders?.roles, sqsNow });
    const missing = await sendAll(outgoing, remaining, signal);
    for (const { record, reason, error } of [...refused, ...missing]) {
      const fields = error === undefined ? {} : { error: error.message };
      log.error('message refused', { reason, ...fields, messageId: record.messageId });
    }
    const senderRefused = refused.filter(({ error }) => error !== undefined);
    if (senderRefused.length > 0) metrics.count(metricNames.sendersRefused, senderRefused.length);
    // Above the limit a refused message is only counted.
    const dropped = new Set(senderRefused.filter(() => senders?.mayCopy() === false));
    for (const { record } of dropped) remaining.delete(record.messageId);
    const deadLetters = [...refused, ...missing].filter((one) => !dropped.has(one)).map(deadLetterOf);
    await sendAll(deadLetters, remaining, signal);

    // Forwarded messages are not counted here: SQS counts the deleted messages of the queue.
    const sent = deadLetters.filter((one) => one.records.every(({ messageId }) => !remaining.has(messageId)));
    if (sent.length > 0) metrics.count(metricNames.deadLetters, sent.length);
    // Each by its own receive count: they belong to different keys.
    const kept = Map.groupBy(
      records.filter(({ messageId }) => remaining.has(messageId)),
      ({ receiveCount }) => receiveCount,
    );
    await Promise.all([...kept.values()].map((group) => returnMessages(group, { signal })));
    return [...remaining];
  };
}

/** One message to send, and the records that were merged into it. */
type OutgoingMessage = {
  readonly queue: string;
  readonly entry: QueueEntry;
  readonly records: readonly QueueRecord[];
};

/** A record that cannot be sent on, and the reason. `error` is set if its sender may not say it. */
type RefusedRecord = { readonly record: QueueRecord; readonly reason: string; readonly error?: Error };

/** How soon a key of an unknown controller is read again: soon while a deployment runs, whose functions differ. */
const unknownDelaySeconds = { first: 30, later: 300 };
/** A deployment of functions takes minutes. */
const deploymentMs = 10 * 60_000;
/** For how long it is kept. */
const unknownKeptMs = 24 * 3_600_000;

/**
 * Makes the entry that keeps a key of an unknown controller: a watcher is upgraded before the functions, and sends the
 * controllers that it has got a full pass; a deployment may update functions that send before this one, and requeues
 * must not end because it is rolled back. Returns undefined for other messages, and after a day. A delayed message is
 * not in flight, of which a queue has 120,000 at most. A time of the future is forged.
 */
function keepUnknown(
  { cause }: Message,
  { body, unknownSince = '' }: QueueRecord,
  { nowMs, senderId }: { readonly nowMs: number; readonly senderId: string | undefined },
): QueueEntry | undefined {
  const sinceMs = Math.min(Date.parse(unknownSince) || nowMs, nowMs);
  const isTimed = ['resync', 'requeue', 'retry', 'wake'].includes(cause.type);
  if (!isTimed || nowMs - sinceMs >= unknownKeptMs) return undefined;
  const since = { [unknownSinceAttribute]: new Date(sinceMs).toISOString() };
  const stamp = senderId === undefined ? {} : { [senderAttribute]: senderId };
  const delaySeconds = nowMs - sinceMs < deploymentMs ? unknownDelaySeconds.first : unknownDelaySeconds.later;
  return { body, delaySeconds, attributes: { ...stamp, ...since } };
}

/**
 * Decides the next step of each record. Equal messages are merged, because a standard queue drops no duplicates. Pure.
 */
function planBatch(
  records: readonly QueueRecord[],
  {
    controllers,
    ids,
    roles,
    sqsNow,
  }: Pick<TimersDeps, 'controllers' | 'sqsNow'> & { readonly ids: FunctionIds; readonly roles: RoleIds | undefined },
): { readonly outgoing: readonly OutgoingMessage[]; readonly refused: readonly RefusedRecord[] } {
  const outgoing: OutgoingMessage[] = [];
  const steps: PlannedStep[] = [];
  const refused: RefusedRecord[] = [];
  for (const record of records) {
    try {
      const message = parseMessage(record.body);
      const nowMs = sqsNow(record);
      const sender = roles === undefined ? undefined : admitTimer(message, record, roles, { nowMs });
      if (roles !== undefined && sender === undefined) {
        const error = new Error(`sender ${roleIdOf(record.senderId)} may not send ${message.cause.type} to timers`);
        refused.push({ record, reason: senderReason, error });
        continue;
      }
      if (!controllers.has(message.controller)) {
        const kept = keepUnknown(message, record, { nowMs, senderId: sender?.id });
        if (kept === undefined) throw new MessageError(`controller: ${message.controller} is unknown`);
        const entry = { ...kept, traceHeader: record.traceHeader };
        outgoing.push({ queue: timersQueue, entry, records: [record] });
        continue;
      }
      const step = nextTimerStep(message, { nowMs, ids, sender });
      // The message keeps its own trace. The timers function's trace would mix the traces of all senders.
      const entry = { ...step.entry, traceHeader: record.traceHeader };
      steps.push({ ...step, queue: step.type === 'hop' ? timersQueue : step.queue, entry, records: [record] });
    } catch (error) {
      if (!(error instanceof MessageError)) throw error;
      refused.push({ record, reason: error.message });
    }
  }
  const latestAsked = mergeBy(
    steps,
    ({ timeId }) => timeId,
    (a, b) => a.width <= b.width,
  );
  const firstDue = mergeBy(
    latestAsked,
    ({ mergeId }) => mergeId,
    (a, b) => a.dueAt <= b.dueAt,
  );
  return { outgoing: [...outgoing, ...firstDue], refused };
}

type PlannedStep = OutgoingMessage & Pick<TimerStep, 'mergeId' | 'timeId' | 'dueAt' | 'width'>;

/** Keeps one step of those with the same id, for the records of all of them. */
function mergeBy(
  steps: readonly PlannedStep[],
  idOf: (step: PlannedStep) => string,
  isBetter: (a: PlannedStep, b: PlannedStep) => boolean,
): readonly PlannedStep[] {
  const kept = new Map<string, PlannedStep>();
  for (const step of steps) {
    const before = kept.get(idOf(step));
    if (before === undefined) kept.set(idOf(step), step);
    else
      kept.set(idOf(step), {
        ...(isBetter(before, step) ? before : step),
        records: [...before.records, ...step.records],
      });
  }
  return [...kept.values()];
}

/** Makes the dead letter of a record: the unchanged body, with the reason in an attribute. */
function deadLetterOf({ record, reason, error }: RefusedRecord): OutgoingMessage {
  const attributes = deadLetterAttributes(record, { reason, lastError: error });
  return { queue: timersDeadLetterQueue, entry: { body: record.body, attributes }, records: [record] };
}
