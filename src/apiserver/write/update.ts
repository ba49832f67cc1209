// Changing an object, by whatever verb: what the sender may not touch is put back, owners of fields are recorded, and a change
// that changes nothing leaves no trace.
import { type Managed, readManaged, writeManaged } from '../fields/managers.ts';
import { recordUpdate } from '../fields/record-update.ts';
import { isObject, type Json, sameJson, withField, without } from '../json.ts';
import { type ApiObject, isApiObject, withMetadata } from '../object.ts';
import {
  apiVersionOf,
  asStored,
  collectionOf,
  collectionSubject,
  inVersion,
  kindSubject,
  type Resource,
} from '../registry/resource.ts';
import { cause, conflict, invalid, notFound } from '../status-error.ts';
import { findObject, type Target, timestamp, type World, type WriteOptions } from '../server-state.ts';
import { finalizerWarnings } from '../../local/api-server/write/check-metadata.ts';
import { checkObject } from './check-object.ts';

/** What a verb makes of the live object. Apply records owners itself; for the others the writer owns what it changed. */
export interface Change {
  readonly object: ApiObject;
  readonly entries?: readonly Managed[];
  /** A replacement by PUT: its uid is a precondition. */
  readonly replaces?: boolean;
}

/** Changes an object. Throws StatusErrors: 404, 409 for versions, 422. Returns it as it is afterwards. */
export function updateObject(
  world: World,
  target: Target,
  subresource: string,
  make: (live: ApiObject) => Change,
  options: WriteOptions,
): ApiObject {
  const { resource, name } = target;
  const stored = findObject(world, target);
  if (stored === undefined) throw notFound(collectionSubject(resource), name);
  const live = inVersion(stored, resource);
  const change = make(live);
  const { object } = change;
  if (change.replaces === true) requireUid(object, live, resource);
  requireVersion(object, live, resource);
  const restored = subresource === 'status' ? statusOnly(object, live, resource) : allButStatus(object, live, resource);
  const prepared = subresource === 'status' ? restored : (resource.prepare?.(restored, live) ?? restored);
  const entries =
    change.entries ?? ownersOfUpdate(object, live, prepared, resource, subresource, options, timestamp(world.now()));
  const owned = withMetadata(prepared, { managedFields: writeManaged(entries) });
  if (sameJson(timeless(owned), timeless(live))) return live;
  checkObject(world, owned, live, resource, subresource);
  if (resource.custom) for (const text of finalizerWarnings(owned, live)) options.warn(text);
  const next = withMetadata(owned, { generation: nextGeneration(owned, live, resource, subresource) });
  if (options.dryRun) return next;
  const collection = collectionOf(resource);
  const { deletionTimestamp, finalizers = [] } = next.metadata;
  // The last finalizer is gone: so is the object. A namespace has finalizers of its own kind, which the collector looks after.
  if (deletionTimestamp !== undefined && finalizers.length === 0 && resource.kind !== 'Namespace') {
    world.store.remove(collection, live);
    return next;
  }
  return world.store.put(collection, asStored(next, resource));
}

function requireUid({ metadata }: ApiObject, live: ApiObject, resource: Resource): void {
  const { uid = '' } = metadata;
  if (uid === '' || uid === live.metadata.uid) return;
  const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${live.metadata.uid}`;
  throw conflict(collectionSubject(resource), live.metadata.name ?? '', why);
}

function requireVersion({ metadata }: ApiObject, live: ApiObject, resource: Resource): void {
  const { resourceVersion = '' } = metadata;
  const name = live.metadata.name ?? '';
  if (resourceVersion === '' || resourceVersion === '0') {
    if (!resource.needsVersion) return;
    const missing = cause.invalid('metadata.resourceVersion', '0', 'must be specified for an update');
    throw invalid(kindSubject(resource), name, [missing]);
  }
  if (resourceVersion !== live.metadata.resourceVersion) throw conflict(collectionSubject(resource), name);
}

/** What only the server writes. */
const SERVERS_OWN = [
  'creationTimestamp',
  'generation',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'resourceVersion',
  'selfLink',
  'managedFields',
] as const;

function allButStatus(object: ApiObject, live: ApiObject, resource: Resource): ApiObject {
  const restored: Record<string, Json | undefined> = { uid: object.metadata.uid ?? live.metadata.uid };
  for (const field of SERVERS_OWN) restored[field] = live.metadata[field];
  const next = withMetadata(object, restored);
  if (!resource.status) return next;
  const kept = withField(next, 'status', live.status);
  return isApiObject(kept) ? kept : next;
}

/** Of built-in kinds, annotations are written with a status too: that is how a Deployment's revision is noted. */
function statusOnly(object: ApiObject, live: ApiObject, { custom }: Resource): ApiObject {
  const annotated = custom ? live : withMetadata(live, { annotations: object.metadata.annotations });
  const next = withField(annotated, 'status', object.status);
  return isApiObject(next) ? next : live;
}

function ownersOfUpdate(
  sent: ApiObject,
  live: ApiObject,
  next: ApiObject,
  resource: Resource,
  subresource: string,
  { fieldManager }: WriteOptions,
  time: string,
): readonly Managed[] {
  const given = sent.metadata.managedFields;
  const known = readManaged(live.metadata.managedFields ?? []);
  // One empty entry says: forget them all. No entry at all comes from clients that do not know the field.
  const reset = given?.length === 1 && isObject(given[0]) && Object.keys(given[0]).length === 0;
  if (reset && subresource === '') return [];
  const entries = given === undefined || given.length === 0 || subresource !== '' ? known : readManaged(given);
  const writer = {
    manager: fieldManager,
    operation: 'Update',
    apiVersion: apiVersionOf(resource),
    subresource,
  } as const;
  return recordUpdate(entries, live, next, { schema: resource.schema, writer, time });
}

/** An object without the times of its managers, which alone are no change. */
function timeless(object: ApiObject): ApiObject {
  const { managedFields } = object.metadata;
  if (managedFields === undefined) return object;
  return withMetadata(object, { managedFields: managedFields.map((entry) => without(entry, 'time')) });
}

function nextGeneration(next: ApiObject, live: ApiObject, resource: Resource, subresource: string): number | undefined {
  const { generation } = live.metadata;
  if (generation === undefined || subresource === 'status') return generation;
  return isNewContent(next, live, resource) ? generation + 1 : generation;
}

function isNewContent(next: ApiObject, live: ApiObject, { generation }: Resource): boolean {
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
      return !sameJson(without(next, 'metadata'), without(live, 'metadata'));
  }
}
