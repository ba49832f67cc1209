// A message with a due time: how it enters the timers queue, and where it goes when it is received from there. A FIFO
// queue has no delay for single messages. A message with a due time therefore waits on a standard queue, and is sent to
// its group when it is due.
import { formatReconcileKey } from '../core/key.ts';
import { controllerQueue } from '../core/names.ts';
import { maxRequeueSeconds } from '../core/time.ts';
import { MessageError } from '../sqs/body.ts';
import { deduplicationSeconds, type FunctionIds, groupIdOf } from '../sqs/deduplication.ts';
import { dueAtOf, formatMessage, hashOf, keyOfMessage, type Message } from '../sqs/message.ts';
import type { QueueEntry } from '../sqs/sender.ts';
import { senderAttribute, type TimerSender } from '../sqs/senders.ts';
import { timerDelaySeconds, widthOf } from './slots.ts';

/**
 * A message this close to its due time is due: the clock of its sender and the clock of SQS may differ by this much.
 */
const earlyMs = 1_000;
/** The latest due time that Outrigger itself writes: the first wait is up to 1.5 times the delay. */
const latestMs = 1.5 * maxRequeueSeconds * 1000;

/** The next step of a message from the timers queue. */
export type TimerStep =
  | ({ readonly type: 'forward'; readonly queue: string } & Step)
  | ({ readonly type: 'hop' } & Step);

type Step = {
  readonly entry: QueueEntry;
  /** Of messages with one such id one is sent: the one that is due first. */
  readonly mergeId: string;
  /**
   * Of requeues for one time, which many reconciles may have asked for, the one with the narrowest cell is sent: it was
   * asked for last, so its cell begins after all of them.
   */
  readonly timeId: string;
  readonly dueAt: number;
  readonly width: number;
};

/**
 * Makes the timers-queue entry of a message. Without `dueAt` it is due immediately. Throws MessageError for a cause
 * without a due time: such a message could never leave the queue.
 */
export function timerEntry(message: Message, { nowMs }: { readonly nowMs: number }): QueueEntry {
  refuseUntimed(message);
  const { cause } = message;
  const { delaySeconds } = timerDelaySeconds({
    key: formatReconcileKey(keyOfMessage(message)),
    nowMs,
    dueAt: dueAtOf(message) ?? Math.floor(nowMs / 1000),
    slot: cause.type === 'requeue' ? cause.slot : undefined,
  });
  return { body: formatMessage(message), delaySeconds };
}

/**
 * Decides the next step of a message from the timers queue: to its controller, or one more hop. Throws MessageError
 * like timerEntry, and for a due time that Outrigger never writes: such a message would hop for ever. Resyncs of one
 * id but with different due times are not merged, so a forged message cannot replace one that is due earlier.
 */
export function nextTimerStep(
  message: Message,
  {
    nowMs,
    ids,
    sender,
  }: { readonly nowMs: number; readonly ids: FunctionIds; readonly sender?: TimerSender | undefined },
): TimerStep {
  const ownId = timerDeduplicationId(message, ids);
  // A message of an unknown sender has an id of its own, so it never suppresses a genuine one.
  const deduplicationId = sender?.isStranger === true ? hashOf('stranger', sender.id ?? '', ownId) : ownId;
  const stamp = sender?.id === undefined ? {} : { attributes: { [senderAttribute]: sender.id } };
  const from = sender?.id ?? '';
  const dueAt = dueAtNow(message, nowMs);
  if (dueAt * 1000 - nowMs > latestMs) throw new MessageError('cause.dueAt: later than any requeue');
  const { cause } = message;
  const isHop = dueAt * 1000 - nowMs > earlyMs;
  const kind = `${isHop ? 'hop' : 'forward'} ${from}`;
  const requeue = cause.type === 'requeue' ? cause : undefined;
  const object = [
    groupIdOf(keyOfMessage(message)),
    requeue?.generation,
    requeue?.failed,
    sender?.isStranger === true,
  ].join(' ');
  const mergeId =
    isHop && requeue !== undefined ? `${kind} ${object} ${requeue.slot}` : `${kind} ${dueAt} ${deduplicationId}`;
  const timeId = requeue === undefined ? mergeId : `${kind} ${object} at ${dueAt}`;
  const width = requeue === undefined ? 0 : widthOf(requeue.slot);
  if (isHop)
    return { type: 'hop', entry: { ...timerEntry(message, { nowMs }), ...stamp }, mergeId, timeId, dueAt, width };
  const entry = { body: formatMessage(message), groupId: groupIdOf(keyOfMessage(message)), deduplicationId, ...stamp };
  return { type: 'forward', queue: controllerQueue(message.controller), entry, mergeId, timeId, dueAt, width };
}

/**
 * Returns when a message is due; 0 is now. A wake was delayed until it is due when it was sent. One that claims a later
 * time has that of a wrong clock, of which another one cannot have the id in the time in which SQS deduplicates, or is
 * of an event with very many keys, whose last ones come early.
 */
function dueAtNow(message: Message, nowMs: number): number {
  const dueAt = dueAtOf(message) ?? 0;
  return message.cause.type === 'wake' && dueAt - nowMs / 1000 > deduplicationSeconds ? 0 : dueAt;
}

/** Returns the deduplication id of a message on its controller's queue. */
function timerDeduplicationId(message: Message, ids: FunctionIds): string {
  const { cause } = message;
  switch (cause.type) {
    case 'requeue':
      return ids.requeue(message, cause);
    case 'retry':
      return ids.retry(message, cause);
    case 'resync':
      return ids.resync(message, cause);
    case 'wake':
      if (cause.dueAt === undefined) throw untimed(message);
      return ids.wake(message, { dueAt: cause.dueAt });
    case 'change':
    case 'command':
      throw untimed(message);
  }
}

function refuseUntimed(message: Message): void {
  const { type } = message.cause;
  if (type === 'wake' && dueAtOf(message) !== undefined) return;
  if (type !== 'requeue' && type !== 'retry' && type !== 'resync') throw untimed(message);
}

function untimed({ cause }: Message): MessageError {
  return new MessageError(`cause: ${cause.type} has no due time and is sent directly to its controller`);
}
