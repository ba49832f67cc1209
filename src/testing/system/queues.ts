// The queues of a test system, in memory and on the test's clock. As in SQS, a FIFO queue drops a deduplication id for
// five minutes within its group and delivers one message of a group at a time, and a standard queue delays.
import { deduplicationSeconds } from '../../sqs/deduplication.ts';
import type { QueueRecord } from '../../sqs/record.ts';
import type { Send } from '../../sqs/sender.ts';

/** All queues of a system. */
export type SystemQueues = {
  readonly send: Send;
  /** Returns up to ten messages of a queue that are visible now, oldest first. They stay until they are deleted. */
  receive(queue: string): readonly QueueRecord[];
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
      const visible = storedIn(queue).filter(({ at }) => at <= nowMs());
      const taken = visible.slice(0, batchSize).map((one) => {
        const { receiveCount, firstReceivedAt } = one.record;
        const firstAt = receiveCount === 0 ? nowMs() : firstReceivedAt;
        return { ...one, record: { ...one.record, receiveCount: receiveCount + 1, firstReceivedAt: firstAt } };
      });
      const byId = new Map(taken.map((one) => [one.record.messageId, one]));
      queues.set(
        queue,
        storedIn(queue).map((one) => byId.get(one.record.messageId) ?? one),
      );
      return taken.map(({ record }) => record);
    },
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
      const visible = all.filter(({ at }) => at <= nowMs()).length;
      return { visible, inFlight: 0, delayed: all.length - visible };
    },
  };
}
