// The requests of one child. Only a forced apply changes a value; who owns what is edited before it, in one merge patch
// of metadata.managedFields, so that the server's own rules end where the controller says. No state in between is
// wrong, and a patch that did not help is undone.
//
// Guarantees: a child that is as desired costs no request, a change one. A conflict is read again. An immutable field
// is never changed by a deletion, unless `recreate` says so.
import { isBuiltInGroup } from '../../core/kind-names.ts';
import { fieldManagerOf } from '../../core/names.ts';
import type { KubeClient } from '../client/client.ts';
import {
  ApiError,
  isAlreadyExists,
  isConflict,
  isFieldManagerConflict,
  isInvalid,
  isInvalidAt,
  isNotFound,
} from '../client/errors.ts';
import { type KubeObject, parseWritten } from '../client/object.ts';
import { collectionPath, objectPath } from '../client/path.ts';
import { getObject } from '../client/read.ts';
import { applyObject, noVersion } from './apply.ts';
import { type ChildKind, childObject } from './child-object.ts';
import { deleteChild } from './delete-child.ts';
import { emptiedFields, removeFields } from './emptied.ts';
import { namesOf } from './exact-paths.ts';
import { typedFieldsOf } from './field-types.ts';
import { isKnownApply, rememberApply } from './known-applies.ts';
import { type FieldOfManager, ownedFields } from './managed-fields.ts';
import { isAdoptable, isChild, isIntact, withOwnFields } from './owned-children.ts';
import { desiredFields, ownedDifference } from './owned-equal.ts';
import { type Claim, type ManagedFields, Ownership } from './ownership.ts';
import { ChildDeletedError, withAdvice } from './refusal.ts';
import { claimsAfter } from './refused-fields.ts';

/** How a child is applied. */
export type ChildOptions = {
  /** Dotted paths that the controller owns completely: what others add there is removed. */
  readonly exact?: readonly string[] | undefined;
  /** Deletes a child whose immutable field changed, so that the next reconcile creates it again. */
  readonly recreate?: boolean | undefined;
  /** Also takes an object that nothing controls (isAdoptable). */
  readonly adopt?: boolean | undefined;
  /** Also sends an apply that changed nothing before: a webhook or a newer API server may do more with it. */
  readonly isThorough?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
};

/** What became of a child. */
export type ChildOutcome = {
  readonly object: KubeObject;
  readonly write: 'none' | 'noop' | 'changed';
  /** The child as it was read before the write. Undefined for a created child. */
  readonly before?: KubeObject | undefined;
  /** The first field in which the child differed, if it was written. */
  readonly difference?: string | undefined;
  /** Fields of others that the write has removed. */
  readonly removed: readonly FieldOfManager[];
};

/** Tries for a child that was replaced by another object since it was read, or changed before its managedFields. */
const maxReads = 3;
/** Rounds for a child of which others own a part: the server names no more than the first contradiction of a kind. */
const maxClaims = 5;

/** Applies one child, which was listed or is read. Throws the error of the server, and a ChildDeletedError. */
export async function applyChild(
  client: KubeClient,
  request: ChildKind & ChildOptions,
  child: KubeObject,
  listed: KubeObject | undefined,
): Promise<ChildOutcome | 'not owned'> {
  const { resource, signal } = request;
  const write = new ChildWrite(client, request, child);
  let live = listed;
  let reads = 1;
  let claims = 0;
  for (;;) {
    // It was not listed by its labels: it may be missing, a child that lost its labels, or not a child.
    live ??= await getObject(client, resource, child.metadata, { signal });
    if (live !== undefined && !(await isChild(request, live)))
      if (request.adopt !== true || !isAdoptable(request, live)) return 'not owned';
    // A write cannot stop a deletion. The end of the deletion triggers a reconcile of the owner.
    if (live?.metadata.deletionTimestamp !== undefined) return write.outcome(live);
    try {
      if (live !== undefined && !isIntact(request, live)) live = await write.takeBack(live);
      const after: KubeObject = live === undefined ? await write.create() : await write.update(live);
      if (live === undefined || claims === maxClaims || !write.isContested(after)) return write.outcome(after);
      claims += 1;
      live = after;
    } catch (error) {
      const isOther = isOtherObject(error);
      if (isOther ? reads === maxReads : claims === maxClaims) throw await write.failure(error);
      live = isOther ? undefined : await write.claim(error);
      if (isOther) reads += 1;
      else claims += 1;
    }
  }
}

/** The writes of one child, and what they have changed so far. */
class ChildWrite {
  readonly #client: KubeClient;
  readonly #request: ChildKind & ChildOptions;
  readonly #child: KubeObject;
  readonly #fieldManager: string;
  readonly #isBuiltIn: boolean;
  /** What was claimed after refusals. */
  #claims: readonly Claim[] = [];
  /** The object before the first claim, for its managedFields. */
  #undo: ManagedFields | undefined;
  #first: KubeObject | undefined;
  #live: KubeObject | undefined;
  #difference: string | undefined;
  #isWritten = false;
  readonly #removed: FieldOfManager[] = [];

  constructor(client: KubeClient, request: ChildKind & ChildOptions, child: KubeObject) {
    this.#client = client;
    this.#request = request;
    this.#child = child;
    this.#fieldManager = fieldManagerOf(request.controllerName, request.project);
    this.#isBuiltIn = isBuiltInGroup(request.resource.group);
  }

  /**
   * Creates the child. The version prevents that the creation is merged into an object that another client created
   * since the read, which would be adopted.
   */
  async create(): Promise<KubeObject> {
    this.#first = undefined;
    const after = await this.#apply(this.#child, { resourceVersion: noVersion }, false);
    this.#remember(after);
    return after;
  }

  /**
   * Gives an adopted object, or a child that has lost them, the labels and the controller reference, with what the
   * controller owns of it and nothing else: the admission policy lets the controller write no child that stays without
   * them, so this is before all else. The version keeps it from taking what another controller has taken since.
   */
  async takeBack(live: KubeObject): Promise<KubeObject> {
    const { name, namespace } = live.metadata;
    const own = withOwnFields(this.#request, live) ?? { metadata: { name, namespace } };
    this.#first = live;
    const { uid, resourceVersion } = live.metadata;
    return await this.#apply(childObject(this.#request, own), { uid, resourceVersion }, true);
  }

  /** Writes what differs from a live child. */
  async update(live: KubeObject): Promise<KubeObject> {
    if (this.#first?.metadata.uid !== live.metadata.uid) this.#first = live;
    // Another client has written since: what it owns now is not in the entries from before.
    if (this.#live?.metadata.resourceVersion !== live.metadata.resourceVersion) this.#undo = undefined;
    this.#live = live;
    const desired = desiredFields(this.#child);
    const ownership = new Ownership(live, this.#fieldManager);
    for (const path of this.#request.exact ?? []) ownership.claim({ path: namesOf(path), withUnowned: false }, desired);
    for (const claim of this.#claims) ownership.claim(claim, desired);
    const difference = this.#differenceFrom(live);
    if (difference === undefined && !ownership.isChanged) return live;
    this.#difference ??= difference;
    ownership.stripDropped(desired);
    if (ownership.isChanged) await this.#own(live, ownership);
    if (!this.#isBuiltIn) await this.#empty();
    // The uid prevents that the apply recreates an object that was deleted since the read.
    const after = await this.#apply(this.#child, { uid: live.metadata.uid }, true);
    this.#remember(after);
    return after;
  }

  /**
   * Whether others own a part of an exact path, which an apply that made the first entry of the controller has left.
   */
  isContested(after: KubeObject): boolean {
    const { exact = [] } = this.#request;
    if (exact.length === 0) return false;
    const ownership = new Ownership(after, this.#fieldManager);
    return exact.some((path) => ownership.claim({ path: namesOf(path), withUnowned: false }, {}));
  }

  /** Claims what the server's refusal names, for the next update. Throws the error if there is nothing to claim. */
  async claim(error: unknown): Promise<KubeObject> {
    let live = this.#live;
    if (live === undefined || !isInvalid(error)) throw await this.failure(error);
    // Without an entry of its own the controller cannot own more. Then others have set all values.
    if (!new Ownership(live, this.#fieldManager).hasOwnEntry) {
      const { apiVersion, kind, metadata } = this.#child;
      live = await this.#apply({ apiVersion, kind, metadata }, { uid: live.metadata.uid }, true);
      this.#live = live;
    }
    const claims = claimsAfter(error, live, this.#child, this.#fieldManager);
    if (claims.length === 0) throw await this.failure(error);
    this.#claims = [...this.#claims, ...claims];
    return live;
  }

  /** Gives back what was claimed for a write that the server refuses all the same. Returns the error to throw. */
  async failure(error: unknown): Promise<unknown> {
    const live = this.#live;
    if (live === undefined || !(error instanceof ApiError)) return error;
    if (this.#undo !== undefined) {
      try {
        this.#live = await this.#patchManagedFields(live, this.#undo);
      } catch (failed) {
        // Another client has written since. What is claimed goes with the next apply that is accepted.
        if (!(failed instanceof ApiError)) throw failed;
      }
    }
    if (!isInvalid(error)) return error;
    if (this.#request.recreate === true && (await this.#isCreatable())) {
      const { uid, resourceVersion } = this.#live?.metadata ?? {};
      await deleteChild(this.#client, this.#request, live, { uid, resourceVersion });
      return new ChildDeletedError(live, error);
    }
    return withAdvice(error);
  }

  outcome(object: KubeObject): ChildOutcome {
    const before = this.#first;
    const isSame = before?.metadata.resourceVersion === object.metadata.resourceVersion;
    const write = this.#isWritten ? (isSame ? 'noop' : 'changed') : 'none';
    return { object, write, before, difference: this.#difference, removed: this.#removed };
  }

  /** Returns the first field that differs from what the controller owns. Undefined also for a known apply. */
  #differenceFrom(live: KubeObject): string | undefined {
    const owned = ownedFields(live, this.#fieldManager);
    const types = this.#isBuiltIn ? typedFieldsOf(this.#request.kind) : undefined;
    const difference = ownedDifference(this.#child, owned, { isBuiltIn: this.#isBuiltIn, types, live });
    if (difference === undefined || owned === undefined || this.#request.isThorough === true) return difference;
    return isKnownApply(this.#key(), owned) ? undefined : difference;
  }

  #remember(after: KubeObject): void {
    rememberApply(this.#key(), ownedFields(after, this.#fieldManager));
  }

  #key() {
    return { cluster: this.#request.cluster, fieldManager: this.#fieldManager, desired: this.#child };
  }

  async #own(live: KubeObject, ownership: Ownership): Promise<void> {
    const entries = ownership.entries();
    // The server clears all entries for an empty list.
    if (entries.length === 0) return;
    this.#live = await this.#patchManagedFields(live, entries);
    if (this.#claims.length > 0) this.#undo ??= live.metadata.managedFields;
    this.#removed.push(...ownership.removed);
  }

  /** Removes what the controller owns in maps and lists that are desired empty: they would be stored as null. */
  async #empty(): Promise<void> {
    const live = this.#live;
    if (live === undefined) return;
    const pointers = emptiedFields(desiredFields(this.#child), live, { fieldManager: this.#fieldManager });
    if (pointers.length === 0) return;
    const { resource, signal } = this.#request;
    const options = { fieldManager: this.#fieldManager, signal };
    this.#live = await removeFields(
      this.#client,
      objectPath(resource, live.metadata),
      live.metadata,
      pointers,
      options,
    );
    this.#isWritten = true;
  }

  async #patchManagedFields(live: KubeObject, managedFields: ManagedFields): Promise<KubeObject> {
    const { resource, signal } = this.#request;
    const { resourceVersion, uid } = live.metadata;
    const path = objectPath(resource, live.metadata);
    const { body } = await this.#client.request({
      method: 'PATCH',
      path,
      query: { fieldManager: this.#fieldManager },
      contentType: 'application/merge-patch+json',
      body: { metadata: { resourceVersion, managedFields } },
      signal,
    });
    this.#isWritten = true;
    return parseWritten(body, `PATCH ${path}`, uid);
  }

  async #apply(
    object: KubeObject,
    guard: { readonly uid?: string | undefined; readonly resourceVersion?: string | undefined },
    force: boolean,
  ): Promise<KubeObject> {
    const guarded = { ...object, metadata: { ...object.metadata, ...guard } };
    const options = { fieldManager: this.#fieldManager, force, signal: this.#request.signal };
    const after = await applyObject(this.#client, this.#request.resource, guarded, options);
    this.#isWritten = true;
    return after;
  }

  /**
   * Returns whether the server would create the child as it is desired, so that only the change is refused: a creation
   * is validated before its name is found to be taken.
   */
  async #isCreatable(): Promise<boolean> {
    const { resource, signal } = this.#request;
    try {
      await this.#client.request({
        method: 'POST',
        path: collectionPath(resource, this.#child.metadata.namespace),
        query: { fieldManager: this.#fieldManager, dryRun: 'All' },
        body: this.#child,
        signal,
      });
    } catch (error) {
      if (isAlreadyExists(error)) return true;
      if (!(error instanceof ApiError)) throw error;
    }
    return false;
  }
}

/** Returns whether the error means that the object was replaced since the read: a different uid or controller. */
function isOtherObject(error: unknown): error is ApiError {
  if (isConflict(error) || isFieldManagerConflict(error) || isNotFound(error)) return true;
  return isInvalidAt(error, 'metadata.uid') || isInvalidAt(error, 'metadata.ownerReferences');
}
