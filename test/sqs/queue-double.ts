// A double of SQS for the sender check: it writes the sender of each message from the credentials that were used, as
// AWS does and no emulator can. FIFO queues drop a deduplication id for 5 minutes within its group, standard queues
// delay. Time is the caller's.
import { deduplicationSeconds } from '../../src/sqs/deduplication.ts';
import type { QueueRecord } from '../../src/sqs/record.ts';
import type { Send } from '../../src/sqs/sender.ts';
import { senderAttribute } from '../../src/sqs/senders.ts';

/** The credentials of a sender: the unique id of a role or user, and the session name, which a role chooses itself. */
export type Credentials = { readonly id: string; readonly session?: string };

/** A double of all queues. */
export type QueueDouble = {
  /** Returns a Send with these credentials. */
  as(credentials: Credentials): Send;
  /** Takes all messages of a queue that are visible now, in the order of their sending. */
  take(queue: string): readonly QueueRecord[];
  /** Returns the time of the next message of a queue, in milliseconds; undefined if it is empty. */
  nextAt(queue: string): number | undefined;
  /** How many messages were dropped, because their deduplication id was used before. */
  dropped(): number;
};

/** Creates the double. */
export function createQueueDouble(nowMs: () => number): QueueDouble {
  const queues = new Map<string, { readonly at: number; readonly record: QueueRecord }[]>();
  const accepted = new Map<string, number>();
  let count = 0;
  let dropped = 0;
  return {
    as:
      ({ id, session }) =>
      async (queue, entries) =>
        entries.map(({ body, groupId, deduplicationId, delaySeconds = 0, attributes = {} }) => {
          count += 1;
          const messageId = `m${count}`;
          if (deduplicationId !== undefined) {
            const seen = `${queue} ${groupId} ${deduplicationId}`;
            if (nowMs() - (accepted.get(seen) ?? Number.NEGATIVE_INFINITY) < deduplicationSeconds * 1000) {
              dropped += 1;
              return { accepted: true, messageId };
            }
            accepted.set(seen, nowMs());
          }
          const at = nowMs() + delaySeconds * 1000;
          const record = {
            ...{ messageId, receiptHandle: messageId, body, groupId, receiveCount: 1, firstReceivedAt: at },
            senderId: session === undefined ? id : `${id}:${session}`,
            ...(attributes[senderAttribute] === undefined ? {} : { stampedSender: attributes[senderAttribute] }),
          };
          queues.set(queue, [...(queues.get(queue) ?? []), { at, record }]);
          return { accepted: true, messageId };
        }),
    take: (queue) => {
      const all = queues.get(queue) ?? [];
      queues.set(
        queue,
        all.filter(({ at }) => at > nowMs()),
      );
      return all.filter(({ at }) => at <= nowMs()).map(({ record }) => ({ ...record, firstReceivedAt: nowMs() }));
    },
    nextAt: (queue) => {
      const times = (queues.get(queue) ?? []).map(({ at }) => at);
      return times.length === 0 ? undefined : Math.min(...times);
    },
    dropped: () => dropped,
  };
}
