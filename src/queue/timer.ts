// A message that is due later: how it enters the timers queue, and what becomes of it when it comes out. FIFO queues take no
// delay of a single message, so everything that waits does so on a standard queue and joins its group when it is due.
import { formatTarget } from '../core/key.ts';
import { controllerQueue } from '../core/names.ts';
import { MessageError } from '../sqs/body.ts';
import { requeueId, resyncId, retryId } from './deduplication.ts';
import { groupIdOf } from './group-id.ts';
import { formatMessage, type Message, targetOf } from './message.ts';
import type { Entry } from '../sqs/sender.ts';
import { hopDelay } from './slots.ts';

/** Closer than this to its time, a message is due: its clock and ours may differ by as much. */
const earlyMs = 1_000;

/** What becomes of a message out of the timers queue. `same` is equal for messages that may become one. */
export type TimerStep =
  | { readonly type: 'forward'; readonly queue: string; readonly entry: Entry; readonly same: string }
  | { readonly type: 'hop'; readonly entry: Entry; readonly same: string };

/**
 * Makes the timers-queue entry of a message; without `dueAt` it is due at once. Throws MessageError for a lane that does
 * not wait, or a message that lacks what its deduplication id is made of: neither could ever leave the queue again.
 */
export function timerEntry(message: Message, { nowMs }: { readonly nowMs: number }): Entry {
  timedId(message);
  const { delaySeconds } = hopDelay({
    target: formatTarget(targetOf(message)),
    nowMs,
    dueAt: message.dueAt ?? Math.floor(nowMs / 1000),
  });
  return { body: formatMessage(message), delaySeconds };
}

/** Decides what becomes of a message out of the timers queue: to its controller, or one more hop. Throws MessageError as timerEntry does. */
export function stepTimer(message: Message, { nowMs }: { readonly nowMs: number }): TimerStep {
  const deduplicationId = timedId(message);
  const { dueAt = 0, controller } = message;
  if (dueAt * 1000 - nowMs > earlyMs) {
    return { type: 'hop', entry: timerEntry(message, { nowMs }), same: `hop ${deduplicationId}` };
  }
  const entry = { body: formatMessage(message), groupId: groupIdOf(targetOf(message)), deduplicationId };
  return { type: 'forward', queue: controllerQueue(controller), entry, same: deduplicationId };
}

/** The deduplication id that a message will have on its controller's queue. */
function timedId(message: Message): string {
  const { lane, slot, run, attempt, deferrals } = message;
  const target = targetOf(message);
  switch (lane) {
    case 'requeue':
      if (slot === undefined) throw new MessageError('slot: a requeue without a slot');
      return requeueId(target, { slot });
    case 'retry':
      if (slot === undefined) throw new MessageError('slot: a retry without a slot');
      return retryId(target, { attempt, deferrals, slot });
    case 'resync':
      if (run === undefined) throw new MessageError('run: a resync without a run');
      return resyncId(target, { run });
    case 'watch':
    case 'replay':
      throw new MessageError(`lane: ${lane} goes straight to its controller and never waits`);
  }
}
