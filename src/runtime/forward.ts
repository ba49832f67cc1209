// The first decision of the journey: an object changed; whose keys does that concern? Pure, so that every row of the design's
// predicates is a row of a table. What is kept of an object (`Seen`) is exactly what these decisions need: the watcher holds
// one for every object of every watched kind.
import { formatTarget, isPathSegment, type Key, type TargetKey } from '../core/key.ts';
import type { Subscriber, WatchedResource } from '../core/watch-list.ts';
import { controllerLabel, ownerAnnotation, pausedAnnotation, reconcileRequestedAnnotation } from '../core/names.ts';
import type { HeadOwner, ObjectHead, WantedMetadata } from '../kube/watch/partial-metadata.ts';
import type { Source } from '../queue/deduplication.ts';

/** What is kept of an object. */
export type Seen = {
  readonly uid: string;
  readonly resourceVersion: string;
  /** Undefined for kinds without one. */
  readonly generation: number | undefined;
  readonly deleting: boolean;
  readonly paused: boolean;
  readonly requestedAt: string | undefined;
  /** The primaries that the object names: as owners, or by a label. */
  readonly refers: readonly Reference[];
};

/** That an object concerns the primary of this name. In the object's own namespace where the primary's kind has any. */
type Reference = { readonly subscriber: number; readonly name: string };

/** What happened to an object. `version` is that of the deletion, or of the list that no longer had it. */
export type Happening =
  | { readonly type: 'changed'; readonly after: Seen }
  | { readonly type: 'gone'; readonly version: string; readonly last?: Seen };

/** A key to be forwarded, and what it is forwarded for. */
export type Forwarded = { readonly target: TargetKey; readonly source: Source };

/** One array for all objects that refer to nothing. */
const noReferences: readonly Reference[] = Object.freeze([]);

/** Lists the labels and annotations without which a resource's subscribers cannot be served. */
export function wantedOf({ subscribers }: WatchedResource): WantedMetadata {
  const owned = subscribers.some(({ as }) => as === 'owned');
  const labels = subscribers.flatMap(({ label }) => label ?? []);
  const narrow = subscribers.some(({ predicate }) => predicate === 'generation');
  return {
    labels: [...new Set([...labels, ...(owned ? [controllerLabel] : [])])],
    annotations: [
      ...(owned ? [ownerAnnotation] : []),
      ...(narrow ? [reconcileRequestedAnnotation, pausedAnnotation] : []),
    ],
  };
}

/** Cuts a head down to what is kept. */
export function toSeen({ subscribers }: WatchedResource, head: ObjectHead): Seen {
  const refers = subscribers.flatMap((subscriber, index) =>
    [...namesOf(subscriber, head)].map((name): Reference => ({ subscriber: index, name })),
  );
  return {
    uid: head.uid,
    resourceVersion: head.resourceVersion,
    generation: head.generation,
    deleting: head.deleting,
    paused: head.annotations?.[pausedAnnotation] === 'true',
    requestedAt: head.annotations?.[reconcileRequestedAnnotation],
    // Copied to its exact length: an array that grew has room for sixteen more, which would be a third of all that is kept.
    refers: refers.length === 0 ? noReferences : refers.slice(),
  };
}

/**
 * Decides which keys a happening concerns: each once, with its source. Old and new owners are both concerned, and a change
 * of what an object refers to always counts, however narrow the predicate.
 */
export function forward(
  { resource, cluster }: { readonly resource: WatchedResource; readonly cluster: string },
  key: Key,
  before: Seen | undefined,
  happening: Happening,
): readonly Forwarded[] {
  const after = happening.type === 'changed' ? happening.after : happening.last;
  const last = after ?? before;
  if (last === undefined) return [];
  const source: Source =
    happening.type === 'changed'
      ? { uid: last.uid, resourceVersion: last.resourceVersion }
      : { uid: last.uid, resourceVersion: happening.version, gone: true };
  const targets = new Map<string, TargetKey>();
  for (const [index, subscriber] of resource.subscribers.entries()) {
    const old = before === undefined ? [] : concerned(resource, index, key, before);
    const now = after === undefined ? [] : concerned(resource, index, key, after);
    if (happening.type === 'changed' && before !== undefined) {
      if (!isChange(subscriber, before, happening.after) && sameKeys(old, now)) continue;
    }
    for (const each of [...old, ...now]) {
      const target = targetOf({ resource, cluster }, subscriber, each);
      targets.set(formatTarget(target), target);
    }
  }
  return [...targets.values()].map((target) => ({ target, source }));
}

/** Lists every key that an object concerns as it is, whatever changed: for what is sent in bulk. */
export function allTargets(
  { resource, cluster }: { readonly resource: WatchedResource; readonly cluster: string },
  key: Key,
  seen: Seen,
): readonly TargetKey[] {
  const change = forward({ resource, cluster }, key, undefined, { type: 'changed', after: seen });
  return change.map(({ target }) => target);
}

/** Tells whether a change counts for a subscriber (design: predicates). A re-created object has generation 1 again. */
function isChange({ predicate }: Subscriber, before: Seen, after: Seen): boolean {
  if (before.uid !== after.uid) return true;
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

/** The keys that an object concerns for one subscriber. */
function concerned({ subscribers }: WatchedResource, index: number, key: Key, { refers }: Seen): readonly Key[] {
  const subscriber = subscribers[index];
  if (subscriber === undefined) return [];
  if (isItself(subscriber)) return [key];
  const home = subscriber.primary.namespaced && key.namespace !== undefined ? { namespace: key.namespace } : {};
  return refers.filter((one) => one.subscriber === index).map(({ name }) => ({ ...home, name }));
}

/** A primary, and a watched kind that a function of the controller maps, are forwarded as themselves. */
function isItself({ as, label }: Subscriber): boolean {
  return as === 'primary' || (as === 'watched' && label === undefined);
}

function targetOf(
  { resource, cluster }: { readonly resource: WatchedResource; readonly cluster: string },
  subscriber: Subscriber,
  key: Key,
): TargetKey {
  const { group, plural } = isItself(subscriber) ? resource : subscriber.primary;
  return { controller: subscriber.controller, cluster, group, resource: plural, ...key };
}

/** The names of the primaries that an object refers to; nothing that could not be a name in a URL. */
function namesOf(subscriber: Subscriber, head: ObjectHead): ReadonlySet<string> {
  const names = new Set<string>();
  const { primary, label } = subscriber;
  // An object without namespace cannot refer to one that has: whose would it be?
  if (isItself(subscriber) || (primary.namespaced && head.namespace === undefined)) return names;
  if (subscriber.as === 'watched') {
    const name = label === undefined ? undefined : head.labels?.[label];
    if (name !== undefined && isPathSegment(name)) names.add(name);
    return names;
  }
  const owner = head.owners.find(({ controller }) => controller);
  if (owner !== undefined && isOf(primary, owner) && isPathSegment(owner.name)) names.add(owner.name);
  // What we made wakes its maker although it was handed over to another owner.
  if (head.labels?.[controllerLabel] === subscriber.controller) {
    const maker = makerOf(head, primary.namespaced);
    if (maker !== undefined) names.add(maker);
  }
  return names;
}

/** Same kind of the same group, in whatever version: the one that an owner was written with may have been retired. */
function isOf({ group, kind }: Subscriber['primary'], { apiVersion, kind: ownerKind }: HeadOwner): boolean {
  const slash = apiVersion.indexOf('/');
  return ownerKind === kind && (slash === -1 ? '' : apiVersion.slice(0, slash)) === group;
}

/** The maker by our annotation: `namespace/name`, in the object's own namespace, or `name` alone for a cluster-scoped kind. */
function makerOf({ annotations, namespace }: ObjectHead, namespaced: boolean): string | undefined {
  const text = annotations?.[ownerAnnotation];
  if (text === undefined) return undefined;
  const home = namespaced ? `${namespace}/` : '';
  const name = text.startsWith(home) ? text.slice(home.length) : '';
  return isPathSegment(name) ? name : undefined;
}

function sameKeys(a: readonly Key[], b: readonly Key[]): boolean {
  return a.length === b.length && a.every(({ name }, index) => name === b[index]?.name);
}
