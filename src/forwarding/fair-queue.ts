// Keys that may go now, in the order in which they go: namespaces take turns, and within one the longest waiting is first. So a
// namespace whose users do not stop keeps a fresh change of another one waiting for a turn, not for all that it has brought.

/** Entries by namespace and id. */
export type NamespaceTurns<T> = {
  get(namespace: string, id: string): T | undefined;
  /** Adds an entry at the end of its namespace, or replaces it where it stands. */
  set(namespace: string, id: string, entry: T): void;
  /** Takes out the entry whose turn it is. */
  next(): readonly [id: string, entry: T] | undefined;
  size(): number;
};

/** Creates one without entries. */
export function createNamespaceTurns<T>(): NamespaceTurns<T> {
  // In the order of their turns. One that is empty is not there, and comes back as the last.
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
