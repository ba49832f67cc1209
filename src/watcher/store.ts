// What the watcher remembers of one collection: the least that later changes are compared with. It lives in memory for as
// long as the process; the queue and the cursor are what survives.
import type { Key } from '../core/key.ts';
import type { Seen } from '../runtime/forward.ts';

/** The objects of a collection, as they were last seen. */
export type Store = {
  get(key: Key): Seen | undefined;
  put(key: Key, seen: Seen): void;
  delete(key: Key): void;
  /** Begins a list of the whole collection; everything known counts as not yet listed. */
  beginListing(): void;
  /** Ends the list: returns what was not put since its beginning, and forgets it. */
  endListing(): readonly (readonly [Key, Seen])[];
  entries(): IterableIterator<readonly [Key, Seen]>;
  clear(): void;
  size(): number;
};

/** By namespace (`''` without), then by name: a namespace's name is held once, and no key is ever pieced together. */
type Objects = Map<string, Map<string, Seen>>;

/** Creates an empty store. */
export function createStore(): Store {
  let current: Objects = new Map();
  /** What an unfinished list has not shown yet. An object is in one of the two, or in `current` alone. */
  let unlisted: Objects = new Map();

  return {
    get: (key) => find(current, key) ?? find(unlisted, key),
    put: (key, seen) => {
      remove(unlisted, key);
      insert(current, key, seen);
    },
    delete: (key) => {
      remove(current, key);
      remove(unlisted, key);
    },
    beginListing: () => {
      // A list that broke off left both filled.
      for (const [key, seen] of each(unlisted)) insert(current, key, seen);
      unlisted = current;
      current = new Map();
    },
    endListing: () => {
      const missing = [...each(unlisted)];
      unlisted = new Map();
      return missing;
    },
    entries: function* () {
      yield* each(current);
      yield* each(unlisted);
    },
    clear: () => {
      current = new Map();
      unlisted = new Map();
    },
    size: () => count(current) + count(unlisted),
  };
}

function find(objects: Objects, { namespace = '', name }: Key): Seen | undefined {
  return objects.get(namespace)?.get(name);
}

function insert(objects: Objects, { namespace = '', name }: Key, seen: Seen): void {
  const named = objects.get(namespace);
  if (named === undefined) objects.set(namespace, new Map([[name, seen]]));
  else named.set(name, seen);
}

function remove(objects: Objects, { namespace = '', name }: Key): void {
  const named = objects.get(namespace);
  if (named?.delete(name) === true && named.size === 0) objects.delete(namespace);
}

function* each(objects: Objects): IterableIterator<readonly [Key, Seen]> {
  for (const [namespace, named] of objects) {
    for (const [name, seen] of named) yield [namespace === '' ? { name } : { namespace, name }, seen];
  }
}

function count(objects: Objects): number {
  let sum = 0;
  for (const named of objects.values()) sum += named.size;
  return sum;
}
