// The keys that the work queue may send now, in the order in which they are sent: round robin across namespaces, and
// first in, first out within a namespace. A namespace with a constant stream of changes therefore delays a new change
// of another namespace by one key, not by its whole backlog.

/** The ids of keys, in the order of their turns. */
export type FairQueue = {
  /** Appends an id to its namespace. One that is there already keeps its position. */
  add(namespace: string, id: string): void;
  /** Removes and returns the next id. */
  next(): string | undefined;
};

type Namespace = {
  readonly ids: Set<string>;
  /** Where the next id is. */
  readonly order: SetIterator<string>;
};

/** Creates an empty queue. */
export function createFairQueue(): FairQueue {
  // In the order of their turns. A namespace without ids is removed; with its next id it goes to the end.
  const namespaces = new Map<string, Namespace>();
  // An iterator of a Map goes on where it was, and also meets what was added since. A new one for each id would pass
  // over the places of all ids that were removed.
  let turns = namespaces.entries();

  function nextTurn(): readonly [name: string, namespace: Namespace] | undefined {
    const turn = turns.next();
    if (turn.done !== true) return turn.value;
    // It has ended, because no namespace was left.
    turns = namespaces.entries();
    return turns.next().value;
  }

  return {
    add: (name, id) => {
      let namespace = namespaces.get(name);
      if (namespace === undefined) {
        const ids = new Set<string>();
        namespace = { ids, order: ids.values() };
        namespaces.set(name, namespace);
      }
      namespace.ids.add(id);
    },
    next: () => {
      const [name, namespace] = nextTurn() ?? [];
      const id = namespace?.order.next().value;
      if (name === undefined || namespace === undefined || id === undefined) return undefined;
      namespace.ids.delete(id);
      namespaces.delete(name);
      if (namespace.ids.size > 0) namespaces.set(name, namespace);
      return id;
    },
  };
}
