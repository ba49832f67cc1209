// Applies the children of one owner and kind as a set: missing ones are created, different ones are applied, others are
// deleted. An object without the owner's uid in its controller reference is never written.
//
// Guarantees: a converged set costs one list and no write (with `isThorough` two more, of metadata). Running
// twice, or dying half-way and running again, ends in the same place. Assumptions: children live in the owner's
// namespace, or the owner is cluster-scoped.
import { hash } from 'node:crypto';
import type { ChildChange } from '../../api/apply.ts';
import { ChildrenRefusedError, NotOwnedError } from '../../core/errors.ts';
import { isBuiltInGroup } from '../../core/kind-names.ts';
import { controllerLabel, fieldManagerOf } from '../../core/names.ts';
import type { KubeClient } from '../client/client.ts';
import {
  ApiError,
  isConflict,
  isFieldManagerConflict,
  isInvalidAt,
  isInvalidInList,
  isNotFound,
} from '../client/errors.ts';
import type { KubeObject, ResourceName } from '../client/object.ts';
import { objectPath } from '../client/path.ts';
import { getObject } from '../client/read.ts';
import { applyObject, noVersion } from './apply.ts';
import { type ChildKind, childObject, type DesiredChild, isOwned, keyOf } from './child-object.ts';
import { ownedFields, type TakenField, takenFields } from './managed-fields.ts';
import { isLabelled, listOwned } from './owned-children.ts';
import { ownedEqual, replacesNull } from './owned-equal.ts';
import { asRefusal, maxWebhookFailures, maxWebhookSeconds, mayBeOfWebhook } from './refusal.ts';
import { foreignItems, listsOf, replaceLists } from './replace-lists.ts';

/** The owner, the kind of the children, and the desired children. */
export interface ApplyAllRequest extends ChildKind {
  /** The desired children, or a function that returns them for the existing ones: an existing one itself is kept. */
  readonly desired: readonly DesiredChild[] | ((existing: readonly KubeObject[]) => readonly DesiredChild[]);
  /** Deletes children that are not desired. */
  readonly prune: boolean;
  /**
   * Also sends applies that changed nothing before: a webhook or a newer API server may do more with them. With `prune`
   * it also finds the children that have lost the labels of Outrigger, by their controller reference and field manager:
   * it lists the metadata of the objects of the kind that do not have them.
   */
  readonly isThorough?: boolean;
  /** Dotted paths of lists that the controller owns completely: items of other managers are removed. */
  readonly replaceLists?: readonly string[];
  /** Called after every write that changed something. */
  readonly onChange?: ((change: ChildChange<KubeObject>) => void) | undefined;
  /** Called once with what was written, also before applyAll throws. */
  readonly onEnd?: (counts: WriteCounts) => void;
  readonly signal?: AbortSignal | undefined;
}

/** The result of applyAll. */
export type ApplyAllResult = WriteCounts & {
  /** The children as the API server returned them, in the order of `desired`. */
  readonly objects: readonly KubeObject[];
};

/** The writes of a set of children. */
export type WriteCounts = {
  /** Number of creations, updates and deletions. */
  readonly writes: number;
  /** Number of applies that changed nothing, because the comparison reported a difference where there was none. */
  readonly noops: number;
  /** The controllers of the owner, by their label, whose children were changed: two with one name, or a former name. */
  readonly replaced: readonly string[];
  /** Fields that were taken from other field managers: two that set one field overwrite it without end. */
  readonly taken: readonly TakenField[];
};

/** Tries for a child that was replaced by another object since it was read, or whose lists are contested. */
const maxTries = 3;

/**
 * Applies the desired children of an owner and a kind, and prunes the others. A child that the server refuses does not
 * hold up the others: the error is thrown after they are applied, and nothing is deleted. It is that of the server, or
 * for several children a ChildrenRefusedError. Throws a NotOwnedError for names of existing objects that the owner does
 * not control, including orphans, and a TypeError for an invalid set.
 */
export async function applyAll(client: KubeClient, request: ApplyAllRequest): Promise<ApplyAllResult> {
  const counts: MutableCounts = { writes: 0, noops: 0, replaced: [], taken: [] };
  try {
    return { objects: await applySet(client, request, counts), ...counts };
  } finally {
    request.onEnd?.(counts);
  }
}

type MutableCounts = { writes: number; noops: number; replaced: string[]; taken: TakenField[] };

async function applySet(
  client: KubeClient,
  request: ApplyAllRequest,
  counts: MutableCounts,
): Promise<readonly KubeObject[]> {
  const { owner, desired, onChange, signal } = request;
  const existing = await listOwned(client, request);
  // The labels can be copied to other objects, so the controller reference is checked too.
  const owned = [...existing.values()].filter((object) => isOwned(owner, object));
  const given = typeof desired === 'function' ? desired(owned) : desired;
  const children = given.map((child) => childObject(request, child));
  const returned = new Set<object>(given);
  /**
   * Existing children that the function returned: an apply would take all of their fields. One that has lost its labels
   * is applied, because other reconciles do not find it.
   */
  const kept = new Set(
    owned.filter((one) => returned.has(one) && isLabelled(request, one)).map(({ metadata }) => keyOf(metadata)),
  );
  const names = new Set(children.map(({ metadata }) => keyOf(metadata)));
  if (names.size < children.length) {
    const keys = children.map(({ metadata }) => keyOf(metadata));
    const twice = keys.find((key, index) => keys.indexOf(key) !== index);
    throw new TypeError(`two desired children of kind ${request.kind} have the name ${twice}`);
  }
  const objects: KubeObject[] = [];
  const notOwned: string[] = [];
  const refused: Error[] = [];
  let webhookFailures = 0;
  let webhookMs = 0;
  for (const child of children) {
    const live = existing.get(keyOf(child.metadata));
    if (live !== undefined && kept.has(keyOf(child.metadata))) {
      objects.push(live);
      continue;
    }
    const startedAt = performance.now();
    const outcome = await applyChild(client, request, child, live).catch((error: unknown) => asRefusal(error, owner));
    if (outcome instanceof ApiError) {
      refused.push(outcome);
      if (!mayBeOfWebhook(outcome)) continue;
      webhookFailures += 1;
      webhookMs += performance.now() - startedAt;
      if (webhookFailures === maxWebhookFailures || webhookMs >= maxWebhookSeconds * 1000) break;
      continue;
    }
    if (outcome === 'not owned') {
      notOwned.push(`${request.kind} ${keyOf(child.metadata)}`);
      continue;
    }
    objects.push(outcome.object);
    if (outcome.write === 'noop') counts.noops += 1;
    if (outcome.write !== 'changed') continue;
    counts.writes += 1;
    const { object: after, before } = outcome;
    counts.replaced.push(...replacedBy(outcome));
    counts.taken.push(...takenBy(outcome, request));
    onChange?.(before === undefined ? { type: 'created', child: after } : { type: 'updated', child: after, before });
  }
  // The new name of a child may be refused: the child of the old name is all that there is.
  if (request.prune && refused.length === 0 && notOwned.length === 0) {
    for (const [name, live] of existing) {
      if (names.has(name) || !isOwned(owner, live) || live.metadata.deletionTimestamp !== undefined) continue;
      if (!(await deleteObject(client, request.resource, live, signal))) continue;
      counts.writes += 1;
      onChange?.({ type: 'deleted', child: live });
    }
  }
  const errors = notOwned.length === 0 ? refused : [...refused, new NotOwnedError(notOwned)];
  if (refused.length > 0) throw errors.length === 1 ? errors[0] : new ChildrenRefusedError(errors);
  if (notOwned.length > 0) throw new NotOwnedError(notOwned, objects);
  return objects;
}

/**
 * Applies one child of an owner and deletes nothing: one read, and a write if it differs. Throws a NotOwnedError for
 * the name of an existing object that the owner does not control, and a TypeError for an invalid child.
 */
export async function applyOne(
  client: KubeClient,
  request: ChildKind,
  desired: DesiredChild,
  { isThorough = false, signal }: Pick<ApplyAllRequest, 'isThorough' | 'signal'> = {},
): Promise<{ readonly object: KubeObject } & WriteCounts> {
  const child = childObject(request, desired);
  const outcome = await applyChild(client, { ...request, isThorough, signal }, child, undefined);
  if (outcome === 'not owned') throw new NotOwnedError([`${request.kind} ${keyOf(child.metadata)}`], []);
  const { object, write } = outcome;
  const counts = { writes: write === 'changed' ? 1 : 0, noops: write === 'noop' ? 1 : 0 };
  return { object, ...counts, replaced: replacedBy(outcome), taken: takenBy(outcome, request) };
}

/** Returns the controller whose label a write has replaced by its own, if any. */
function replacedBy({ object, before }: ChildOutcome): readonly string[] {
  const label = before?.metadata.labels?.[controllerLabel];
  return label === undefined || label === object.metadata.labels?.[controllerLabel] ? [] : [label];
}

/** Returns the fields that a write has taken from other managers. Those of a replaced controller are in `replaced`. */
function takenBy(outcome: ChildOutcome, { controllerName, project }: ChildKind): readonly TakenField[] {
  const { object, before, write } = outcome;
  if (write !== 'changed' || before === undefined || replacedBy(outcome).length > 0) return [];
  return takenFields(before, object, fieldManagerOf(controllerName, project));
}

type ChildOutcome = {
  readonly object: KubeObject;
  readonly write: 'none' | 'noop' | 'changed';
  /** The child as it was read before the write. Undefined for a created child. */
  readonly before?: KubeObject | undefined;
};

async function applyChild(
  client: KubeClient,
  request: ChildKind & Pick<ApplyAllRequest, 'replaceLists' | 'isThorough' | 'signal'>,
  child: KubeObject,
  listed: KubeObject | undefined,
): Promise<ChildOutcome | 'not owned'> {
  const { owner, controllerName, project, cluster, resource, signal } = request;
  const fieldManager = fieldManagerOf(controllerName, project);
  let replaced: readonly string[] = request.replaceLists ?? [];
  let live = listed;
  for (let attempt = 1; ; attempt += 1) {
    // It was not listed by its labels: it may be missing, a child that lost its labels, or not a child.
    live ??= await getObject(client, resource, child.metadata, { signal });
    if (live !== undefined && !isOwned(owner, live)) return 'not owned';
    // A write cannot stop a deletion. The end of the deletion triggers a reconcile of the owner.
    if (live?.metadata.deletionTimestamp !== undefined) return { object: live, write: 'none' };
    const contested = live === undefined ? [] : foreignItems(live, child, replaced);
    const compared = { isBuiltIn: isBuiltInGroup(resource.group), live };
    const isNullChanged = request.keepsNull === true && (replacesNull(child, live) || replacesNull(live, child));
    const isSame = live !== undefined && !isNullChanged && ownedEqual(child, ownedFields(live, fieldManager), compared);
    const known =
      live === undefined || isSame ? undefined : hash('sha256', JSON.stringify([cluster, fieldManager, child, live]));
    const isNoop = isSame || (request.isThorough !== true && known !== undefined && knownNoops.has(known));
    if (live !== undefined && contested.length === 0 && isNoop) return { object: live, write: 'none' };
    try {
      if (live !== undefined && contested.length > 0) {
        await replaceLists(client, resource, { live, child }, contested, { fieldManager, signal });
      }
      // The uid prevents that the apply recreates an object that was deleted since the read. The version prevents that
      // a creation is merged into an object that another client created since the read, which would be adopted.
      const guard = live === undefined ? { resourceVersion: noVersion } : { uid: live.metadata.uid };
      const object = { ...child, metadata: { ...child.metadata, ...guard } };
      const after = await applyObject(client, resource, object, { fieldManager, force: live !== undefined, signal });
      const unchanged = after.metadata.resourceVersion === live?.metadata.resourceVersion;
      if (unchanged && contested.length === 0 && known !== undefined) rememberNoop(known);
      return { object: after, write: unchanged ? 'noop' : 'changed', before: live };
    } catch (error) {
      // An item of another manager may be the reason for the rejection, such as a port with the same name and another
      // number.
      const invalidLists = listsOf(child).filter((list) => !replaced.includes(list) && isInvalidInList(error, list));
      const isContested = live !== undefined && foreignItems(live, child, invalidLists).length > 0;
      if (attempt === maxTries || !(isContested || isOtherObject(error))) throw error;
      if (isContested) replaced = [...replaced, ...invalidLists];
      live = undefined;
    }
  }
}

/**
 * Applies that changed nothing, as hashes of what was read and what was desired: they would change nothing again, until
 * the API server or a webhook changes. ownedEqual finds some differences where there are none, at each reconcile.
 */
const knownNoops = new Set<string>();
const maxKnownNoops = 10_000;

/** Forgetting costs one apply of each. */
function rememberNoop(known: string): void {
  if (knownNoops.size >= maxKnownNoops) knownNoops.clear();
  knownNoops.add(known);
}

/** Returns whether the error means that the object was replaced since the read: a different uid or controller. */
function isOtherObject(error: unknown): error is ApiError {
  if (isConflict(error) || isFieldManagerConflict(error) || isNotFound(error)) return true;
  return isInvalidAt(error, 'metadata.uid') || isInvalidAt(error, 'metadata.ownerReferences');
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
    if (!isNotFound(error) && !isConflict(error)) throw error;
    // Not every 404 and 409 means that the object is gone: a webhook may refuse the deletion. A read decides.
    const fresh = await getObject(client, resource, live.metadata, { signal });
    const isGone = fresh === undefined || fresh.metadata.uid !== live.metadata.uid;
    if (isGone || fresh.metadata.deletionTimestamp !== undefined) return false;
    throw new Error(`${keyOf(live.metadata)} was not deleted: ${error.message}`, { cause: error });
  }
}
