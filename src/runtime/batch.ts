// A batch of messages of one controller: which are ours, one reconcile for each key, and what becomes of each message. A
// message is given up only after what must follow it (a timer, a dead letter) is on its queue.

import { redact } from '../core/redact.ts';
import { bury, type HandleParts, handle } from './handle.ts';
import type { QueueRecord } from './intake.ts';
import { takeIn } from './intake.ts';
import { takeTurns } from './turns.ts';

/** What a batch works with. */
export type BatchParts = HandleParts & {
  /** Deletes messages by their receipt handles; failures are harmless, the messages come again. */
  readonly deleteMessages: (
    receiptHandles: readonly string[],
    options: { readonly signal: AbortSignal },
  ) => Promise<void>;
  /** Resolves after so many milliseconds, or when the signal aborts. */
  readonly wait: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** Ends the process: the only way to stop a reconcile that ignores its signal. */
  readonly die: (reason: string) => never;
};

/** Time, in milliseconds: how long reconciles may take, and how much later the process ends if one ignores its signal. */
export type Limits = { readonly reconcileMs: number; readonly graceMs: number };

/** From here on finished messages are deleted at once: a time-out cannot report partial failures. */
const earlyDeleteMs = 1_000;

/** How long the last deletions may take: the function's own deadline is near. */
const lastDeleteMs = 1_000;

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
      if (parts.monotonicMs() - startedAt >= earlyDeleteMs) await deleteDone();
    }

    /** A deletion must not outlast the deadline either: the answer, which is near, deletes as well. */
    async function deleteDone(signal = over.signal): Promise<void> {
      if (signal.aborted) return;
      if (undeleted.length === 0) return;
      const now = undeleted;
      undeleted = [];
      await parts.deleteMessages(
        now.map(({ receiptHandle }) => receiptHandle),
        { signal },
      );
    }

    const { groups, refused } = takeIn(parts.controller, records);
    const over = new AbortController();
    const closed = new AbortController();
    const settled = new AbortController();
    const deadline = parts.wait(reconcileMs, settled.signal).then(() => {
      if (!settled.signal.aborted) over.abort(new Error('out of time'));
    });
    const deadlines = { work: over.signal, sending: closed.signal };

    const first = groups.filter(({ again }) => !again);
    const later = takeTurns(groups.filter(({ again }) => again));
    const work = (async () => {
      await Promise.all([
        ...refused.map(async ({ record, reason }) => {
          const log = parts.log({ messageId: record.messageId });
          log.error('message refused', { reason: redact(reason) });
          if (await bury(parts, [record], { reason }, log, closed.signal)) await release([record]);
        }),
        ...first.map((group) => handle(parts, group, deadlines, release)),
      ]);
      for (const group of later) {
        if (over.signal.aborted) break;
        // What was received before may have killed its function: alone, and only when the innocent are safe.
        await deleteDone();
        await handle(parts, group, deadlines, release);
      }
    })();
    // What was done before that moment is deleted then, not when the next one is done: there may be no next one.
    void parts.wait(earlyDeleteMs, settled.signal).then(async () => {
      if (!settled.signal.aborted) await deleteDone();
    });

    const ended = await Promise.race([
      work.then(() => true),
      deadline.then(() => parts.wait(graceMs, settled.signal)).then(() => false),
    ]).finally(() => settled.abort('settled'));
    if (!ended) {
      closed.abort(new Error('out of time'));
      const last = new AbortController();
      await Promise.race([deleteDone(last.signal), parts.wait(lastDeleteMs, last.signal)]);
      // Nothing may thaw later beside the group's next holder.
      parts.die(`a reconcile of ${parts.controller} ignored its signal for ${graceMs} ms`);
    }
    return [...kept];
  };
}
