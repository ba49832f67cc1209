// A message of a queue as the console shows it: the object of its key, and why it is there.
import type { DeadLetter } from 'outrigger/internal/sqs/dead-letter';
import { attemptOf, dueAtOf, keyOfMessage, type Message, parseMessage } from 'outrigger/internal/sqs/message';
import { objectId } from './object-id.ts';
import type { QueuedMessage } from './wire.ts';

/** Makes the row of a dead letter. */
export function deadLetterRow(queue: string, letter: DeadLetter): QueuedMessage {
  const { messageId, body, reason, attempts, error, firstSeenAt } = letter;
  return {
    queue,
    messageId,
    state: 'dead',
    body,
    ...describeBody(body),
    reason,
    ...(attempts === undefined ? {} : { attempts }),
    ...(error === undefined ? {} : { error }),
    ...(firstSeenAt === undefined ? {} : { since: firstSeenAt.getTime() }),
  };
}

/** Returns what a body says; nothing for one that is not a message. */
export function describeBody(body: string): Partial<QueuedMessage> {
  const parsed = parse(body);
  if (parsed === undefined) return {};
  const { controller, cluster, group, resource, namespace, name } = keyOfMessage(parsed);
  const attempts = attemptOf(parsed);
  const dueAt = dueAtOf(parsed);
  const id = objectId(cluster, { group, plural: resource }, { namespace, name });
  return {
    controller,
    cause: parsed.cause.type,
    id,
    ...(attempts > 0 ? { attempts } : {}),
    ...(dueAt === undefined ? {} : { dueAt: dueAt * 1000 }),
  };
}

function parse(body: string): Message | undefined {
  try {
    return parseMessage(body);
  } catch {
    // A message that is not Outrigger's: its body is shown unchanged.
    return undefined;
  }
}
