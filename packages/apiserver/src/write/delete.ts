// Deletes an object. An object without finalizers is removed immediately. An object with finalizers gets a
// deletionTimestamp and is removed with its last finalizer.

import { getIn, getMap, getString, type Json, sameJson } from '../json.ts';
import { type ApiObject, withMetadata } from '../object.ts';
import { isSet } from '../query.ts';
import { cleanupFinalizer } from '../registry/definition.ts';
import {
  type ApiResource,
  collectionOf,
  collectionSubject,
  convertToVersion,
  kindSubject,
} from '../registry/resource.ts';
import { admit, findObject, type ObjectTarget, type ServerState, timestamp, type Writer } from '../server-state.ts';
import { conflict, forbidden, invalidOptions, notFound, statusCause } from '../status-error.ts';

/** The options of a delete that the server supports. */
export type DeleteRequest = Writer & {
  /** Undefined: what the finalizers of the object say, else the default of its kind. */
  readonly propagation: 'Background' | 'Foreground' | 'Orphan' | undefined;
  readonly uid: string;
  readonly resourceVersion: string;
};

/** The result of a delete. `gone` is false if finalizers keep the object. */
export type DeleteOutcome = {
  readonly object: ApiObject;
  readonly gone: boolean;
};

/** Keeps an object until its dependents are deleted. The collector removes it. */
export const foregroundFinalizer = 'foregroundDeletion';
/** Keeps an object until its owner references are removed from its dependents. The collector removes it. */
export const orphanFinalizer = 'orphan';

const finalizerOf = { Background: undefined, Foreground: foregroundFinalizer, Orphan: orphanFinalizer };

/** The admission plugin NamespaceLifecycle keeps them. */
const immortalNamespaces: readonly string[] = ['default', 'kube-system', 'kube-public'];
const propagationPolicies = ['Background', 'Foreground', 'Orphan'] as const;
/** batch/v1 keeps the pods of a deleted Job by default (jobStrategy.DefaultGarbageCollectionPolicy). */
const orphansWarning =
  'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set ' +
  'propagationPolicy=Orphan to suppress this warning';

/**
 * Reads the options from a DeleteOptions body or the query. Throws a 422 StatusError for an unknown propagation policy.
 */
export function deleteRequest(
  body: Json | undefined,
  query: URLSearchParams,
  writer: Pick<Writer, 'user' | 'warn'>,
): DeleteRequest {
  const requested = getString(body, 'propagationPolicy') || query.get('propagationPolicy') || '';
  const orphans = getIn(body, 'orphanDependents') ?? isSet(query, 'orphanDependents');
  const dryRun = JSON.stringify(getIn(body, 'dryRun') ?? query.getAll('dryRun')).includes('All');
  const policy = propagationPolicies.find((one) => one === requested);
  if (requested !== '' && policy === undefined) {
    const supported = propagationPolicies.map((one) => JSON.stringify(one));
    const cause = statusCause.notSupported('propagationPolicy', JSON.stringify(requested), supported);
    throw invalidOptions('DeleteOptions', cause);
  }
  const older = orphans === undefined ? undefined : orphans === true ? 'Orphan' : 'Background';
  return {
    propagation: policy ?? older,
    uid: getString(body, 'preconditions', 'uid'),
    resourceVersion: getString(body, 'preconditions', 'resourceVersion'),
    dryRun,
    ...writer,
  };
}

/** Deletes an object. Throws StatusErrors: 404, 409 for preconditions. */
export function deleteObject(state: ServerState, target: ObjectTarget, request: DeleteRequest): DeleteOutcome {
  const { resource, name } = target;
  const live = findObject(state, target);
  if (live === undefined) throw notFound(collectionSubject(resource), name);
  if (resource.kind === 'Namespace' && immortalNamespaces.includes(name))
    throw forbidden(collectionSubject(resource), name, 'this namespace may not be deleted');
  requirePreconditions(live, resource, request);
  const oldObject = convertToVersion(live, resource);
  admit(state, { operation: 'DELETE', ...target, subresource: '', oldObject }, request);
  const marked = markForDeletion(live, resource, request, timestamp(state.now()));
  const hasFinalizers = (marked.metadata.finalizers ?? []).length > 0 || resource.kind === 'Namespace';
  const collection = collectionOf(resource);
  if (!hasFinalizers) return { object: request.dryRun ? live : state.store.remove(collection, live), gone: true };
  if (request.dryRun || marked === live) return { object: marked, gone: false };
  return { object: state.store.put(collection, marked), gone: false };
}

function requirePreconditions(
  { metadata }: ApiObject,
  resource: ApiResource,
  { uid, resourceVersion }: DeleteRequest,
): void {
  const subject = kindSubject(resource);
  const preconditionFailed = (name: string, requested: string, found: string | undefined, cause: string): Error =>
    conflict(
      subject,
      metadata.name ?? '',
      `the ${name} in the precondition (${requested}) does not match the ${name} in record (${found}). The ` +
        `object might have been ${cause}`,
    );
  if (uid !== '' && uid !== metadata.uid)
    throw preconditionFailed('UID', uid, metadata.uid, 'deleted and then recreated');
  if (resourceVersion !== '' && resourceVersion !== metadata.resourceVersion) {
    throw preconditionFailed('ResourceVersion', resourceVersion, metadata.resourceVersion, 'modified');
  }
}

function markForDeletion(
  live: ApiObject,
  resource: ApiResource,
  { propagation, warn }: DeleteRequest,
  now: string,
): ApiObject {
  const { finalizers = [], deletionTimestamp, generation } = live.metadata;
  const isOrphaning = resource.group === 'batch' && resource.kind === 'Job';
  if (propagation === undefined && isOrphaning) warn(orphansWarning);
  const isPolicy = (finalizer: string) => finalizer === foregroundFinalizer || finalizer === orphanFinalizer;
  const byDefault = finalizers.find(isPolicy) ?? (isOrphaning ? orphanFinalizer : undefined);
  const added = propagation === undefined ? byDefault : finalizerOf[propagation];
  const next = [...finalizers.filter((finalizer) => !isPolicy(finalizer)), ...(added === undefined ? [] : [added])];
  if (resource.kind === 'CustomResourceDefinition' && deletionTimestamp === undefined) next.push(cleanupFinalizer);
  if (deletionTimestamp !== undefined && sameJson(next, finalizers)) return live;
  const marked = withMetadata(live, {
    finalizers: next.length === 0 ? undefined : next,
    deletionTimestamp: deletionTimestamp ?? now,
    deletionGracePeriodSeconds: 0,
    generation: generation === undefined || deletionTimestamp !== undefined ? generation : generation + 1,
  });
  if (resource.kind !== 'Namespace') return marked;
  const status = { ...getMap(marked, 'status'), phase: 'Terminating' };
  return { ...withMetadata(marked, { deletionGracePeriodSeconds: undefined }), status };
}
