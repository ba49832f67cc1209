// A batch of messages of one controller: which are ours, one reconcile for each key, and what becomes of each message. A
// message is given up only after what must follow it (a timer, a dead letter) is on its queue.

import { bury, type HandleParts, handle } from './handle.ts';
import type { QueueRecord } from './intake.ts';
import { takeIn } from './intake.ts';

/** What a batch works with. */
export type BatchParts = HandleParts & {
  /** Deletes messages by their receipt handles; failures are harmless, the messages come again. */
  readonly deleteMessages: (receiptHandles: readonly string[]) => Promise<void>;
  /** Resolves after so many milliseconds, or when the signal aborts. */
  readonly wait: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** Ends the process: the only way to stop a reconcile that ignores its signal. */
  readonly die: (reason: string) => never;
};

/** Time, in milliseconds: how long reconciles may take, and how much later the process ends if one ignores its signal. */
export type Limits = { readonly reconcileMs: number; readonly graceMs: number };

/** From here on finished messages are deleted at once: a time-out cannot report partial failures. */
const earlyDeleteMs = 1_000;

/** Makes the handling of a controller's batches. It returns the ids of the messages that must stay on the queue. */
export function createBatch(
  parts: BatchParts,
): (records: readonly QueueRecord[], limits: Limits) => Promise<readonly string[]> {
  return async (records, { reconcileMs, graceMs }) => {
    const startedAt = parts.monotonicMs();
    const kept = new Set(records.map(({ messageId }) => messageId));
    let undeleted: QueueRecord[] = [];

    async function release(done: readonly QueueRecord[]): Promise<void> {
      for (const { messageId } of done) kept.delete(messageId);
      undeleted.push(...done);
      if (parts.monotonicMs() - startedAt < earlyDeleteMs) return;
      const now = undeleted;
      undeleted = [];
      await parts.deleteMessages(now.map(({ receiptHandle }) => receiptHandle));
    }

    const { groups, refused } = takeIn(parts.controller, records);
    const over = new AbortController();
    const settled = new AbortController();
    const deadline = parts.wait(reconcileMs, settled.signal).then(() => over.abort(new Error('out of time')));

    const first = groups.filter(({ again }) => !again);
    const later = groups.filter(({ again }) => again);
    const work = (async () => {
      await Promise.all([
        ...refused.map(async ({ record, reason }) => {
          parts.log({ messageId: record.messageId }).error('message refused', { reason });
          if (await bury(parts, [record], reason, over.signal)) await release([record]);
        }),
        ...first.map((group) => handle(parts, group, over.signal, release)),
      ]);
      // What was received before may have killed its function: alone, and only when the innocent are safe.
      if (later.length > 0 && undeleted.length > 0) {
        await parts.deleteMessages(undeleted.splice(0).map(({ receiptHandle }) => receiptHandle));
      }
      for (const group of later) {
        if (over.signal.aborted) break;
        await handle(parts, group, over.signal, release);
      }
    })();

    const ended = await Promise.race([
      work.then(() => true),
      deadline.then(() => parts.wait(graceMs, settled.signal)).then(() => false),
    ]);
    settled.abort();
    if (!ended) {
      await parts.deleteMessages(undeleted.map(({ receiptHandle }) => receiptHandle));
      // Nothing may thaw later beside the group's next holder.
      parts.die(`a reconcile of ${parts.controller} ignored its signal for ${graceMs} ms`);
    }
    return [...kept];
  };
}
