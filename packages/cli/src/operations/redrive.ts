// Sends dead letters back to their controller's queue: receive, send as a command, then delete. Also reads them without
// sending.
//
// Guarantees: if the process is killed between two of these steps, no dead letter is lost. It becomes visible again
// after its visibility timeout, and is sent again with the same deduplication id. A dead letter of a message that this
// run sent is left for the next run, so that a message that fails immediately is not sent in a loop. Assumption: the
// dead letters of one object are one FIFO group. SQS returns at most ten of a group at a time, and the rest after these
// were deleted.
import { toError } from 'outrigger/internal/core/errors';
import { redact } from 'outrigger/internal/core/redact';
import type { QueueBrowser, ReceivedMessage } from 'outrigger/internal/sqs/browse';
import { type DeadLetter, readDeadLetter } from 'outrigger/internal/sqs/dead-letter';
import { keyOfMessage } from 'outrigger/internal/sqs/message';
import type { Send } from 'outrigger/internal/sqs/sender';
import { replayEntry } from './replay.ts';

/** The result for one dead letter. `kept`: it was sent, but could not be deleted. `refused`: it is unchanged. */
export type RedriveResult = { readonly deadLetter: DeadLetter } & (
  | { readonly type: 'sent' | 'would-be-sent' }
  | { readonly type: 'kept' | 'refused'; readonly reason: string }
);

/** The options of a redrive. */
export type RedriveOptions = {
  readonly matches: (deadLetter: DeadLetter) => boolean;
  /** Reports what would be sent, and sends nothing. */
  readonly dryRun: boolean;
  readonly signal: AbortSignal;
};

/** The dependencies of a redrive. */
export type RedriveDeps = {
  readonly browser: QueueBrowser;
  readonly send: Send;
  readonly now: () => Date;
  /** The options of a printed command: ` --stage prod`. */
  readonly at: string;
};

/**
 * Sends the dead letters that match, ten at a time, and yields one result for each. Throws QueueCallError, and the
 * signal's reason.
 */
export async function* redrive(
  { browser, send, now, at }: RedriveDeps,
  { matches, dryRun, signal }: RedriveOptions,
): AsyncGenerator<RedriveResult> {
  /** The ids of the messages that this run sent. A dead letter with one of them has failed again. */
  const sentIds = new Set<string>();
  const resend = async (received: ReceivedMessage, deadLetter: DeadLetter): Promise<RedriveResult> => {
    if (deadLetter.message === undefined) return { deadLetter, type: 'refused', reason: 'its body is not a message' };
    // Only this message has the object: the reconcile would find nothing, and the message would be deleted.
    if (deadLetter.object !== undefined) {
      const steps = `see outrigger dlq show ID${at}, clean up, then outrigger dlq delete --id ID${at}`;
      const reason = `its object was not finalized: ${steps}`;
      return { deadLetter, type: 'refused', reason };
    }
    if (dryRun) return { deadLetter, type: 'would-be-sent' };
    const source = deadLetter.messageId;
    const { message } = deadLetter;
    const { queue, entry } = replayEntry(keyOfMessage(message), { source, nowMs: now().getTime() });
    const [sent] = await send(queue, [entry], { signal });
    if (sent?.accepted !== true)
      return { deadLetter, type: 'refused', reason: redact(sent?.reason ?? `${queue}: no response`) };
    sentIds.add(sent.messageId);
    try {
      await browser.remove(received);
      return { deadLetter, type: 'sent' };
    } catch (error) {
      return { deadLetter, type: 'kept', reason: redact(toError(error).message) };
    }
  };
  for await (const batch of eachBatch(browser, signal)) {
    const matching = batch
      .map((received) => ({ received, deadLetter: readDeadLetter(received) }))
      .filter(({ deadLetter }) => !sentIds.has(deadLetter.messageId) && matches(deadLetter));
    yield* await Promise.all(matching.map(({ received, deadLetter }) => resend(received, deadLetter)));
  }
}

/**
 * Reads about `most` dead letters, the oldest first, and removes none. They are hidden from other receivers until all
 * have been read.
 */
export async function readDeadLetters(
  browser: QueueBrowser,
  { most, signal }: { readonly most: number; readonly signal: AbortSignal },
): Promise<readonly DeadLetter[]> {
  const deadLetters: DeadLetter[] = [];
  for await (const batch of eachBatch(browser, signal)) {
    deadLetters.push(...batch.map(readDeadLetter));
    if (deadLetters.length >= most) break;
  }
  const ageOf = ({ firstSeenAt, messageId }: DeadLetter) => `${firstSeenAt?.toISOString() ?? ''} ${messageId}`;
  return deadLetters.sort((a, b) => (ageOf(a) < ageOf(b) ? -1 : 1));
}

/**
 * Receives until there is no new message. Messages that are not deleted stay in flight, so that they are not received
 * twice. All of them are returned to the queue at the end, also after an error.
 */
async function* eachBatch(browser: QueueBrowser, signal: AbortSignal): AsyncGenerator<readonly ReceivedMessage[]> {
  const receivedIds = new Set<string>();
  try {
    for (;;) {
      signal.throwIfAborted();
      // A message is received again if its visibility timeout has passed. It was already yielded.
      const fresh = (await browser.receive({ signal })).filter(({ messageId }) => !receivedIds.has(messageId));
      if (fresh.length === 0) return;
      for (const { messageId } of fresh) receivedIds.add(messageId);
      yield fresh;
    }
  } finally {
    await browser.release();
  }
}

/**
 * Deletes the dead letters that match, and yields each after its deletion; with `dryRun` nothing is deleted. Throws
 * QueueCallError, and the signal's reason.
 */
export async function* deleteDeadLetters(
  browser: QueueBrowser,
  { matches, dryRun, signal }: RedriveOptions,
): AsyncGenerator<DeadLetter> {
  for await (const batch of eachBatch(browser, signal)) {
    for (const received of batch) {
      const deadLetter = readDeadLetter(received);
      if (!matches(deadLetter)) continue;
      if (!dryRun) await browser.remove(received);
      yield deadLetter;
    }
  }
}
