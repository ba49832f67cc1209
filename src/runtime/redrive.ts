// Dead letters back to work: receive, send on the replay lane, and only then delete. Also the same without sending, for a list.
//
// Guarantees: a process that is killed between any two of these steps loses nothing: the letter comes back by its visibility
// time-out, and is sent again under the same deduplication id. A letter that this run's own messages became is left for the
// next one, so what fails at once does not go round and round. Assumption: letters of one object are behind each other
// (FIFO), so those behind the ten that SQS gives out at once are seen only when these are gone.
import { toError } from '../core/errors.ts';
import { redact } from '../core/redact.ts';
import { type DeadLetter, readDeadLetter } from '../queue/dead-letter.ts';
import type { HeldMessage, Hold } from '../queue/hold.ts';
import { targetOf } from '../queue/message.ts';
import { replayEntry } from '../queue/replay.ts';
import type { Send } from '../sqs/sender.ts';

/** What became of a letter: `kept` was sent, and could not be deleted; `refused` stays as it was. */
export type Redriven = { readonly letter: DeadLetter } & (
  | { readonly type: 'sent' | 'would-be-sent' }
  | { readonly type: 'kept' | 'refused'; readonly why: string }
);

/** Which letters, and how. */
export type RedriveOptions = {
  readonly matches: (letter: DeadLetter) => boolean;
  /** Says what would be sent, and sends nothing. */
  readonly dryRun: boolean;
  readonly signal: AbortSignal;
};

/** What a redrive works with. */
export type RedriveParts = { readonly hold: Hold; readonly send: Send; readonly now: () => Date };

/** Sends the letters that match, ten at a time, and says of each what became of it. Throws QueueCallError, and the signal's reason. */
export async function* redrive(
  { hold, send, now }: RedriveParts,
  { matches, dryRun, signal }: RedriveOptions,
): AsyncGenerator<Redriven> {
  /** The ids of what was sent: a letter that was one of these has failed anew. */
  const own = new Set<string>();
  const resend = async (held: HeldMessage, letter: DeadLetter): Promise<Redriven> => {
    if (letter.message === undefined) return { letter, type: 'refused', why: 'its body is not a message' };
    if (dryRun) return { letter, type: 'would-be-sent' };
    const source = letter.messageId;
    const { queue, entry } = replayEntry(targetOf(letter.message), { source, nowMs: now().getTime() });
    const [sent] = await send(queue, [entry], { signal });
    if (sent?.accepted !== true) return { letter, type: 'refused', why: redact(sent?.reason ?? `${queue}: no answer`) };
    own.add(sent.messageId);
    try {
      await hold.remove(held);
      return { letter, type: 'sent' };
    } catch (error) {
      return { letter, type: 'kept', why: redact(toError(error).message) };
    }
  };
  for await (const batch of eachBatch(hold, signal)) {
    const wanted = batch
      .map((held) => ({ held, letter: readDeadLetter(held) }))
      .filter(({ letter }) => !own.has(letter.messageId) && matches(letter));
    yield* await Promise.all(wanted.map(({ held, letter }) => resend(held, letter)));
  }
}

/** Reads up to `most` letters or a few more, the oldest first, and takes none. They are out of others' sight until all have been read. */
export async function readLetters(
  hold: Hold,
  { most, signal }: { readonly most: number; readonly signal: AbortSignal },
): Promise<readonly DeadLetter[]> {
  const letters: DeadLetter[] = [];
  for await (const held of eachBatch(hold, signal)) {
    letters.push(...held.map(readDeadLetter));
    if (letters.length >= most) break;
  }
  const ageOf = ({ firstSeenAt, messageId }: DeadLetter) => `${firstSeenAt?.toISOString() ?? ''} ${messageId}`;
  return letters.sort((a, b) => (ageOf(a) < ageOf(b) ? -1 : 1));
}

/**
 * Receives until there is nothing new. What is not deleted meanwhile stays in hand, so that it does not come again, and is given
 * back at the end, whatever the end is.
 */
async function* eachBatch(hold: Hold, signal: AbortSignal): AsyncGenerator<readonly HeldMessage[]> {
  const seen = new Set<string>();
  try {
    for (;;) {
      signal.throwIfAborted();
      // Seen before: held for longer than SQS was told. It has had its turn.
      const fresh = (await hold.receive({ signal })).filter(({ messageId }) => !seen.has(messageId));
      if (fresh.length === 0) return;
      for (const { messageId } of fresh) seen.add(messageId);
      yield fresh;
    }
  } finally {
    await hold.giveBack();
  }
}
