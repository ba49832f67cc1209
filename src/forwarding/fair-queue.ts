// The keys that the work queue may send now, in the order in which they are sent: round robin across namespaces, and
// first in, first out within a namespace. A namespace with a constant stream of changes therefore delays a new change
// of another namespace by one key, not by its whole backlog.

/** Entries by namespace and id. */
export type FairQueue<T> = {
  get(namespace: string, id: string): T | undefined;
  /** Appends an entry to its namespace. An entry that exists is replaced and keeps its position. */
  set(namespace: string, id: string, entry: T): void;
  /** Removes and returns the next entry. */
  next(): readonly [id: string, entry: T] | undefined;
  size(): number;
};

/** Creates an empty queue. */
export function createFairQueue<T>(): FairQueue<T> {
  // In the order of their turns. A namespace without entries is removed; with its next entry it goes to the end.
  const namespaces = new Map<string, Map<string, T>>();
  let size = 0;

  return {
    get: (namespace, id) => namespaces.get(namespace)?.get(id),
    set: (namespace, id, entry) => {
      const entries = namespaces.get(namespace) ?? new Map<string, T>();
      if (entries.size === 0) namespaces.set(namespace, entries);
      if (!entries.has(id)) size += 1;
      entries.set(id, entry);
    },
    next: () => {
      for (const [namespace, entries] of namespaces) {
        for (const [id, entry] of entries) {
          entries.delete(id);
          size -= 1;
          namespaces.delete(namespace);
          if (entries.size > 0) namespaces.set(namespace, entries);
          return [id, entry];
        }
      }
      return undefined;
    },
    size: () => size,
  };
}
