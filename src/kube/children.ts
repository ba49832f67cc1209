// The children of one owner and kind, as a whole set: what is missing is created, what differs is applied, what is no longer
// wanted is deleted. Whatever does not carry our owner's uid as its controller reference is never touched, whoever made it.
//
// Guarantees: a converged set costs one list and no write. Running twice, or dying half-way and running again, ends in the
// same place. Assumptions: children live in the owner's namespace, or the owner is cluster-scoped.
import { NotOwnedError } from '../core/errors.ts';
import { formatKey } from '../core/key.ts';
import { controllerLabel, fieldManagerOf, ownerAnnotation, ownerUidLabel } from '../core/words.ts';
import { applyObject } from './apply.ts';
import type { KubeClient } from './client.ts';
import { type ApiError, isConflict, isInvalidAt, isNotFound } from './errors.ts';
import { ownedBy } from './managed-fields.ts';
import type { KubeObject, OwnerReference, ResourceName } from './object.ts';
import { objectPath } from './path.ts';
import { getObject, listPages } from './read.ts';
import { isRecord } from './record.ts';
import { sameOwned } from './same-owned.ts';

/** A wanted child: its name, labels and annotations, and whatever of it is ours to say. */
export interface DesiredChild {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string | undefined;
    readonly labels?: Readonly<Record<string, string>> | undefined;
    readonly annotations?: Readonly<Record<string, string>> | undefined;
  };
  readonly [field: string]: unknown;
}

/** Whose children, of which kind, and which. */
export interface ChildrenRequest {
  /** The owner as it was read: apiVersion, kind, name and uid are needed. */
  readonly owner: KubeObject;
  readonly controllerName: string;
  readonly resource: ResourceName;
  readonly apiVersion: string;
  readonly kind: string;
  readonly desired: readonly DesiredChild[];
  /** Deletes what we own and is not desired. */
  readonly prune: boolean;
  /** Whether the controller may delete this kind at all (RBAC); without it nothing is pruned. */
  readonly deleteAllowed: boolean;
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
  const { owner, desired, signal } = request;
  const wanted = desired.map((child) => fullChild(request, child));
  const names = new Set(wanted.map(({ metadata }) => keyOf(metadata)));
  if (names.size < wanted.length)
    throw new TypeError(`two desired children of kind ${request.kind} have the same name`);
  const existing = await listOwned(client, request);
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
    if (outcome.write === 'changed') writes += 1;
    if (outcome.write === 'noop') noops += 1;
  }
  if (request.prune && request.deleteAllowed) {
    for (const [name, live] of existing) {
      if (names.has(name) || !isOwned(owner, live) || live.metadata.deletionTimestamp !== undefined) continue;
      if (await deleteObject(client, request.resource, live, signal)) writes += 1;
    }
  }
  if (refused.length > 0) throw new NotOwnedError(refused, objects);
  return { objects, writes, noops };
}

type Placed = { readonly live: KubeObject; readonly write: 'none' | 'noop' | 'changed' };

async function place(
  client: KubeClient,
  request: ChildrenRequest,
  child: KubeObject,
  listed: KubeObject | undefined,
): Promise<Placed | 'not ours'> {
  const { owner, controllerName, resource, signal } = request;
  const fieldManager = fieldManagerOf(controllerName);
  let live = listed;
  for (let attempt = 1; ; attempt += 1) {
    // Not among ours by label: it may be missing, ours with its labels gone, or somebody else's.
    live ??= await getObject(client, resource, child.metadata, { signal });
    if (live !== undefined && !isOwned(owner, live)) return 'not ours';
    // What is being deleted cannot be kept by writing to it; its end will wake the owner.
    if (live?.metadata.deletionTimestamp !== undefined) return { live, write: 'none' };
    if (live !== undefined && sameOwned(child, ownedBy(live, fieldManager))) return { live, write: 'none' };
    try {
      // The uid keeps an apply from creating anew what has gone meanwhile. A creation is not forced: should somebody else's
      // object appear just now, theirs is the older right.
      const object = live === undefined ? child : { ...child, metadata: { ...child.metadata, uid: live.metadata.uid } };
      const after = await applyObject(client, resource, object, { fieldManager, force: live !== undefined, signal });
      const unchanged = after.metadata.resourceVersion === live?.metadata.resourceVersion;
      return { live: after, write: unchanged ? 'noop' : 'changed' };
    } catch (error) {
      if (attempt === TRIES || !isOtherObject(error)) throw error;
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

function fullChild(request: ChildrenRequest, desired: DesiredChild): KubeObject {
  const { owner, controllerName, resource, apiVersion, kind } = request;
  const { name, labels, annotations } = desired.metadata;
  const home = owner.metadata.namespace;
  const namespace = desired.metadata.namespace ?? home;
  if (
    resource.namespaced ? namespace === undefined || (home !== undefined && namespace !== home) : home !== undefined
  ) {
    throw new TypeError(
      `${kind} ${name} cannot be a child of ${keyOf(owner.metadata)}: it would live outside its namespace`,
    );
  }
  return {
    ...withoutNulls(desired),
    apiVersion,
    kind,
    metadata: {
      name,
      ...(resource.namespaced ? { namespace } : {}),
      labels: { ...labels, [controllerLabel]: controllerName, [ownerUidLabel]: uidOf(owner) },
      annotations: { ...annotations, [ownerAnnotation]: keyOf(owner.metadata) },
      ownerReferences: [ownerReference(owner)],
    },
  };
}

/** The API turns a null into whatever it likes (an empty text in a ConfigMap), so "nothing" is said by leaving it out. */
function withoutNulls(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const kept = Object.entries(fields).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(kept.map(([name, value]) => [name, withoutNullsInside(value)]));
}

function withoutNullsInside(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNullsInside);
  return isRecord(value) ? withoutNulls(value) : value;
}

function ownerReference(owner: KubeObject): OwnerReference {
  const { apiVersion, kind } = owner;
  if (apiVersion === undefined || kind === undefined) throw new TypeError('an owner without apiVersion or kind');
  return { apiVersion, kind, name: owner.metadata.name, uid: uidOf(owner), controller: true, blockOwnerDeletion: true };
}

function isOwned(owner: KubeObject, live: KubeObject): boolean {
  return live.metadata.ownerReferences?.find((one) => one.controller === true)?.uid === uidOf(owner);
}

function uidOf({ metadata }: KubeObject): string {
  if (metadata.uid === undefined)
    throw new TypeError(`${metadata.name} has no uid: an owner is an object that was read`);
  return metadata.uid;
}

function keyOf({ name, namespace }: { readonly name: string; readonly namespace?: string | undefined }): string {
  return formatKey(namespace === undefined ? { name } : { name, namespace });
}
