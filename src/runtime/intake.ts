// Where a batch enters: which of its records are messages of this controller, and which of them are one key. Pure.
import { formatTarget } from '../core/key.ts';
import { MessageError } from '../sqs/body.ts';
import { type Message, parseMessage, targetOf } from '../queue/message.ts';

/** A record of an SQS event, as much of it as we use. */
export type QueueRecord = {
  readonly messageId: string;
  readonly receiptHandle: string;
  readonly body: string;
  readonly groupId: string | undefined;
  readonly receiveCount: number;
  /** ApproximateFirstReceiveTimestamp, in milliseconds by SQS's clock. */
  readonly firstReceivedAt: number;
  /** The trace it was sent in. */
  readonly traceHeader?: string | undefined;
};

/** The records of one key, with the message that stands for all of them. */
export type Group = {
  readonly target: string;
  readonly message: Message;
  readonly records: readonly QueueRecord[];
  /** Received before: its last reconcile may have died, so it runs alone, after the others. */
  readonly again: boolean;
};

/** A record that no reconcile can be made of. */
export type Refused = { readonly record: QueueRecord; readonly reason: string };

/** Sorts a batch. Duplicates of a key share one group and so one outcome. */
export function takeIn(
  controller: string,
  records: readonly QueueRecord[],
): { readonly groups: readonly Group[]; readonly refused: readonly Refused[] } {
  const groups = new Map<string, Group>();
  const refused: Refused[] = [];
  for (const record of records) {
    try {
      const message = parseMessage(record.body);
      if (message.controller !== controller)
        throw new MessageError(`the message is for controller ${message.controller}`);
      const target = formatTarget(targetOf(message));
      const before = groups.get(target);
      groups.set(target, {
        target,
        message: before === undefined ? message : stand(before.message, message),
        records: [...(before?.records ?? []), record],
        again: (before?.again ?? false) || record.receiveCount > 1,
      });
    } catch (error) {
      if (!(error instanceof MessageError)) throw error;
      refused.push({ record, reason: error.message });
    }
  }
  return { groups: [...groups.values()], refused };
}

/**
 * Of two messages for a key, what holds for both: the fresher attempt, the longer lag, the later slot. A resync's visit counts
 * as one only where nothing else asked for it: else it would seem to have found what was never missed.
 */
function stand(a: Message, b: Message): Message {
  const fresher = a.attempt < b.attempt || (a.attempt === b.attempt && a.lane !== 'resync') ? a : b;
  const { attempt, deferrals, lane } = fresher;
  const later = (a.dueAt ?? 0) >= (b.dueAt ?? 0) ? a : b;
  return { ...later, lane, attempt, deferrals, seenAt: Math.min(a.seenAt, b.seenAt) };
}
