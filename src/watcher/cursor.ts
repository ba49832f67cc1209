// How far each collection has been forwarded, as far as it outlives the process.
import type { WatchedResource } from '../core/watch-list.ts';
import { hashOf } from '../queue/message.ts';

/** Remembers, for each collection by its cursorName, the version up to which SQS has accepted everything. */
export type Cursor = {
  /** Reads where to go on; undefined when that is not known. */
  start(name: string): Promise<string | undefined>;
  /** Notes a version. Cheap: called for every frame, written when it is time. */
  accepted(name: string, version: string): void;
  /** Forgets a collection's version: the cluster was restored from a backup, and versions begin anew. */
  drop(name: string): void;
  /** Writes what was noted. */
  flush(): Promise<void>;
};

/** A cursor that remembers nothing: every start forwards everything. */
export const noCursor: Cursor = {
  start: async () => undefined,
  accepted: () => undefined,
  drop: () => undefined,
  flush: async () => undefined,
};

/**
 * Names a collection's entry: what is watched, and for whom. A controller that was added needs its first keys, so that other
 * subscribers are another entry.
 */
export function cursorName(
  { group, version, plural, labelSelector = '', subscribers }: WatchedResource,
  { namespace }: { readonly namespace?: string | undefined } = {},
): string {
  const who = subscribers.map(({ controller, as, predicate, primary, label }) =>
    [controller, as, predicate, primary.group, primary.plural, label ?? ''].join(' '),
  );
  const readers = hashOf(labelSelector, ...who.sort()).slice(0, 12);
  return [group === '' ? 'core' : group, version, plural, namespace ?? '', readers].join('_');
}
