// The messages of a stage that can be shown. SQS has no peek: a dead letter is received and returned, so it is in
// flight for some seconds, and is received once more. Therefore a queue is received only for a page that shows dead
// letters, and again only when SQS counts another number of them. Controllers' queues are not read at all, because that
// would delay their keys, and a delayed timer cannot be received: the timers are those that the log of the functions
// has announced.
import type { SQSClient } from '@aws-sdk/client-sqs';
import type { ControllerDefinition } from 'outrigger/internal/api/definition';
import { sharedRead } from 'outrigger/internal/core/async';
import { queuesOf, timersQueue } from 'outrigger/internal/core/names';
import { redact } from 'outrigger/internal/core/redact';
import { createQueueBrowser } from 'outrigger/internal/sqs/browse';
import { sqsErrorReason } from 'outrigger/internal/sqs/call';
import { createDepth } from 'outrigger/internal/sqs/depth';
import { readDeadLetters } from '../../operations/redrive.ts';
import type { History } from '../history.ts';
import { deadLetterRow } from '../queued-message.ts';
import type { ConsoleSource } from '../source.ts';
import type { QueuedMessage, Queues } from '../wire.ts';

/**
 * Reads the messages. A read and an action never overlap, because the action would not find the messages that the read
 * has received.
 */
export type DeadLetterReader = {
  readonly read: ConsoleSource['queues'];
  /** Reads as `read` does, but receives nothing: of a queue that was not received its number alone is known. */
  readonly peek: ConsoleSource['queues'];
  exclusively<T>(act: () => Promise<T>): Promise<T>;
};

/** The dead letters of a queue that are read, and how long their number and they themselves are used. */
const maxLetters = 100;
const maxAgeMilliseconds = 20_000;
const maxReceivedMilliseconds = 600_000;

/** What was received of a queue when it had this number of dead letters. */
type Received = { readonly number: number; readonly at: number; readonly messages: readonly QueuedMessage[] };
const notes = [
  'SQS shows no messages that wait or are in flight without receiving them: the flow has their numbers.',
  'Timers are those that the log of the functions has announced since the console started.',
];

/** Creates the reader. */
export function createDeadLetterReader(
  controllers: readonly ControllerDefinition[],
  { sqs, urlPrefix, history }: { readonly sqs: SQSClient; readonly urlPrefix: string; readonly history: History },
): DeadLetterReader {
  const queues = queuesOf(controllers).map(({ deadLetterQueue }) => deadLetterQueue);
  const depth = createDepth(sqs, urlPrefix);
  let last: Promise<unknown> = Promise.resolve();
  const exclusively = async <T>(act: () => Promise<T>): Promise<T> => {
    const result = last.then(act);
    last = result.catch(() => undefined);
    return await result;
  };

  const received = new Map<string, Received>();
  async function receive(queue: string, number: number, signal: AbortSignal): Promise<readonly QueuedMessage[]> {
    const browser = createQueueBrowser(sqs, urlPrefix, queue, { visibilitySeconds: 20 });
    const letters = await readDeadLetters(browser, { most: maxLetters, signal });
    const messages = letters.slice(0, maxLetters).map((letter) => deadLetterRow(queue, letter));
    // Some may be in flight elsewhere: then the next read receives again.
    const isWhole = messages.length >= Math.min(number, maxLetters);
    if (isWhole) received.set(queue, { number, at: Date.now(), messages });
    return messages;
  }

  async function readAll(receives: boolean, signal: AbortSignal): Promise<Required<Queues>> {
    const results = await Promise.allSettled(
      queues.map(async (queue): Promise<{ readonly messages: readonly QueuedMessage[]; readonly more: number }> => {
        const { visible, inFlight } = await depth(queue, { signal });
        const number = visible + inFlight;
        const known = received.get(queue);
        if (known?.number === number && Date.now() - known.at < maxReceivedMilliseconds)
          return { messages: known.messages, more: number - known.messages.length };
        // The same number again may be other letters.
        received.delete(queue);
        const messages = receives && number > 0 ? await receive(queue, number, signal) : [];
        return { messages, more: number - messages.length };
      }),
    );
    return {
      messages: results.flatMap((one) => (one.status === 'fulfilled' ? one.value.messages : [])),
      more: Object.fromEntries(
        // The number of SQS is approximate, and may be less than those that were read.
        results.flatMap((one, index) =>
          one.status === 'fulfilled' && one.value.more > 0 ? [[queues[index], one.value.more]] : [],
        ),
      ),
      unread: queues.filter((_, index) => results[index]?.status === 'rejected'),
      // The first reason: a missing permission is that of each queue.
      notes: results
        .flatMap((one, index) =>
          one.status === 'rejected'
            ? [`Dead letters cannot be read: ${queues[index]}: ${redact(sqsErrorReason(one.reason))}`]
            : [],
        )
        .slice(0, 1),
    };
  }

  // It does not end with one page: the messages that it has received must be returned.
  const letters = sharedRead(maxAgeMilliseconds, async () =>
    exclusively(async () => await readAll(true, new AbortController().signal)),
  );
  const numbers = sharedRead(maxAgeMilliseconds, async () => await readAll(false, new AbortController().signal));
  return {
    exclusively: async (act) => {
      try {
        return await exclusively(act);
      } finally {
        received.clear();
        letters.forget();
        numbers.forget();
      }
    },
    peek: async () => await numbers.get(),
    read: async () => {
      const { messages, more, unread, notes: reasons } = await letters.get();
      const timers = history.followUps().map(
        ({ id, controller, cause, dueAt }): QueuedMessage => ({
          queue: timersQueue,
          messageId: `${controller} ${id}`,
          state: 'timer',
          body: '',
          controller,
          id,
          cause,
          dueAt,
        }),
      );
      return { messages: [...messages, ...timers], more, unread, notes: [...reasons, ...notes] };
    },
  };
}
