// A double of SQS for the sender check: it writes the sender of each message from the credentials that were used, as
// AWS does and no emulator can. The queues are those of outrigger/testing; time is the caller's.
import type { QueueRecord } from '../../src/sqs/record.ts';
import type { Send } from '../../src/sqs/sender.ts';
import { senderAttribute } from '../../src/sqs/senders.ts';
import { createSystemQueues } from '../../src/testing/system/queues.ts';

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
};

/** Creates the double. */
export function createQueueDouble(nowMs: () => number): QueueDouble {
  const queues = createSystemQueues(nowMs);
  const senders = new Map<string, Pick<QueueRecord, 'senderId' | 'stampedSender'>>();
  return {
    as:
      ({ id, session }) =>
      async (queue, entries, options) => {
        const results = await queues.send(queue, entries, options);
        for (const [index, result] of results.entries()) {
          const stampedSender = entries[index]?.attributes?.[senderAttribute];
          const senderId = session === undefined ? id : `${id}:${session}`;
          if (result.accepted)
            senders.set(result.messageId, { senderId, ...(stampedSender === undefined ? {} : { stampedSender }) });
        }
        return results;
      },
    take: (queue) => {
      const taken: QueueRecord[] = [];
      for (let some = queues.receive(queue); some.length > 0; some = queues.receive(queue)) {
        taken.push(...some.map((record) => ({ ...record, ...senders.get(record.messageId) })));
        queues.delete(
          queue,
          some.map(({ receiptHandle }) => receiptHandle),
        );
      }
      return taken;
    },
    nextAt: (queue) => queues.nextAt([queue]),
  };
}
