// Decides which keys a change of an object affects. The watch loop calls it with the TrackedObject before and after the
// change, and adds the keys to the forwarder. The decision is pure, so every row of the design's table of predicates is
// a row in a table test.
import { formatReconcileKey, type Key, type ReconcileKey } from '../core/key.ts';
import { isSameKind } from '../core/kind-names.ts';
import { selfMappedGroup } from '../core/names.ts';
import type { Subscriber, WatchedResource } from '../core/watch-list.ts';
import type { ChangeSource } from '../sqs/deduplication.ts';
import { forwardsOwnKey, selectsByMetadata, type TrackedObject } from './tracked-objects.ts';

/** A change of one object. `version` is the version of the deletion, or of the list in which the object was missing. */
export type ObjectChange =
  | { readonly type: 'changed'; readonly after: TrackedObject }
  | { readonly type: 'gone'; readonly version: string; readonly last?: TrackedObject };

/** A key to be forwarded, and the change that affects it. */
export type AffectedKey = { readonly target: ReconcileKey; readonly source: ChangeSource };

/** A watched resource in its cluster. */
export type WatchedCollection = { readonly resource: WatchedResource; readonly cluster: string };

/**
 * Decides which keys a change affects. Each key is returned once. If the owner changed, the old and the new owner are
 * both affected. A change of the references always counts, even if the predicate ignores the rest of the change.
 */
export function affectedKeys(
  collection: WatchedCollection,
  key: Key,
  before: TrackedObject | undefined,
  change: ObjectChange,
): readonly AffectedKey[] {
  const { resource } = collection;
  const after = change.type === 'changed' ? change.after : change.last;
  const latest = after ?? before;
  if (latest === undefined) return [];
  const source: ChangeSource =
    change.type === 'changed'
      ? { uid: latest.uid, resourceVersion: latest.resourceVersion }
      : { uid: latest.uid, resourceVersion: change.version, gone: true };
  const targets = new Map<string, { readonly target: ReconcileKey; readonly isStray: boolean }>();
  for (const [index, subscriber] of resource.subscribers.entries()) {
    const keysBefore = before === undefined ? [] : keysFor(resource, index, key, before);
    const keysAfter = after === undefined ? [] : keysFor(resource, index, key, after);
    if (change.type === 'changed' && before !== undefined) {
      if (!matchesPredicate(subscriber, before, change.after) && sameKeys(keysBefore, keysAfter)) continue;
    }
    for (const each of [...keysBefore, ...keysAfter]) {
      const target = toReconcileKey(collection, subscriber, each);
      const id = formatReconcileKey(target);
      const isStray = mayBeStray(resource, index, change.type, latest);
      targets.set(id, { target, isStray: isStray || targets.get(id)?.isStray === true });
    }
  }
  const object = [resource.group, resource.plural, key.namespace ?? '', key.name] as const;
  return [...targets.values()].map(({ target, isStray }) => {
    const isOwn =
      target.group === resource.group &&
      target.resource === resource.plural &&
      target.namespace === key.namespace &&
      target.name === key.name;
    if (isOwn) return { target, source };
    return { target, source: isStray ? { ...source, object, isStray } : { ...source, object } };
  });
}

/**
 * Returns whether a child may exist without its labels, where the owner's reconcile does not find it by them. An object
 * that leaves a watch with a label selector is deleted, or has lost a label: DELETED is the same for both. One that was
 * being deleted is gone.
 */
function mayBeStray(
  { subscribers, labelSelector }: WatchedResource,
  index: number,
  type: ObjectChange['type'],
  { references, deleting }: TrackedObject,
): boolean {
  if (type === 'gone') return subscribers[index]?.as === 'owned' && labelSelector !== undefined && !deleting;
  return references.some((one) => one.subscriber === index && one.isStray === true);
}

/**
 * Lists every key that an object affects, whatever changed. Used for a list that has nothing to compare an object with.
 * The object is not mapped to others of its kind, because they are all sent at low priority.
 */
export function allOwners(collection: WatchedCollection, key: Key, object: TrackedObject): readonly AffectedKey[] {
  const mapped = selfMappedGroup(collection.resource.group);
  return affectedKeys(collection, key, undefined, { type: 'changed', after: object }).filter(
    ({ target: { group, resource } }) => group !== mapped || resource !== collection.resource.plural,
  );
}

/**
 * Returns whether a change counts for a subscriber. The uid is compared because a re-created object has generation 1
 * again.
 */
function matchesPredicate({ predicate }: Subscriber, before: TrackedObject, after: TrackedObject): boolean {
  if (before.uid !== after.uid) return true;
  if (predicate === 'metadata') return before.generation !== after.generation || before.digest !== after.digest;
  if (predicate !== 'generation' || after.generation === undefined) {
    return before.resourceVersion !== after.resourceVersion;
  }
  return (
    before.generation !== after.generation ||
    before.deleting !== after.deleting ||
    before.requestedAt !== after.requestedAt ||
    before.paused !== after.paused
  );
}

/**
 * The keys that an object affects for one subscriber. An object that is being deleted counts for its controller also
 * outside of the selection: it may have a finalizer from before the selection. If a kind is watched in some namespaces,
 * the role may forbid it the others.
 */
function keysFor(
  { subscribers, namespaces: watched }: WatchedResource,
  index: number,
  key: Key,
  { references, deleting }: TrackedObject,
): readonly Key[] {
  const subscriber = subscribers[index];
  if (subscriber === undefined) return [];
  const { namespaces } = subscriber;
  const isWithin = namespaces === undefined || namespaces.includes(key.namespace ?? key.name);
  if (forwardsOwnKey(subscriber)) {
    const isSelected = !selectsByMetadata(subscriber) || references.some((one) => one.subscriber === index);
    const isHeld = subscriber.as === 'primary' && deleting && (isWithin || watched === undefined);
    return (isSelected && isWithin) || isHeld ? [key] : [];
  }
  if (!isWithin) return [];
  const scope = subscriber.primary.namespaced && key.namespace !== undefined ? { namespace: key.namespace } : {};
  return references
    .filter((one) => one.subscriber === index)
    .map(({ name, namespace }) => ({ ...scope, ...(namespace === undefined ? {} : { namespace }), name }));
}

function toReconcileKey({ resource, cluster }: WatchedCollection, subscriber: Subscriber, key: Key): ReconcileKey {
  const { as, controller, primary } = subscriber;
  const { group, plural } = forwardsOwnKey(subscriber) ? resource : primary;
  const isSelfMapped = as === 'watched' && forwardsOwnKey(subscriber) && isSameKind(resource, primary);
  return { controller, cluster, group: isSelfMapped ? selfMappedGroup(group) : group, resource: plural, ...key };
}

function sameKeys(a: readonly Key[], b: readonly Key[]): boolean {
  const isSame = ({ name, namespace }: Key, other: Key | undefined) =>
    name === other?.name && namespace === other.namespace;
  return a.length === b.length && a.every((one, index) => isSame(one, b[index]));
}
