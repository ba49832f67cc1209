// Makes the message of a command: it is sent directly to the controller's queue, with the attempts reset to zero.
import type { ReconcileKey } from 'outrigger/internal/core/key';
import { controllerQueue } from 'outrigger/internal/core/names';
import { groupIdOf, replayId } from 'outrigger/internal/sqs/deduplication';
import { formatMessage, keyOfMessage } from 'outrigger/internal/sqs/message';
import type { QueueEntry } from 'outrigger/internal/sqs/sender';

/** The longest id of a cause. */
const maxIdLength = 128;

/**
 * Makes the entry that reconciles a key once more, and names its queue. Throws MessageError if the key is invalid.
 * @param source the id of the message that is sent again, so that a second send is dropped; otherwise a nonce
 */
export function replayEntry(
  key: ReconcileKey,
  { source, nowMs }: { readonly source: string; readonly nowMs: number },
): { readonly queue: string; readonly entry: QueueEntry } {
  // The rest of the former cause is dropped, with its attempts and its slot.
  const cause = { type: 'command', observedAt: nowMs, id: source.slice(0, maxIdLength) } as const;
  const body = formatMessage({ ...keyOfMessage(key), cause });
  return {
    queue: controllerQueue(key.controller),
    entry: { body, groupId: groupIdOf(key), deduplicationId: replayId(key, { source }) },
  };
}
