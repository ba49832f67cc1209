// Deleting: at once where nothing holds the object; otherwise it is marked, and goes when its last finalizer does.
import type { Json } from '../../../apiserver/json.ts';
import { at, textAt } from '../../../apiserver/json.ts';
import { type ApiObject, withMetadata } from '../../../apiserver/object.ts';
import { collectionOf, collectionSubject, type Resource } from '../../../apiserver/registry/resource.ts';
import { cause, conflict, invalid, notFound } from '../../../apiserver/status-error.ts';
import { findObject, type Target, timestamp, type World } from '../../../apiserver/server-state.ts';

/** What a DeleteOptions says, as far as the server follows it. */
export interface DeleteRequest {
  readonly propagation: 'Background' | 'Foreground' | 'Orphan';
  readonly uid: string;
  readonly resourceVersion: string;
  readonly dryRun: boolean;
}

/** What became of the object: `gone`, or still there with its finalizers. */
export interface DeleteOutcome {
  readonly object: ApiObject;
  readonly gone: boolean;
}

/** Holds an object until its dependants are gone; the collector's. */
export const FOREGROUND = 'foregroundDeletion';
/** Holds an object until its dependants are freed; the collector's. */
export const ORPHAN = 'orphan';

const POLICIES: readonly string[] = ['', 'Background', 'Foreground', 'Orphan'];

/** Reads a DeleteOptions, or what a query says in its place. Throws a 422 StatusError for an unknown policy. */
export function deleteRequest(body: Json | undefined, query: URLSearchParams): DeleteRequest {
  const asked = textAt(body, 'propagationPolicy') || query.get('propagationPolicy') || '';
  const orphans = at(body, 'orphanDependents') === true || query.get('orphanDependents') === 'true';
  const dryRun = JSON.stringify(at(body, 'dryRun') ?? query.getAll('dryRun')).includes('All');
  if (!POLICIES.includes(asked)) {
    const supported = POLICIES.filter(Boolean).map((policy) => JSON.stringify(policy));
    const wrong = cause.notSupported('propagationPolicy', JSON.stringify(asked), supported);
    throw invalid({ group: 'meta.k8s.io', kind: 'DeleteOptions' }, '', [wrong]);
  }
  return {
    propagation: asked === 'Foreground' || asked === 'Orphan' ? asked : orphans ? 'Orphan' : 'Background',
    uid: textAt(body, 'preconditions', 'uid'),
    resourceVersion: textAt(body, 'preconditions', 'resourceVersion'),
    dryRun,
  };
}

/** Deletes an object. Throws StatusErrors: 404, 409 for preconditions. */
export function deleteObject(world: World, target: Target, request: DeleteRequest): DeleteOutcome {
  const { resource, name } = target;
  const live = findObject(world, target);
  if (live === undefined) throw notFound(collectionSubject(resource), name);
  requirePreconditions(live, resource, request);
  const marked = mark(live, resource, request, timestamp(world.now()));
  const held = (marked.metadata.finalizers ?? []).length > 0 || resource.kind === 'Namespace';
  const collection = collectionOf(resource);
  if (!held) return { object: request.dryRun ? live : world.store.remove(collection, live), gone: true };
  if (request.dryRun || marked === live) return { object: marked, gone: false };
  return { object: world.store.put(collection, marked), gone: false };
}

function requirePreconditions(
  { metadata }: ApiObject,
  resource: Resource,
  { uid, resourceVersion }: DeleteRequest,
): void {
  const subject = collectionSubject(resource);
  const refuse = (what: string, asked: string, found: string | undefined, fate: string): Error =>
    conflict(
      subject,
      metadata.name ?? '',
      `the ${what} in the precondition (${asked}) does not match the ${what} in record (${found}). The object might have been ${fate}`,
    );
  if (uid !== '' && uid !== metadata.uid) throw refuse('UID', uid, metadata.uid, 'deleted and then recreated');
  if (resourceVersion !== '' && resourceVersion !== metadata.resourceVersion) {
    throw refuse('ResourceVersion', resourceVersion, metadata.resourceVersion, 'modified');
  }
}

function mark(live: ApiObject, resource: Resource, { propagation }: DeleteRequest, now: string): ApiObject {
  const { finalizers = [], deletionTimestamp, generation } = live.metadata;
  const others = finalizers.filter((finalizer) => finalizer !== FOREGROUND && finalizer !== ORPHAN);
  const own = propagation === 'Foreground' ? [FOREGROUND] : propagation === 'Orphan' ? [ORPHAN] : [];
  // A second delete keeps the finalizers it finds: dependants may be on their way already.
  const next = deletionTimestamp === undefined ? [...others, ...own] : [...new Set([...finalizers, ...own])];
  if (deletionTimestamp !== undefined && next.length === finalizers.length) return live;
  const marked = withMetadata(live, {
    finalizers: next.length === 0 ? undefined : next,
    deletionTimestamp: deletionTimestamp ?? now,
    deletionGracePeriodSeconds: 0,
    generation: generation === undefined || deletionTimestamp !== undefined ? generation : generation + 1,
  });
  return resource.kind === 'Namespace'
    ? { ...withMetadata(marked, { deletionGracePeriodSeconds: undefined }), status: { phase: 'Terminating' } }
    : marked;
}
