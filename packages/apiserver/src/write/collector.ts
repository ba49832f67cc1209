// Garbage collection. It does the work of kube-controller-manager's garbage collector and namespace controller, and of
// the finalizer of CustomResourceDefinitions: it deletes the dependents of deleted owners, the content of deleted
// namespaces, and the objects of deleted definitions. It subscribes to the store and acts after the current request has
// its response, so a client sees the result of its own write first.
import { getList } from '../json.ts';
import { type ApiObject, type StoredOwnerReference, withMetadata } from '../object.ts';
import { cleanupFinalizer } from '../registry/definition.ts';
import { definitionsCollection } from '../registry/registry.ts';
import { type ApiResource, apiVersionOf, collectionOf } from '../registry/resource.ts';
import { type ServerState, theServer } from '../server-state.ts';
import type { StoreChange } from '../store/store.ts';
import { type DeleteRequest, deleteObject, foregroundFinalizer, orphanFinalizer } from './delete.ts';

const backgroundDelete: DeleteRequest = { ...theServer, propagation: 'Background', uid: '', resourceVersion: '' };
const namespacesCollection = '/namespaces';

type OwnerState = 'kept' | 'gone' | 'waiting' | 'unknown';

/** An object and its collection. */
type StoredObject = {
  readonly collection: string;
  readonly object: ApiObject;
};

/** Starts the collector. Returns the function that stops it. */
export function startCollector(state: ServerState): () => void {
  const { store, registry } = state;
  const uids = new Map<string, StoredObject>();
  const dependents = new Map<string, Map<string, StoredObject>>();
  const queued = new Map<string, StoredObject>();
  let timer: NodeJS.Immediate | undefined;

  const current = ({ collection, object }: StoredObject): ApiObject | undefined => {
    const live = store.get(collection, {
      namespace: object.metadata.namespace ?? '',
      name: object.metadata.name ?? '',
    });
    return live?.metadata.uid === object.metadata.uid ? live : undefined;
  };
  const put = ({ collection }: StoredObject, object: ApiObject): void => {
    const { deletionTimestamp, finalizers = [] } = object.metadata;
    if (deletionTimestamp !== undefined && finalizers.length === 0) store.remove(collection, object);
    else store.put(collection, object);
  };
  const remove = (item: StoredObject, request: DeleteRequest = backgroundDelete): void => {
    const resource = registry.ofCollection(item.collection);
    const live = current(item);
    if (resource === undefined || live === undefined || live.metadata.deletionTimestamp !== undefined) return;
    deleteObject(
      state,
      { resource, namespace: live.metadata.namespace ?? '', name: live.metadata.name ?? '' },
      request,
    );
  };
  const removeFinalizer = (item: StoredObject, object: ApiObject, finalizer: string): void => {
    put(item, withoutFinalizer(object, finalizer));
  };
  const changeOwners = (
    item: StoredObject,
    change: (owner: StoredOwnerReference) => StoredOwnerReference | undefined,
  ): void => {
    const live = current(item);
    if (live === undefined) return;
    const owners = (live.metadata.ownerReferences ?? []).map(change).filter((owner) => owner !== undefined);
    put(item, withMetadata(live, { ownerReferences: owners.length === 0 ? undefined : owners }));
  };
  const kinds = new Map<string, ApiResource>();
  const resourceOf = ({ apiVersion, kind }: StoredOwnerReference): ApiResource | undefined => {
    const id = `${apiVersion} ${kind}`;
    const served = registry.all().find((one) => apiVersionOf(one) === apiVersion && one.kind === kind);
    // The objects of a kind that has gone are looked up as they were.
    if (served !== undefined) kinds.set(id, served);
    return kinds.get(id);
  };
  /**
   * The owner of a dependent: it stays, is gone, or waits for the deletion of its dependents. It is looked up by all
   * that the reference says, in the namespace of the dependent. Unknown are one of a kind that is not served, and one
   * that would need a namespace which the dependent does not have: nothing is deleted for these
   * (garbagecollector.go, isDangling and attemptToDeleteItem).
   */
  const stateOf = ({ metadata }: ApiObject, owner: StoredOwnerReference): OwnerState => {
    const resource = resourceOf(owner);
    const { namespace } = metadata;
    if (resource === undefined || (resource.namespaced && namespace === undefined)) return 'unknown';
    const place = resource.namespaced ? (namespace ?? '') : '';
    const found = store.get(collectionOf(resource), { namespace: place, name: owner.name });
    if (found === undefined || found.metadata.uid !== owner.uid) return 'gone';
    return isWaiting({ object: found }) ? 'waiting' : 'kept';
  };
  const dependentsOf = (uid: string): StoredObject[] => [...(dependents.get(uid)?.values() ?? [])];

  const collect = (item: StoredObject): void => {
    const live = current(item);
    const uid = item.object.metadata.uid ?? '';
    if (live === undefined) {
      for (const dependent of dependentsOf(uid)) queue(dependent);
      return;
    }
    const { deletionTimestamp, finalizers = [], ownerReferences: owners = [] } = live.metadata;
    if (owners.length > 0 && deletionTimestamp === undefined) {
      const states = owners.map((owner) => stateOf(live, owner));
      if (states.includes('unknown')) return;
      if (!states.includes('kept')) {
        const below = dependentsOf(uid);
        const foreground = states.includes('waiting') && below.length > 0;
        // The owners of a circle would wait for each other.
        if (foreground && below.some(isWaiting))
          changeOwners(item, (owner) => (owner.blockOwnerDeletion ? { ...owner, blockOwnerDeletion: false } : owner));
        const isForeground = foreground || finalizers.includes(foregroundFinalizer);
        const ownPolicy = isForeground ? 'Foreground' : 'Background';
        const propagation = !foreground && finalizers.includes(orphanFinalizer) ? 'Orphan' : ownPolicy;
        remove(item, { ...backgroundDelete, propagation });
      } else if (states.some((state) => state !== 'kept')) {
        changeOwners(item, (owner) => (stateOf(live, owner) === 'kept' ? owner : undefined));
      }
    }
    if (deletionTimestamp === undefined) return;
    if (finalizers.includes(orphanFinalizer)) {
      for (const dependent of dependentsOf(uid))
        changeOwners(dependent, (owner) => (owner.uid === uid ? undefined : owner));
      removeFinalizer(item, live, orphanFinalizer);
    } else if (finalizers.includes(foregroundFinalizer)) {
      const blocking = dependentsOf(uid).filter(({ object }) =>
        object.metadata.ownerReferences?.some((owner) => owner.uid === uid && owner.blockOwnerDeletion === true),
      );
      for (const dependent of dependentsOf(uid)) queue(dependent);
      if (blocking.every((dependent) => current(dependent) === undefined))
        removeFinalizer(item, live, foregroundFinalizer);
    }
    if (item.collection === namespacesCollection) emptyNamespace(item, live);
    if (item.collection === definitionsCollection && finalizers.includes(cleanupFinalizer)) emptyDefinition(item, live);
  };
  const emptyNamespace = (item: StoredObject, live: ApiObject): void => {
    const content = store
      .collections()
      .flatMap((collection) =>
        collection === namespacesCollection
          ? []
          : store.list(collection, live.metadata.name ?? '').map((object) => ({ collection, object })),
      );
    for (const one of content) remove(one);
    // Those of its spec are done with the content; those of controllers hold it as they hold any object.
    const isHeld = (live.metadata.finalizers ?? []).length > 0;
    if (!isHeld && content.every((one) => current(one) === undefined)) store.remove(item.collection, live);
  };
  const emptyDefinition = (item: StoredObject, live: ApiObject): void => {
    const collection = collectionDefinedBy(live);
    for (const object of store.list(collection)) remove({ collection, object });
    if (store.list(collection).length === 0) removeFinalizer(item, live, cleanupFinalizer);
  };

  const isTerminating = (item: StoredObject | undefined): item is StoredObject =>
    item?.object.metadata.deletionTimestamp !== undefined;
  const queue = (item: StoredObject): void => {
    queued.set(`${item.collection} ${item.object.metadata.uid}`, item);
    timer ??= setImmediate(run);
  };
  const run = (): void => {
    timer = undefined;
    const batch = [...queued.values()];
    queued.clear();
    for (const item of batch) collect(item);
  };
  const onChange = ({ type, collection, object, previous }: StoreChange): void => {
    const item = { collection, object };
    const uid = object.metadata.uid ?? '';
    for (const owner of previous?.metadata.ownerReferences ?? []) {
      dependents.get(owner.uid)?.delete(uid);
      // A terminating owner waits until this object is deleted, or is its dependent no more.
      const ownerObject = uids.get(owner.uid);
      if (isTerminating(ownerObject)) queue(ownerObject);
    }
    if (type === 'DELETED') uids.delete(uid);
    else {
      uids.set(uid, item);
      for (const owner of object.metadata.ownerReferences ?? []) {
        const known = dependents.get(owner.uid) ?? new Map<string, StoredObject>();
        dependents.set(owner.uid, known.set(uid, item));
      }
    }
    const { ownerReferences = [], deletionTimestamp } = object.metadata;
    if (ownerReferences.length > 0 || deletionTimestamp !== undefined || dependents.has(uid)) queue(item);
    if (type !== 'DELETED') return;
    // A terminating namespace and a terminating definition wait for the deletion of this object.
    const namespace = store.get(namespacesCollection, { namespace: '', name: object.metadata.namespace ?? '' });
    if (namespace?.metadata.deletionTimestamp !== undefined)
      queue({ collection: namespacesCollection, object: namespace });
    for (const definition of store.list(definitionsCollection)) {
      if (definition.metadata.deletionTimestamp !== undefined && collectionDefinedBy(definition) === collection) {
        queue({ collection: definitionsCollection, object: definition });
      }
    }
  };
  for (const collection of store.collections())
    for (const object of store.list(collection))
      onChange({ type: 'ADDED', version: store.version(), collection, object, previous: undefined });
  const unsubscribe = store.subscribe('*', onChange);
  return () => {
    unsubscribe();
    if (timer !== undefined) clearImmediate(timer);
  };
}

/** Returns whether an object is deleted after its dependents. */
function isWaiting({ object }: Pick<StoredObject, 'object'>): boolean {
  const { deletionTimestamp, finalizers = [] } = object.metadata;
  return deletionTimestamp !== undefined && finalizers.includes(foregroundFinalizer);
}

function collectionDefinedBy({ metadata }: ApiObject): string {
  const [plural = '', ...group] = (metadata.name ?? '').split('.');
  return `${group.join('.')}/${plural}`;
}

function withoutFinalizer(object: ApiObject, finalizer: string): ApiObject {
  const remaining = getList(object.metadata, 'finalizers').filter((one) => one !== finalizer);
  return withMetadata(object, { finalizers: remaining.length === 0 ? undefined : remaining });
}
