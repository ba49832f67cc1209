// What kube-controller-manager's garbage collector, its namespace controller and the definition finalizer do: dependants follow
// their owners, the content of a namespace follows the namespace, custom objects follow their definition. It listens to the
// store and acts when the current request is answered, so that a client sees its own write first.
import { listAt } from '../../../apiserver/json.ts';
import { type ApiObject, type OwnerReference, withMetadata } from '../../../apiserver/object.ts';
import { CLEANUP } from '../../../apiserver/registry/definition.ts';
import { DEFINITIONS } from '../../../apiserver/registry/registry.ts';
import type { Change } from '../../../apiserver/store/store.ts';
import type { World } from '../../../apiserver/server-state.ts';
import { type DeleteRequest, deleteObject, FOREGROUND, ORPHAN } from './delete.ts';

const BACKGROUND: DeleteRequest = { propagation: 'Background', uid: '', resourceVersion: '', dryRun: false };
const NAMESPACES = '/namespaces';

/** An object, where it is stored. */
interface Found {
  readonly collection: string;
  readonly object: ApiObject;
}

/** Starts collecting. Returns what ends it. */
export function startCollector(world: World): () => void {
  const { store, registry } = world;
  const uids = new Map<string, Found>();
  const dependants = new Map<string, Map<string, Found>>();
  const queued = new Map<string, Found>();
  let timer: NodeJS.Immediate | undefined;

  const current = ({ collection, object }: Found): ApiObject | undefined => {
    const live = store.get(collection, {
      namespace: object.metadata.namespace ?? '',
      name: object.metadata.name ?? '',
    });
    return live?.metadata.uid === object.metadata.uid ? live : undefined;
  };
  const put = ({ collection }: Found, object: ApiObject): void => {
    const { deletionTimestamp, finalizers = [] } = object.metadata;
    if (deletionTimestamp !== undefined && finalizers.length === 0) store.remove(collection, object);
    else store.put(collection, object);
  };
  const remove = (found: Found, request: DeleteRequest = BACKGROUND): void => {
    const resource = registry.ofCollection(found.collection);
    const live = current(found);
    if (resource === undefined || live === undefined || live.metadata.deletionTimestamp !== undefined) return;
    deleteObject(
      world,
      { resource, namespace: live.metadata.namespace ?? '', name: live.metadata.name ?? '' },
      request,
    );
  };
  const letGo = (found: Found, object: ApiObject, finalizer: string): void => {
    put(found, withoutFinalizer(object, finalizer));
  };
  const disown = (found: Found, gone: (owner: OwnerReference) => boolean): void => {
    const live = current(found);
    if (live === undefined) return;
    const left = (live.metadata.ownerReferences ?? []).filter((owner) => !gone(owner));
    put(found, withMetadata(live, { ownerReferences: left.length === 0 ? undefined : left }));
  };
  const below = (uid: string): Found[] => [...(dependants.get(uid)?.values() ?? [])];

  const lookAt = (found: Found): void => {
    const live = current(found);
    const uid = found.object.metadata.uid ?? '';
    if (live === undefined) {
      for (const dependant of below(uid)) queue(dependant);
      return;
    }
    const { deletionTimestamp, finalizers = [], ownerReferences: owners = [] } = live.metadata;
    // A reference has no namespace: an owner is one of the same namespace, or one that has none.
    const isGone = (owner: OwnerReference): boolean => {
      const { namespace = live.metadata.namespace } = uids.get(owner.uid)?.object.metadata ?? {};
      return !uids.has(owner.uid) || namespace !== live.metadata.namespace;
    };
    const isLeaving = (owner: OwnerReference): boolean =>
      uids.get(owner.uid)?.object.metadata.finalizers?.includes(FOREGROUND) === true;
    if (owners.length > 0 && deletionTimestamp === undefined) {
      if (owners.every((owner) => isGone(owner) || isLeaving(owner))) {
        const foreground = owners.some(isLeaving) && below(uid).length > 0;
        remove(found, foreground ? { ...BACKGROUND, propagation: 'Foreground' } : BACKGROUND);
        return;
      }
      if (owners.some(isGone)) disown(found, isGone);
    }
    if (deletionTimestamp === undefined) return;
    if (finalizers.includes(ORPHAN)) {
      for (const dependant of below(uid)) disown(dependant, (owner) => owner.uid === uid);
      letGo(found, live, ORPHAN);
    } else if (finalizers.includes(FOREGROUND)) {
      const blocking = below(uid).filter(({ object }) =>
        object.metadata.ownerReferences?.some((owner) => owner.uid === uid && owner.blockOwnerDeletion === true),
      );
      for (const dependant of below(uid)) queue(dependant);
      if (blocking.every((dependant) => current(dependant) === undefined)) letGo(found, live, FOREGROUND);
    }
    if (found.collection === NAMESPACES) emptyNamespace(found, live);
    if (found.collection === DEFINITIONS && finalizers.includes(CLEANUP)) emptyDefinition(found, live);
  };
  const emptyNamespace = (found: Found, live: ApiObject): void => {
    const content = store
      .collections()
      .flatMap((collection) =>
        collection === NAMESPACES
          ? []
          : store.list(collection, live.metadata.name ?? '').map((object) => ({ collection, object })),
      );
    for (const one of content) remove(one);
    if (content.every((one) => current(one) === undefined)) store.remove(found.collection, live);
  };
  const emptyDefinition = (found: Found, live: ApiObject): void => {
    const collection = collectionDefinedBy(live);
    for (const object of store.list(collection)) remove({ collection, object });
    if (store.list(collection).length === 0) letGo(found, live, CLEANUP);
  };

  const isWaiting = (found: Found | undefined): found is Found =>
    found?.object.metadata.deletionTimestamp !== undefined;
  const queue = (found: Found): void => {
    queued.set(`${found.collection} ${found.object.metadata.uid}`, found);
    timer ??= setImmediate(run);
  };
  const run = (): void => {
    timer = undefined;
    const batch = [...queued.values()];
    queued.clear();
    for (const found of batch) lookAt(found);
  };
  const onChange = ({ type, collection, object, previous }: Change): void => {
    const found = { collection, object };
    const uid = object.metadata.uid ?? '';
    for (const owner of previous?.metadata.ownerReferences ?? []) dependants.get(owner.uid)?.delete(uid);
    if (type === 'DELETED') uids.delete(uid);
    else {
      uids.set(uid, found);
      for (const owner of object.metadata.ownerReferences ?? []) {
        const known = dependants.get(owner.uid) ?? new Map<string, Found>();
        dependants.set(owner.uid, known.set(uid, found));
      }
    }
    const { ownerReferences = [], deletionTimestamp } = object.metadata;
    if (ownerReferences.length > 0 || deletionTimestamp !== undefined || dependants.has(uid)) queue(found);
    if (type !== 'DELETED') return;
    // Whoever waits for this object to be gone: its owners, its namespace, its definition.
    for (const owner of ownerReferences) {
      const above = uids.get(owner.uid);
      if (isWaiting(above)) queue(above);
    }
    const namespace = store.get(NAMESPACES, { namespace: '', name: object.metadata.namespace ?? '' });
    if (namespace?.metadata.deletionTimestamp !== undefined) queue({ collection: NAMESPACES, object: namespace });
    for (const definition of store.list(DEFINITIONS)) {
      if (definition.metadata.deletionTimestamp !== undefined && collectionDefinedBy(definition) === collection) {
        queue({ collection: DEFINITIONS, object: definition });
      }
    }
  };
  const unfollow = store.follow('*', onChange);
  return () => {
    unfollow();
    if (timer !== undefined) clearImmediate(timer);
  };
}

function collectionDefinedBy({ metadata }: ApiObject): string {
  const [plural = '', ...group] = (metadata.name ?? '').split('.');
  return `${group.join('.')}/${plural}`;
}

function withoutFinalizer(object: ApiObject, finalizer: string): ApiObject {
  const left = listAt(object.metadata, 'finalizers').filter((one) => one !== finalizer);
  return withMetadata(object, { finalizers: left.length === 0 ? undefined : left });
}
