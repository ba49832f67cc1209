// A key by hand, on the replay lane: it goes straight to its controller's queue and begins anew, as if the change had just been
// seen.
import type { TargetKey } from '../core/key.ts';
import { controllerQueue } from '../core/names.ts';
import { replayId } from './deduplication.ts';
import { groupIdOf } from './group-id.ts';
import { formatMessage } from './message.ts';
import type { Entry } from '../sqs/sender.ts';

/** As much of a source as a message may carry. */
const maxRun = 128;

/**
 * Makes the entry that has a key reconciled once more, and says on which queue. Throws MessageError for what is no key.
 * @param source the id of the message that is sent again, so that sending it twice is sending it once; else a nonce
 */
export function replayEntry(
  target: TargetKey,
  { source, nowMs }: { readonly source: string; readonly nowMs: number },
): { readonly queue: string; readonly entry: Entry } {
  // No more than the key: what the message knew of an event, of attempts and of slots stays behind.
  const { controller, cluster, group, resource, namespace, name } = target;
  const key = { controller, cluster, group, resource, ...(namespace === undefined ? {} : { namespace }), name };
  const run = source.slice(0, maxRun);
  const body = formatMessage({ v: 1, ...key, lane: 'replay', attempt: 0, deferrals: 0, seenAt: nowMs, run });
  return {
    queue: controllerQueue(controller),
    entry: { body, groupId: groupIdOf(target), deduplicationId: replayId(target, { source }) },
  };
}
