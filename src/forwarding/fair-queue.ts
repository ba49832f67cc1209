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

type Namespace<T> = {
  readonly entries: Map<string, T>;
  /** Where the next entry is. */
  readonly order: MapIterator<[string, T]>;
};

/** Creates an empty queue. */
export function createFairQueue<T>(): FairQueue<T> {
  // In the order of their turns. A namespace without entries is removed; with its next entry it goes to the end.
  const namespaces = new Map<string, Namespace<T>>();
  // An iterator of a Map goes on where it was, and also meets what was added since. A new one for each entry would pass
  // over the places of all entries that were removed.
  let turns = namespaces.entries();
  let size = 0;

  function nextTurn(): readonly [name: string, namespace: Namespace<T>] | undefined {
    const turn = turns.next();
    if (turn.done !== true) return turn.value;
    // It has ended, because no namespace was left.
    turns = namespaces.entries();
    return turns.next().value;
  }

  return {
    get: (namespace, id) => namespaces.get(namespace)?.entries.get(id),
    set: (name, id, entry) => {
      let namespace = namespaces.get(name);
      if (namespace === undefined) {
        const entries = new Map<string, T>();
        namespace = { entries, order: entries.entries() };
        namespaces.set(name, namespace);
      }
      if (!namespace.entries.has(id)) size += 1;
      namespace.entries.set(id, entry);
    },
    next: () => {
      const [name, namespace] = nextTurn() ?? [];
      const next = namespace?.order.next().value;
      if (name === undefined || namespace === undefined || next === undefined) return undefined;
      namespace.entries.delete(next[0]);
      size -= 1;
      namespaces.delete(name);
      if (namespace.entries.size > 0) namespaces.set(name, namespace);
      return next;
    },
    size: () => size,
  };
}
