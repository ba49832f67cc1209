// Creating an object: its name, its namespace, what the server itself writes, and at last the store.
import { randomUUID } from 'node:crypto';
import type { Managed } from '../fields/managers.ts';
import { writeManaged } from '../fields/managers.ts';
import { recordUpdate } from '../fields/record-update.ts';
import { without } from '../json.ts';
import { type ApiObject, isApiObject, withMetadata } from '../object.ts';
import { apiVersionOf, asStored, collectionOf, collectionSubject, type Resource } from '../registry/resource.ts';
import { alreadyExists, forbidden, internalError, notFound, StatusError } from '../status-error.ts';
import { findObject, timestamp, type World, type WriteOptions } from '../server-state.ts';
import { finalizerWarnings } from '../../local/api-server/write/check-metadata.ts';
import { checkObject } from './check-object.ts';

const SUFFIX_LETTERS = 'bcdfghjklmnpqrstvwxz2456789';
const SUFFIX_LENGTH = 5;
/** Longer ones are cut, so that the name is a DNS label (storage/names). */
const GENERATED_LENGTH = 63;
const NAME_ATTEMPTS = 8;

/**
 * Creates an object that `readObject` has read. `entries` are given by an apply, which has its own; otherwise the writer owns
 * what it wrote. Throws StatusErrors: 404 and 403 for the namespace, 409 for the name, 422.
 */
export function createObject(
  world: World,
  object: ApiObject,
  resource: Resource,
  options: WriteOptions,
  entries?: readonly Managed[],
): ApiObject {
  const { metadata } = object;
  requireNamespace(world, object, resource);
  const named =
    metadata.name === undefined || metadata.name === '' ? withGeneratedName(world, object, resource) : object;
  const time = timestamp(world.now());
  const fresh = withMetadata(named, {
    uid: randomUUID(),
    creationTimestamp: time,
    generation: resource.generation === 'none' ? undefined : 1,
    deletionTimestamp: undefined,
    deletionGracePeriodSeconds: undefined,
    managedFields: undefined,
    selfLink: undefined,
    resourceVersion: undefined,
  });
  const plain = resource.status ? withoutStatus(fresh) : fresh;
  const prepared = resource.prepare?.(plain, undefined) ?? plain;
  checkObject(world, prepared, undefined, resource, '');
  if (resource.custom) for (const text of finalizerWarnings(prepared, undefined)) options.warn(text);
  if (metadata.resourceVersion !== undefined && metadata.resourceVersion !== '') {
    throw internalError('resourceVersion should not be set on objects to be created');
  }
  const name = prepared.metadata.name ?? '';
  if (findObject(world, { resource, namespace: prepared.metadata.namespace ?? '', name }) !== undefined) {
    throw alreadyExists(collectionSubject(resource), name);
  }
  const owners =
    entries ?? ownersOfCreate(resource, resource.status ? withoutStatus(prepared) : prepared, options, time);
  const stored = withMetadata(prepared, { managedFields: writeManaged(owners) });
  return options.dryRun ? stored : world.store.put(collectionOf(resource), asStored(stored, resource));
}

function ownersOfCreate(
  resource: Resource,
  object: ApiObject,
  { fieldManager }: WriteOptions,
  time: string,
): readonly Managed[] {
  const writer = {
    manager: fieldManager,
    operation: 'Update',
    apiVersion: apiVersionOf(resource),
    subresource: '',
  } as const;
  return recordUpdate([], undefined, object, { schema: resource.schema, writer, time });
}

function withoutStatus(object: ApiObject): ApiObject {
  const rest = without(object, 'status');
  return isApiObject(rest) ? rest : object;
}

/** Admission's NamespaceLifecycle: the namespace must be there, and stay. */
function requireNamespace(world: World, { metadata }: ApiObject, resource: Resource): void {
  const { namespace = '' } = metadata;
  if (!resource.namespaced || namespace === '') return;
  const found = world.store.get('/namespaces', { namespace: '', name: namespace });
  const subject = { group: '', kind: 'namespaces' };
  if (found === undefined) throw notFound(subject, namespace);
  if (found.metadata.deletionTimestamp === undefined) return;
  const message = `namespace ${namespace} is being terminated`;
  throw forbidden(
    collectionSubject(resource),
    metadata.name ?? '',
    `unable to create new content in namespace ${namespace} because it is being terminated`,
    [{ reason: 'NamespaceTerminating', message, field: 'metadata.namespace' }],
  );
}

function withGeneratedName(world: World, object: ApiObject, resource: Resource): ApiObject {
  const { generateName = '', namespace = '' } = object.metadata;
  if (generateName === '') return object;
  for (let attempt = 0; attempt < NAME_ATTEMPTS; attempt++) {
    const name = `${generateName.slice(0, GENERATED_LENGTH - SUFFIX_LENGTH)}${suffix()}`;
    if (findObject(world, { resource, namespace, name }) === undefined) return withMetadata(object, { name });
  }
  throw new StatusError(
    409,
    'AlreadyExists',
    `${resource.plural} "${generateName}" already exists, the server was not able to generate a unique name for the object`,
  );
}

function suffix(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(SUFFIX_LENGTH));
  return Array.from(bytes, (byte) => SUFFIX_LETTERS[byte % SUFFIX_LETTERS.length]).join('');
}
