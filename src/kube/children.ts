// The children of one owner and kind, as a whole set: what is missing is created, what differs is applied, what is no longer
// wanted is deleted. Whatever does not carry our owner's uid as its controller reference is never touched, whoever made it.
//
// Guarantees: a converged set costs one list and no write. Running twice, or dying half-way and running again, ends in the
// same place. Assumptions: children live in the owner's namespace, or the owner is cluster-scoped.
import type { ChildChange } from '../core/children.ts';
import { NotOwnedError } from '../core/errors.ts';
import { controllerLabel, fieldManagerOf, ownerUidLabel } from '../core/names.ts';
import { applyObject } from './apply/apply.ts';
import { type ChildKind, childObject, type DesiredChild, isOwned, keyOf, uidOf } from './apply/child-object.ts';
import type { KubeClient } from './client/client.ts';
import { type ApiError, isConflict, isInvalidAt, isInvalidInList, isNotFound } from './client/errors.ts';
import { ownedBy } from './apply/managed-fields.ts';
import type { KubeObject, ResourceName } from './client/object.ts';
import { objectPath } from './client/path.ts';
import { getObject, listPages } from './client/read.ts';
import { sameOwned } from './same-owned.ts';
import { listsOf, replaceLists, straysOf } from './apply/replace-lists.ts';

/** Whose children, of which kind, and which. */
export interface ChildrenRequest extends ChildKind {
  /** Says which children there should be; it is handed those that there are. */
  readonly desired: readonly DesiredChild[] | ((existing: readonly KubeObject[]) => readonly DesiredChild[]);
  /** Deletes what we own and is not desired. */
  readonly prune: boolean;
  /** Whether the controller may delete this kind at all (RBAC); without it nothing is pruned. */
  readonly deleteAllowed: boolean;
  /** Dotted paths of lists that are ours alone: what others put there is taken out. */
  readonly whole?: readonly string[];
  /** Told of every write that changed something. */
  readonly onChange?: ((change: ChildChange<KubeObject>) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The set afterwards. */
export interface ChildrenResult {
  /** The live children, in the order of `desired`. */
  readonly objects: readonly KubeObject[];
  /** Creations, changes and deletions that were made. */
  readonly writes: number;
  /** Applies that changed nothing: the comparison missed that there was no difference. */
  readonly noops: number;
}

/** How often a child is read again after it turned out to be another one than the one that was read. */
const TRIES = 3;

/**
 * Makes the owner's children of one kind exactly the desired ones. Throws NotOwnedError, after the others are done, for
 * names that are taken by what is not ours (an orphan included), and a TypeError for a set that cannot be.
 */
export async function applyChildren(client: KubeClient, request: ChildrenRequest): Promise<ChildrenResult> {
  const { owner, desired, onChange, signal } = request;
  const existing = await listOwned(client, request);
  const given = typeof desired === 'function' ? desired([...existing.values()].filter(isOurs(owner))) : desired;
  const wanted = given.map((child) => childObject(request, child));
  const names = new Set(wanted.map(({ metadata }) => keyOf(metadata)));
  if (names.size < wanted.length)
    throw new TypeError(`two desired children of kind ${request.kind} have the same name`);
  const objects: KubeObject[] = [];
  const refused: string[] = [];
  let writes = 0;
  let noops = 0;
  for (const child of wanted) {
    const outcome = await place(client, request, child, existing.get(keyOf(child.metadata)));
    if (outcome === 'not ours') {
      refused.push(`${request.kind} ${keyOf(child.metadata)}`);
      continue;
    }
    objects.push(outcome.live);
    if (outcome.write === 'noop') noops += 1;
    if (outcome.write !== 'changed') continue;
    writes += 1;
    const { live: after, before } = outcome;
    onChange?.(before === undefined ? { type: 'created', child: after } : { type: 'changed', child: after, before });
  }
  if (request.prune && request.deleteAllowed) {
    for (const [name, live] of existing) {
      if (names.has(name) || !isOwned(owner, live) || live.metadata.deletionTimestamp !== undefined) continue;
      if (!(await deleteObject(client, request.resource, live, signal))) continue;
      writes += 1;
      onChange?.({ type: 'deleted', child: live });
    }
  }
  if (refused.length > 0) throw new NotOwnedError(refused, objects);
  return { objects, writes, noops };
}

/** With the labels of ours, and truly ours: labels can be copied. */
function isOurs(owner: KubeObject): (live: KubeObject) => boolean {
  return (live) => isOwned(owner, live);
}

type Placed = {
  readonly live: KubeObject;
  readonly write: 'none' | 'noop' | 'changed';
  /** As it was read before the write; undefined for one that was created. */
  readonly before?: KubeObject | undefined;
};

async function place(
  client: KubeClient,
  request: ChildrenRequest,
  child: KubeObject,
  listed: KubeObject | undefined,
): Promise<Placed | 'not ours'> {
  const { owner, controllerName, resource, signal } = request;
  const fieldManager = fieldManagerOf(controllerName);
  let whole = request.whole ?? [];
  let live = listed;
  for (let attempt = 1; ; attempt += 1) {
    // Not among ours by label: it may be missing, ours with its labels gone, or somebody else's.
    live ??= await getObject(client, resource, child.metadata, { signal });
    if (live !== undefined && !isOwned(owner, live)) return 'not ours';
    // What is being deleted cannot be kept by writing to it; its end will wake the owner.
    if (live?.metadata.deletionTimestamp !== undefined) return { live, write: 'none' };
    const strays = live === undefined ? [] : straysOf(live, child, whole);
    if (live !== undefined && strays.length === 0 && sameOwned(child, ownedBy(live, fieldManager))) {
      return { live, write: 'none' };
    }
    try {
      if (live !== undefined && strays.length > 0) {
        await replaceLists(client, resource, { live, child }, strays, { fieldManager, signal });
      }
      // The uid keeps an apply from creating anew what has gone meanwhile. A creation is not forced: should somebody else's
      // object appear just now, theirs is the older right.
      const object = live === undefined ? child : { ...child, metadata: { ...child.metadata, uid: live.metadata.uid } };
      const after = await applyObject(client, resource, object, { fieldManager, force: live !== undefined, signal });
      const unchanged = after.metadata.resourceVersion === live?.metadata.resourceVersion;
      return { live: after, write: unchanged ? 'noop' : 'changed', before: live };
    } catch (error) {
      // What others put beside ours may be why ours is refused: a port of another number under our port's name, say.
      const refusedIn = listsOf(child).filter((list) => !whole.includes(list) && isInvalidInList(error, list));
      const isContested = live !== undefined && straysOf(live, child, refusedIn).length > 0;
      if (attempt === TRIES || !(isContested || isOtherObject(error))) throw error;
      if (isContested) whole = [...whole, ...refusedIn];
      live = undefined;
    }
  }
}

/** A uid or a controller that differs: not the object that was read. */
function isOtherObject(error: unknown): error is ApiError {
  if (isConflict(error) || isNotFound(error)) return true;
  return isInvalidAt(error, 'metadata.uid') || isInvalidAt(error, 'metadata.ownerReferences');
}

async function listOwned(
  client: KubeClient,
  { owner, controllerName, resource, signal }: ChildrenRequest,
): Promise<Map<string, KubeObject>> {
  const owned = new Map<string, KubeObject>();
  const labelSelector = `${controllerLabel}=${controllerName},${ownerUidLabel}=${uidOf(owner)}`;
  for await (const page of listPages(client, resource, {
    namespace: owner.metadata.namespace,
    labelSelector,
    signal,
  })) {
    for (const item of page.items) owned.set(keyOf(item.metadata), item);
  }
  return owned;
}

async function deleteObject(
  client: KubeClient,
  resource: ResourceName,
  live: KubeObject,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  try {
    await client.request({
      method: 'DELETE',
      path: objectPath(resource, live.metadata),
      body: {
        apiVersion: 'v1',
        kind: 'DeleteOptions',
        propagationPolicy: 'Background',
        preconditions: { uid: live.metadata.uid },
      },
      signal,
    });
    return true;
  } catch (error) {
    // Gone already, or replaced by one that is not the one we meant.
    if (isNotFound(error) || isConflict(error)) return false;
    throw error;
  }
}
