// Names a collection's entry in the cursor: what is watched, and for whom.
import type { WatchedResource } from '../core/watch-list.ts';
import { hashOf } from '../queue/message.ts';

/** Where the collection is looked at, and where its keys go. */
export type EntryScope = {
  readonly namespace?: string | undefined;
  /** Tells the queues from those of another deployment: what these have accepted, others have never seen. */
  readonly queues?: string | undefined;
};

/**
 * Names a collection's entry. A controller that was added needs its first keys, and so do queues that begin empty: other
 * subscribers are another entry.
 */
export function entryNameOf(
  { group, version, plural, labelSelector = '', subscribers }: WatchedResource,
  { namespace = '', queues = '' }: EntryScope = {},
): string {
  const who = subscribers.map(({ controller, as, predicate, primary, label }) =>
    [controller, as, predicate, primary.group, primary.plural, label ?? ''].join(' '),
  );
  const readers = hashOf(queues, labelSelector, ...who.sort()).slice(0, 12);
  return [group === '' ? 'core' : group, version, plural, namespace, readers].join('_');
}
