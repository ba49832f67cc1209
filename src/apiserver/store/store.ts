// etcd, as far as one machine needs it: collections of immutable objects, one counter for every change of any of them, and a
// bounded memory of the latest changes, from which watches catch up and lists of the past are reconstructed.
//
// Guarantees: versions rise with every change and never repeat; a follower hears every change of its collection after it began
// to follow, in order, once. Assumption: nobody changes an object that was handed in or out.
import { type ApiObject, type Key, keyOf, withMetadata } from '../object.ts';

/** One change. `object` carries the change's version, also for a deletion. */
export interface Change {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly version: number;
  readonly collection: string;
  readonly object: ApiObject;
  readonly previous: ApiObject | undefined;
}

/** The store. Collections exist from their first object on. */
export interface Store {
  /** Version of the newest change. */
  version(): number;
  /** The oldest version that can still be watched from, or listed exactly. */
  oldest(): number;
  get(collection: string, key: Key): ApiObject | undefined;
  /** Returns a collection, or one namespace of it, ordered by namespace and name. */
  list(collection: string, namespace?: string): readonly ApiObject[];
  /** Returns a collection as it was at a version that is not older than `oldest()`. */
  listAt(collection: string, version: number, namespace?: string): readonly ApiObject[];
  /** Stores an object, new or not, under the next version, and returns it with that version. */
  put(collection: string, object: ApiObject): ApiObject;
  /** Removes an object and returns it as it was stored, with the deletion's version. */
  remove(collection: string, object: ApiObject): ApiObject;
  /** Returns the changes of a collection after a version that is not older than `oldest()`. */
  changesSince(collection: string, version: number): readonly Change[];
  /** Calls back for every later change of a collection, of all for '*'. Returns what ends it. */
  follow(collection: string, onChange: (change: Change) => void): () => void;
  /** Returns the names of collections that ever had an object. */
  collections(): readonly string[];
  /** Forgets all past changes. */
  forget(): void;
}

/** The first version is not 1, so that a client can name one that is too old. */
const FIRST_VERSION = 100;

/** Creates an empty store that remembers `eventWindow` changes. */
export function createStore({ eventWindow }: { readonly eventWindow: number }): Store {
  const objects = new Map<string, Collection>();
  const followers = new Map<string, Set<(change: Change) => void>>();
  let changes: Change[] = [];
  let version = FIRST_VERSION;
  let oldest = FIRST_VERSION;

  const record = (change: Change): void => {
    changes.push(change);
    // Cut in bulk, so that a change costs the same whatever the window.
    if (changes.length > eventWindow * 1.25 + 16) {
      const dropped = changes.length - eventWindow;
      oldest = changes[dropped - 1]?.version ?? oldest;
      changes = changes.slice(dropped);
    }
    for (const name of [change.collection, '*']) {
      for (const tell of followers.get(name) ?? []) tell(change);
    }
  };
  const next = (collection: string, object: ApiObject): ApiObject => {
    version += 1;
    if (!objects.has(collection)) objects.set(collection, createCollection());
    return withMetadata(object, { resourceVersion: String(version) });
  };
  const after = (seen: number): number => {
    let [low, high] = [0, changes.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((changes[middle]?.version ?? 0) > seen) high = middle;
      else low = middle + 1;
    }
    return low;
  };

  return {
    version: () => version,
    oldest: () => oldest,
    get: (collection, key) => objects.get(collection)?.get(key),
    list: (collection, namespace) => objects.get(collection)?.list(namespace) ?? [],
    listAt(collection, asked, namespace) {
      const past = createCollection();
      for (const object of objects.get(collection)?.list(namespace) ?? []) past.set(object);
      for (const change of changes.slice(after(asked)).reverse()) {
        if (change.collection !== collection) continue;
        if (namespace !== undefined && change.object.metadata.namespace !== namespace) continue;
        if (change.previous === undefined) past.remove(change.object);
        else past.set(change.previous);
      }
      return past.list(undefined);
    },
    put(collection, object) {
      const stored = next(collection, object);
      const previous = objects.get(collection)?.get(keyOf(stored));
      objects.get(collection)?.set(stored);
      record({ type: previous === undefined ? 'ADDED' : 'MODIFIED', version, collection, object: stored, previous });
      return stored;
    },
    remove(collection, object) {
      const stored = objects.get(collection)?.get(keyOf(object)) ?? object;
      const gone = next(collection, stored);
      objects.get(collection)?.remove(stored);
      record({ type: 'DELETED', version, collection, object: gone, previous: stored });
      return gone;
    },
    changesSince: (collection, seen) => changes.slice(after(seen)).filter((change) => change.collection === collection),
    follow(collection, onChange) {
      const group = followers.get(collection) ?? new Set();
      followers.set(collection, group.add(onChange));
      return () => group.delete(onChange);
    },
    collections: () => [...objects.keys()],
    forget() {
      changes = [];
      oldest = version;
    },
  };
}

/** Objects by namespace and name; the order is made when it is asked for. */
interface Collection {
  get(key: Key): ApiObject | undefined;
  set(object: ApiObject): void;
  remove(object: ApiObject): void;
  list(namespace: string | undefined): readonly ApiObject[];
}

function createCollection(): Collection {
  const namespaces = new Map<string, Map<string, ApiObject>>();
  const ordered = new Map<string, readonly ApiObject[]>();
  const inNamespace = (namespace: string): readonly ApiObject[] => {
    let list = ordered.get(namespace);
    if (list === undefined) {
      list = [...(namespaces.get(namespace)?.entries() ?? [])]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([, object]) => object);
      ordered.set(namespace, list);
    }
    return list;
  };
  return {
    get: ({ namespace, name }) => namespaces.get(namespace)?.get(name),
    set(object) {
      const { namespace, name } = keyOf(object);
      ordered.delete(namespace);
      const names = namespaces.get(namespace) ?? new Map<string, ApiObject>();
      namespaces.set(namespace, names.set(name, object));
    },
    remove(object) {
      const { namespace, name } = keyOf(object);
      ordered.delete(namespace);
      namespaces.get(namespace)?.delete(name);
    },
    list(namespace) {
      if (namespace !== undefined) return inNamespace(namespace);
      return [...namespaces.keys()].sort().flatMap((name) => inNamespace(name));
    },
  };
}
