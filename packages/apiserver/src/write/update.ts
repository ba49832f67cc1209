// Updates an object, for PUT, PATCH, apply and scale. Fields that the client may not write are restored, managed fields
// are recorded, and an update without a change is not stored.
import { type Managed, readManaged, type Writer, writeManaged } from '../fields/managers.ts';
import { recordUpdate } from '../fields/record-update.ts';
import { getString, isObject, type Json, type JsonObject, omitFields, sameJson, withField } from '../json.ts';
import { type ApiObject, isApiObject, withMetadata } from '../object.ts';
import {
  type ApiResource,
  apiVersionOf,
  asStored,
  collectionOf,
  collectionSubject,
  convertToVersion,
} from '../registry/resource.ts';
import {
  admit,
  findObject,
  type ObjectTarget,
  type ServerState,
  timestamp,
  type WriteOptions,
} from '../server-state.ts';
import { conflict, invalid, notFound, StatusError, statusCause } from '../status-error.ts';
import { finalizerWarnings } from './check-metadata.ts';
import { checkObject } from './check-object.ts';
import { createObject, type WriteOutcome } from './create.ts';
import { putObject } from './put-object.ts';

/**
 * The updated object of a verb. `entries` are the managed fields of an apply. For other verbs the writer owns its
 * changes.
 */
export type ObjectUpdate = {
  readonly object: ApiObject;
  readonly entries?: readonly Managed[];
  /** True for a PUT, where a uid is a precondition. */
  readonly replaces?: boolean;
  /** What admission policies see of an object: its Scale, if that is written. */
  readonly seen?: (object: ApiObject) => JsonObject;
};

/** Replaces an object by a PUT, which creates one of some kinds: the version that it names does not count then. */
export function replaceObject(
  state: ServerState,
  target: ObjectTarget,
  subresource: string,
  object: ApiObject,
  options: WriteOptions,
): WriteOutcome {
  const { resource } = target;
  if (!resource.putCreates || subresource !== '' || findObject(state, target) !== undefined) {
    const change = () => ({ object, replaces: true });
    return { object: updateObject(state, target, subresource, change, options), created: false };
  }
  requireUid(object, { metadata: { name: target.name, uid: '' } }, resource);
  const unversioned = withMetadata(object, { resourceVersion: undefined });
  return { object: createObject(state, unversioned, resource, options), created: true };
}

/** Updates an object and returns the result. Throws StatusErrors: 404, 409 for a stale version, 422, 500 (size). */
export function updateObject(
  state: ServerState,
  target: ObjectTarget,
  subresource: string,
  change: (live: ApiObject) => ObjectUpdate,
  options: WriteOptions,
): ApiObject {
  const { resource, name } = target;
  const stored = findObject(state, target);
  if (stored === undefined) throw notFound(collectionSubject(resource), name);
  const live = convertToVersion(stored, resource);
  const update = change(live);
  const { object } = update;
  if (update.replaces === true) requireUid(object, live, resource);
  requireVersion(object, live, resource);
  const restored = withLive(object, live, resource, subresource);
  const prepared = resource.prepare?.(restored, live, subresource) ?? restored;
  const entries =
    update.entries ??
    managedFieldsOfUpdate(object, live, prepared, resource, subresource, options, timestamp(state.now()));
  const owned = withMetadata(prepared, { managedFields: writeManaged(entries) });
  const isSame = sameJson(withoutTimes(owned), withoutTimes(live));
  if (!isSame) checkObject(state, owned, live, resource, subresource);
  const { seen = (one) => one } = update;
  const review = { ...target, subresource, object: seen(owned), oldObject: seen(live) };
  admit(state, { operation: 'UPDATE', ...review }, options);
  if (isSame) {
    // Stored anew if the kind is stored in another version now, or by another schema.
    const isStored = options.dryRun || sameJson(asStored(live, resource), stored);
    return isStored ? live : putObject(state, live, resource, { applied: true });
  }
  if (resource.custom) for (const text of finalizerWarnings(owned, live)) options.warn(text);
  const next = withMetadata(owned, { generation: nextGeneration(owned, live, resource, subresource) });
  if (options.dryRun) return next;
  const { deletionTimestamp, finalizers = [] } = next.metadata;
  // A deleted object without finalizers is removed. The collector removes namespaces, which have finalizers in their
  // spec.
  if (deletionTimestamp !== undefined && finalizers.length === 0 && resource.kind !== 'Namespace') {
    state.store.remove(collectionOf(resource), live);
    return next;
  }
  return putObject(state, next, resource, { applied: update.entries !== undefined });
}

function requireUid({ metadata }: ApiObject, live: Pick<ApiObject, 'metadata'>, resource: ApiResource): void {
  const { uid = '' } = metadata;
  if (uid === '' || uid === live.metadata.uid) return;
  const reason = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${live.metadata.uid}`;
  throw conflict(collectionSubject(resource), live.metadata.name ?? '', reason);
}

function requireVersion({ metadata }: ApiObject, live: ApiObject, resource: ApiResource): void {
  const { resourceVersion = '' } = metadata;
  const name = live.metadata.name ?? '';
  if (resourceVersion === '' || resourceVersion === '0') {
    if (!resource.needsVersion) return;
    const missing = statusCause.invalid('metadata.resourceVersion', '0', 'must be specified for an update');
    throw invalid(collectionSubject(resource), name, [missing]);
  }
  if (!/^\d+$/.test(resourceVersion)) {
    const reason = `strconv.ParseUint: parsing ${JSON.stringify(resourceVersion)}: invalid syntax`;
    throw new StatusError(500, '', reason);
  }
  if (resourceVersion !== live.metadata.resourceVersion) throw conflict(collectionSubject(resource), name);
}

/** The metadata that only the server writes. */
const serverFields = [
  'creationTimestamp',
  'generation',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'resourceVersion',
  'selfLink',
  'managedFields',
] as const;

/** Returns the object with what a write to this path leaves as it is: the status, or all else and some metadata. */
function withLive(object: ApiObject, live: ApiObject, resource: ApiResource, subresource: string): ApiObject {
  const { status, statusKeeps } = resource;
  const restored: Record<string, Json | undefined> = { uid: object.metadata.uid ?? live.metadata.uid };
  for (const field of serverFields) restored[field] = live.metadata[field];
  // Validation refuses a client's deletionTimestamp. One that is missing is filled in.
  restored.deletionTimestamp ??= object.metadata.deletionTimestamp || undefined;
  const isStatus = subresource === 'status';
  if (isStatus && statusKeeps !== 'all') for (const field of statusKeeps) restored[field] = live.metadata[field];
  const written = withMetadata(object, restored);
  const { metadata } = isStatus && statusKeeps === 'all' ? live : written;
  if (!isStatus && !status) return written;
  const next = isStatus
    ? withField({ ...live, metadata }, 'status', object.status)
    : withField(written, 'status', live.status);
  return isApiObject(next) ? next : written;
}

function managedFieldsOfUpdate(
  sent: ApiObject,
  live: ApiObject,
  next: ApiObject,
  resource: ApiResource,
  subresource: string,
  { fieldManager }: WriteOptions,
  time: string,
): readonly Managed[] {
  const given = subresource === '' ? sent.metadata.managedFields : undefined;
  if (given !== undefined && clearsManagers(given, resource)) return [];
  // Those that cannot be read count as not given.
  const isGiven = given !== undefined && given.length > 0 && given.every(isReadable);
  const entries = readManaged((isGiven ? given : live.metadata.managedFields) ?? []);
  const apiVersion = apiVersionOf(resource);
  const writer: Writer = { manager: fieldManager, operation: 'Update', apiVersion, subresource };
  return recordUpdate(entries, live, next, { schema: resource.schema, writer, time });
}

/**
 * Returns whether managed fields are cleared: by a single empty entry, and for a built-in kind by an empty list, too
 * [tried on kube-apiserver 1.36.3].
 */
function clearsManagers(given: readonly Json[], { custom }: ApiResource): boolean {
  const [first] = given;
  if (first === undefined) return !custom;
  return given.length === 1 && isObject(first) && Object.keys(first).length === 0;
}

function isReadable(entry: Json): boolean {
  const isOperation = ['Apply', 'Update'].includes(getString(entry, 'operation'));
  return isOperation && getString(entry, 'fieldsType') === 'FieldsV1';
}

/**
 * Returns an object without the times in its managed fields, and these in an order that does not depend on them. A
 * difference in the times alone is no change.
 */
function withoutTimes(object: ApiObject): ApiObject {
  const { managedFields } = object.metadata;
  if (managedFields === undefined) return object;
  const order = (entry: JsonObject) => JSON.stringify(omitFields(entry, 'fieldsV1'));
  const entries = managedFields.map((entry) => omitFields(entry, 'time'));
  return withMetadata(object, { managedFields: entries.toSorted((a, b) => (order(a) < order(b) ? -1 : 1)) });
}

function nextGeneration(
  next: ApiObject,
  live: ApiObject,
  resource: ApiResource,
  subresource: string,
): number | undefined {
  const { generation } = live.metadata;
  if (generation === undefined || subresource === 'status') return generation;
  return isNewContent(next, live, resource) ? generation + 1 : generation;
}

function isNewContent(next: ApiObject, live: ApiObject, { generation }: ApiResource): boolean {
  switch (generation) {
    case 'none':
      return false;
    case 'spec':
      return !sameJson(next.spec, live.spec);
    case 'spec-and-annotations':
      return (
        !sameJson(next.spec, live.spec) || !sameJson(next.metadata.annotations ?? {}, live.metadata.annotations ?? {})
      );
    case 'content':
      return !sameJson(omitFields(next, 'metadata'), omitFields(live, 'metadata'));
  }
}
