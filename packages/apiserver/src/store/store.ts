// The in-memory counterpart of etcd: collections of immutable objects, one version counter for all of them, and a
// bounded history of the latest changes. Watches resume from the history, and lists at an older version are
// reconstructed from it.
//
// Guarantees: versions increase with every change and are never reused. A subscriber receives every later change of its
// collection once, in order. Assumption: callers do not mutate objects that they store or receive.
import { type ApiObject, type NamespacedName, namespacedName, withMetadata } from '../object.ts';

/** One change. `object` has the version of the change, also after a deletion. */
export type StoreChange = {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly version: number;
  readonly collection: string;
  readonly object: ApiObject;
  readonly previous: ApiObject | undefined;
};

/** Every object of a store, and its version: JSON. */
export type StoreSnapshot = {
  readonly version: number;
  readonly collections: Readonly<Record<string, readonly ApiObject[]>>;
};

/** The store. A collection is created with its first object. */
export type Store = {
  /** Returns the version of the latest change. */
  version(): number;
  /** Returns the oldest version that a watch or an exact list can start at. */
  oldest(): number;
  get(collection: string, key: NamespacedName): ApiObject | undefined;
  /** Returns a collection, or one namespace of it, ordered by namespace and name. */
  list(collection: string, namespace?: string): readonly ApiObject[];
  /** Returns a collection as it was at a version. The version must not be older than `oldest()`. */
  listAt(collection: string, version: number, namespace?: string): readonly ApiObject[];
  /** Stores a new or changed object under the next version. Returns it with that version. */
  put(collection: string, object: ApiObject): ApiObject;
  /** Removes an object. Returns its last state, with the version of the deletion. */
  remove(collection: string, object: ApiObject): ApiObject;
  /** Returns the changes of a collection after a version. The version must not be older than `oldest()`. */
  changesSince(collection: string, version: number): readonly StoreChange[];
  /**
   * Calls `onChange` for every later change of a collection, or of all collections for '*'. Returns the unsubscribe
   * function.
   */
  subscribe(collection: string, onChange: (change: StoreChange) => void): () => void;
  /** Returns the names of all collections that have or had an object. */
  collections(): readonly string[];
  /** Drops the history. */
  compact(): void;
  /** Returns all objects. */
  snapshot(): StoreSnapshot;
};

/** The first version is not 1, so that tests can request a version that is too old. */
const firstVersion = 100;

/** A snapshot may be older than the last change that a client saw: its versions are not used again. */
const skippedVersions = 1_000;

/** Creates a store, empty or from a snapshot, that keeps at least the last `eventWindow` changes. */
export function createStore({
  eventWindow,
  snapshot = { version: firstVersion - skippedVersions, collections: {} },
}: {
  readonly eventWindow: number;
  readonly snapshot?: StoreSnapshot | undefined;
}): Store {
  const objects = new Map<string, Collection>();
  const subscribers = new Map<string, Set<(change: StoreChange) => void>>();
  let changes: StoreChange[] = [];
  let version = snapshot.version + skippedVersions;
  let oldest = version;
  for (const [name, content] of Object.entries(snapshot.collections)) {
    const collection = createCollection();
    for (const object of content) collection.set(object);
    objects.set(name, collection);
  }

  const record = (change: StoreChange): void => {
    changes.push(change);
    // Old changes are dropped in bulk: the cost of one change does not depend on the size of the window.
    if (changes.length > eventWindow * 1.25 + 16) {
      const dropped = changes.length - eventWindow;
      oldest = changes[dropped - 1]?.version ?? oldest;
      changes = changes.slice(dropped);
    }
    for (const name of [change.collection, '*']) {
      for (const onChange of subscribers.get(name) ?? []) onChange(change);
    }
  };
  const withNextVersion = (collection: string, object: ApiObject): ApiObject => {
    version += 1;
    if (!objects.has(collection)) objects.set(collection, createCollection());
    return withMetadata(object, { resourceVersion: String(version) });
  };
  /** Returns the index of the first change after a version, by binary search. */
  const indexAfter = (since: number): number => {
    let [low, high] = [0, changes.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((changes[middle]?.version ?? 0) > since) high = middle;
      else low = middle + 1;
    }
    return low;
  };

  return {
    version: () => version,
    oldest: () => oldest,
    get: (collection, key) => objects.get(collection)?.get(key),
    list: (collection, namespace) => objects.get(collection)?.list(namespace) ?? [],
    listAt(collection, at, namespace) {
      const past = createCollection();
      for (const object of objects.get(collection)?.list(namespace) ?? []) past.set(object);
      for (const change of changes.slice(indexAfter(at)).reverse()) {
        if (change.collection !== collection) continue;
        if (namespace !== undefined && change.object.metadata.namespace !== namespace) continue;
        if (change.previous === undefined) past.remove(change.object);
        else past.set(change.previous);
      }
      return past.list(undefined);
    },
    put(collection, object) {
      const stored = withNextVersion(collection, object);
      const previous = objects.get(collection)?.get(namespacedName(stored));
      objects.get(collection)?.set(stored);
      record({ type: previous === undefined ? 'ADDED' : 'MODIFIED', version, collection, object: stored, previous });
      return stored;
    },
    remove(collection, object) {
      const stored = objects.get(collection)?.get(namespacedName(object)) ?? object;
      const deleted = withNextVersion(collection, stored);
      objects.get(collection)?.remove(stored);
      record({ type: 'DELETED', version, collection, object: deleted, previous: stored });
      return deleted;
    },
    changesSince: (collection, since) =>
      changes.slice(indexAfter(since)).filter((change) => change.collection === collection),
    subscribe(collection, onChange) {
      const group = subscribers.get(collection) ?? new Set();
      subscribers.set(collection, group.add(onChange));
      return () => group.delete(onChange);
    },
    collections: () => [...objects.keys()],
    compact() {
      changes = [];
      oldest = version;
    },
    snapshot: () => ({
      version,
      collections: Object.fromEntries([...objects].map(([name, collection]) => [name, collection.list(undefined)])),
    }),
  };
}

/** Objects by namespace and name. The sorted list of a namespace is built on the first read after a change. */
type Collection = {
  get(key: NamespacedName): ApiObject | undefined;
  set(object: ApiObject): void;
  remove(object: ApiObject): void;
  list(namespace: string | undefined): readonly ApiObject[];
};

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
      const { namespace, name } = namespacedName(object);
      ordered.delete(namespace);
      const names = namespaces.get(namespace) ?? new Map<string, ApiObject>();
      namespaces.set(namespace, names.set(name, object));
    },
    remove(object) {
      const { namespace, name } = namespacedName(object);
      ordered.delete(namespace);
      namespaces.get(namespace)?.delete(name);
    },
    list(namespace) {
      if (namespace !== undefined) return inNamespace(namespace);
      return [...namespaces.keys()].sort().flatMap((name) => inNamespace(name));
    },
  };
}
