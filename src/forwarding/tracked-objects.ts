// The state that a watch loop compares a change with. The loop reduces the metadata of an object to a TrackedObject and
// stores the latest one of each object; predicates.ts compares two of them. A TrackedObject holds exactly what the
// predicates compare, because the watcher keeps one for every object of every watched kind. The store lives in memory
// and ends with the process. Only the queues and the watch checkpoint survive a restart.
import { isPathSegment, type Key, maxNameCharacters } from '../core/key.ts';
import {
  controllerLabel,
  ownerAnnotation,
  ownerUidLabel,
  pausedAnnotation,
  reconcileRequestedAnnotation,
} from '../core/names.ts';
import { expressionsOf, isSelected } from '../core/selector.ts';
import type { Subscriber, WatchedResource } from '../core/watch-list.ts';
import type { DesiredMetadata, OwnerReference, PartialObjectMetadata } from '../kube/watch/partial-metadata.ts';
import { hashOf } from '../sqs/message.ts';

/** What the watcher remembers of one object. */
export type TrackedObject = {
  readonly uid: string;
  readonly resourceVersion: string;
  /** Undefined for kinds without a generation. */
  readonly generation: number | undefined;
  readonly deleting: boolean;
  readonly paused: boolean;
  readonly requestedAt: string | undefined;
  /** Of labels, annotations and finalizers. Only for a subscriber that compares them. */
  readonly digest?: string;
  /** The primaries that the object refers to: as owners, by annotation or by label. */
  readonly references: readonly Reference[];
};

/** A reference to the primary of this name, by default in the object's own namespace if its kind is namespaced. */
type Reference = {
  /** The index of the subscriber in the watched resource. */
  readonly subscriber: number;
  readonly name: string;
  /** Only of a primary in another namespace, to save memory. */
  readonly namespace?: string;
  /** The object has not the labels of the owner's children. Absent for most objects, to save memory. */
  readonly isStray?: true;
};

/** The objects of a collection, as last seen. */
export type TrackedObjects = {
  get(key: Key): TrackedObject | undefined;
  put(key: Key, object: TrackedObject): void;
  delete(key: Key): void;
  /** Begins a list of the whole collection: every known object counts as not yet listed. */
  beginListing(): void;
  /** Ends the list: returns the objects that were not put since its beginning, and forgets them. */
  endListing(): readonly (readonly [Key, TrackedObject])[];
  entries(): IterableIterator<readonly [Key, TrackedObject]>;
  clear(): void;
  size(): number;
};

/** By namespace (`''` for none), then by name. A namespace's name is stored once, and no key string is built. */
type Objects = Map<string, Map<string, TrackedObject>>;

/** One array for all objects without references. */
const noReferences: readonly Reference[] = Object.freeze([]);

/** Lists the labels and annotations that a resource's subscribers need. */
export function desiredMetadata({ subscribers }: WatchedResource): DesiredMetadata {
  const isOwned = subscribers.some(({ as }) => as === 'owned');
  const labels = subscribers.flatMap((subscriber) => {
    const selected = expressionsOf(subscriber).map(({ key }) => key);
    return subscriber.label === undefined ? selected : [subscriber.label, ...selected];
  });
  const selecting = subscribers.flatMap(({ annotations = [] }) => annotations);
  const comparesGeneration = subscribers.some(({ predicate }) => predicate === 'generation');
  return {
    labels: [...new Set([...labels, ...(isOwned ? [controllerLabel, ownerUidLabel] : [])])],
    annotations: [
      ...(isOwned ? [ownerAnnotation] : []),
      ...selecting,
      ...(comparesGeneration ? [reconcileRequestedAnnotation, pausedAnnotation] : []),
    ],
    ...(subscribers.some(({ predicate }) => predicate === 'metadata') ? { digest: true } : {}),
  };
}

/** Reduces an object's metadata to what is remembered. */
export function toTrackedObject({ subscribers }: WatchedResource, metadata: PartialObjectMetadata): TrackedObject {
  const references = subscribers.flatMap((subscriber, index) => {
    const stray: Pick<Reference, 'isStray'> = isUnlabelled(subscriber, metadata) ? { isStray: true } : {};
    const near = [...primaryNames(subscriber, metadata)].map(
      (name): Reference => ({ subscriber: index, name, ...stray }),
    );
    const far = ownerElsewhere(subscriber, metadata);
    return far === undefined ? near : [...near, { subscriber: index, ...far }];
  });
  return {
    uid: metadata.uid,
    resourceVersion: metadata.resourceVersion,
    generation: metadata.generation,
    deleting: metadata.deleting,
    paused: metadata.annotations?.[pausedAnnotation] === 'true',
    requestedAt: shortened(metadata.annotations?.[reconcileRequestedAnnotation]),
    ...(metadata.digest === undefined ? {} : { digest: metadata.digest }),
    // Copied to its exact length: an array that grew has room for 16 more, which would be a third of the memory per
    // object.
    references: references.length === 0 ? noReferences : references.slice(),
  };
}

/**
 * Returns whether an object's own key is forwarded: for a primary, and for a watched kind that the controller maps to
 * keys.
 */
export function forwardsOwnKey({ as, label }: Subscriber): boolean {
  return as === 'primary' || (as === 'watched' && label === undefined);
}

/** Returns whether the watcher itself selects by labels or annotations, which the watch does not. */
export function selectsByMetadata({ matchLabels, matchExpressions, annotations }: Subscriber): boolean {
  return matchLabels !== undefined || matchExpressions !== undefined || annotations !== undefined;
}

/** Creates an empty store. */
export function createTrackedObjects(): TrackedObjects {
  let current: Objects = new Map();
  /** The objects that an unfinished list has not shown yet. An object is either here or in `current`. */
  let unlisted: Objects = new Map();

  return {
    get: (key) => find(current, key) ?? find(unlisted, key),
    put: (key, object) => {
      remove(unlisted, key);
      insert(current, key, object);
    },
    delete: (key) => {
      remove(current, key);
      remove(unlisted, key);
    },
    beginListing: () => {
      // A list that failed half-way left objects in both.
      for (const [key, object] of each(unlisted)) insert(current, key, object);
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

/** The API server allows 256 KiB of annotations: a thousand objects of one author would fill the watcher's memory. */
const maxCharacters = 64;

function shortened(text: string | undefined): string | undefined {
  return text === undefined || text.length <= maxCharacters ? text : hashOf(text);
}

/** A name in an owner reference or an annotation has no limit in the API. No message can have a longer one. */
function canBeKey(name: string): boolean {
  return name.length <= maxNameCharacters && isPathSegment(name);
}

/** The names of the primaries that an object refers to. Names that cannot stand in a URL path are left out. */
function primaryNames(subscriber: Subscriber, metadata: PartialObjectMetadata): ReadonlySet<string> {
  const names = new Set<string>();
  const { primary, label, matchLabels, matchExpressions, annotations = [] } = subscriber;
  if (!isSelected({ matchLabels, matchExpressions, annotations }, { metadata })) return names;
  // The object's own name shows that it is selected.
  if (forwardsOwnKey(subscriber) && selectsByMetadata(subscriber)) return names.add(metadata.name);
  // A cluster-scoped object cannot refer to a namespaced primary: the namespace is unknown.
  if (forwardsOwnKey(subscriber) || (primary.namespaced && metadata.namespace === undefined)) return names;
  if (subscriber.as === 'watched') {
    const name = label === undefined ? undefined : metadata.labels?.[label];
    if (name !== undefined && canBeKey(name)) names.add(name);
    return names;
  }
  const owner = controllingOwner(subscriber, metadata);
  if (owner !== undefined && canBeKey(owner.name)) names.add(owner.name);
  // The controller that created an object is notified even after the object was handed over to another owner.
  if (metadata.labels?.[controllerLabel] === childLabelOf(subscriber)) {
    const creator = annotatedOwner(metadata, primary.namespaced);
    if (creator !== undefined) names.add(creator);
  }
  return names;
}

/** Returns whether an object has an owner of the primary kind, and not the labels by which a reconcile finds it. */
function isUnlabelled(subscriber: Subscriber, metadata: PartialObjectMetadata): boolean {
  if (subscriber.as !== 'owned') return false;
  const owner = controllingOwner(subscriber, metadata);
  const { labels } = metadata;
  if (owner === undefined) return false;
  return labels?.[controllerLabel] !== childLabelOf(subscriber) || labels[ownerUidLabel] !== owner.uid;
}

function childLabelOf({ childLabel, controller }: Subscriber): string {
  return childLabel ?? controller;
}

function controllingOwner({ primary }: Subscriber, { owners }: PartialObjectMetadata): OwnerReference | undefined {
  const owner = owners.find(({ controller }) => controller);
  return owner !== undefined && isOfKind(primary, owner) ? owner : undefined;
}

/** Compares group and kind, not the version: the version in an owner reference may no longer be served. */
function isOfKind({ group, kind }: Subscriber['primary'], { apiVersion, kind: ownerKind }: OwnerReference): boolean {
  const slash = apiVersion.indexOf('/');
  return ownerKind === kind && (slash === -1 ? '' : apiVersion.slice(0, slash)) === group;
}

/**
 * The owner in our annotation: `namespace/name` in the object's own namespace, or `name` for a cluster-scoped owner.
 */
function annotatedOwner({ annotations, namespace }: PartialObjectMetadata, namespaced: boolean): string | undefined {
  const text = annotations?.[ownerAnnotation];
  if (text === undefined) return undefined;
  const prefix = namespaced ? `${namespace}/` : '';
  const name = text.startsWith(prefix) ? text.slice(prefix.length) : '';
  return canBeKey(name) ? name : undefined;
}

/** The owner in our annotation, of a child that may be outside of the namespace of its owner, and is. */
function ownerElsewhere(subscriber: Subscriber, { annotations, labels, namespace }: PartialObjectMetadata) {
  if (subscriber.inAnyNamespace === undefined || labels?.[controllerLabel] !== childLabelOf(subscriber))
    return undefined;
  const [place = '', name = '', ...rest] = annotations?.[ownerAnnotation]?.split('/') ?? [];
  const isKey = rest.length === 0 && canBeKey(place) && canBeKey(name);
  return isKey && place !== namespace ? { name, namespace: place } : undefined;
}

function find(objects: Objects, { namespace = '', name }: Key): TrackedObject | undefined {
  return objects.get(namespace)?.get(name);
}

function insert(objects: Objects, { namespace = '', name }: Key, object: TrackedObject): void {
  const byName = objects.get(namespace);
  if (byName === undefined) objects.set(namespace, new Map([[name, object]]));
  else byName.set(name, object);
}

function remove(objects: Objects, { namespace = '', name }: Key): void {
  const byName = objects.get(namespace);
  if (byName?.delete(name) === true && byName.size === 0) objects.delete(namespace);
}

function* each(objects: Objects): IterableIterator<readonly [Key, TrackedObject]> {
  for (const [namespace, byName] of objects) {
    for (const [name, object] of byName) yield [namespace === '' ? { name } : { namespace, name }, object];
  }
}

function count(objects: Objects): number {
  let sum = 0;
  for (const byName of objects.values()) sum += byName.size;
  return sum;
}
