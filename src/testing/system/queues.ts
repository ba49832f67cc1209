// The queues of a test system, in memory and on the test's clock. As in SQS, a FIFO queue drops a deduplication id for
// five minutes within its group and delivers one message of a group at a time, and a standard queue delays.
import { deduplicationSeconds } from '../../sqs/deduplication.ts';
import type { QueueRecord } from '../../sqs/record.ts';
import type { Send } from '../../sqs/sender.ts';

/** All queues of a system. */
export type SystemQueues = {
  readonly send: Send;
  /**
   * Returns up to ten messages of a queue that are visible now, oldest first. They are invisible for 30 seconds, and
   * stay until they are deleted. A FIFO queue returns none of a group of which a message is invisible.
   */
  receive(queue: string): readonly QueueRecord[];
  /** All messages of a queue, also the invisible ones, oldest first. They are not received. */
  peek(queue: string): readonly QueueRecord[];
  /** Makes messages visible again after a time, as ChangeMessageVisibility does. */
  hide(queue: string, receiptHandles: readonly string[], delaySeconds: number): void;
  delete(queue: string, receiptHandles: readonly string[]): void;
  /** The time of the next visible message of any of these queues, in milliseconds; undefined if they are empty. */
  nextAt(queues: readonly string[]): number | undefined;
  /** Visible and delayed messages of a queue. */
  depth(queue: string): { readonly visible: number; readonly inFlight: number; readonly delayed: number };
};

type Stored = { at: number; readonly record: QueueRecord };

const batchSize = 10;
/** For how long a received message is invisible. */
export const visibilitySeconds = 30;

/** Creates the queues. A queue exists as soon as a message is sent to it. */
export function createSystemQueues(nowMs: () => number): SystemQueues {
  const queues = new Map<string, Stored[]>();
  const acceptedAt = new Map<string, number>();
  let sent = 0;
  const storedIn = (queue: string) => queues.get(queue) ?? [];
  return {
    send: async (queue, entries) =>
      entries.map(({ body, groupId, deduplicationId, delaySeconds = 0 }) => {
        sent += 1;
        const messageId = `message-${sent}`;
        if (deduplicationId !== undefined) {
          const id = JSON.stringify([queue, groupId, deduplicationId]);
          const before = acceptedAt.get(id);
          if (before !== undefined && nowMs() - before < deduplicationSeconds * 1000)
            return { accepted: true, messageId };
          acceptedAt.set(id, nowMs());
        }
        const at = nowMs() + delaySeconds * 1000;
        const record = { messageId, receiptHandle: messageId, body, groupId, receiveCount: 0, firstReceivedAt: 0 };
        queues.set(queue, [...storedIn(queue), { at, record }]);
        return { accepted: true, messageId };
      }),
    receive: (queue) => {
      const groups = new Set(
        storedIn(queue).flatMap(({ at, record: { groupId } }) =>
          at > nowMs() && groupId !== undefined ? [groupId] : [],
        ),
      );
      const visible = storedIn(queue).filter(
        ({ at, record: { groupId } }) => at <= nowMs() && (groupId === undefined || !groups.has(groupId)),
      );
      const taken = visible.slice(0, batchSize).map((one) => {
        const { receiveCount, firstReceivedAt } = one.record;
        const firstAt = receiveCount === 0 ? nowMs() : firstReceivedAt;
        const record = { ...one.record, receiveCount: receiveCount + 1, firstReceivedAt: firstAt };
        return { at: nowMs() + visibilitySeconds * 1000, record };
      });
      const byId = new Map(taken.map((one) => [one.record.messageId, one]));
      queues.set(
        queue,
        storedIn(queue).map((one) => byId.get(one.record.messageId) ?? one),
      );
      return taken.map(({ record }) => record);
    },
    peek: (queue) => storedIn(queue).map(({ record }) => record),
    hide: (queue, receiptHandles, delaySeconds) => {
      for (const one of storedIn(queue)) {
        if (receiptHandles.includes(one.record.receiptHandle)) one.at = nowMs() + delaySeconds * 1000;
      }
    },
    delete: (queue, receiptHandles) => {
      queues.set(
        queue,
        storedIn(queue).filter(({ record }) => !receiptHandles.includes(record.receiptHandle)),
      );
    },
    nextAt: (names) => {
      const times = names.flatMap((queue) => storedIn(queue).map(({ at }) => at));
      return times.length === 0 ? undefined : Math.min(...times);
    },
    depth: (queue) => {
      const all = storedIn(queue);
      const hidden = all.filter(({ at }) => at > nowMs());
      const inFlight = hidden.filter(({ record }) => record.receiveCount > 0).length;
      return { visible: all.length - hidden.length, inFlight, delayed: hidden.length - inFlight };
    },
  };
}
