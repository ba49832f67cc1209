// Creates an object: checks the namespace, generates a name, fills in the fields that the server sets, validates and
// stores it.
import { randomUUID } from 'node:crypto';
import { type Managed, type Writer, writeManaged } from '../fields/managers.ts';
import { recordUpdate } from '../fields/record-update.ts';
import { omitFields } from '../json.ts';
import { type ApiObject, isApiObject, withMetadata } from '../object.ts';
import { definitionsCollection } from '../registry/registry.ts';
import { type ApiResource, apiVersionOf, collectionSubject } from '../registry/resource.ts';
import { admit, findObject, type ServerState, timestamp, type WriteOptions } from '../server-state.ts';
import { alreadyExists, forbidden, notFound, StatusError } from '../status-error.ts';
import { finalizerWarnings } from './check-metadata.ts';
import { checkObject } from './check-object.ts';
import { putObject } from './put-object.ts';

/** The object of a write that may have created it. */
export type WriteOutcome = {
  readonly object: ApiObject;
  readonly created: boolean;
};

const suffixLetters = 'bcdfghjklmnpqrstvwxz2456789';
const suffixLength = 5;
/** Longer prefixes are cut, so that a generated name is a DNS label (storage/names). */
const maxGeneratedLength = 63;
const nameAttempts = 8;

/**
 * Creates an object that `readObject` has read. `entries` are the managed fields of an apply. Without them, the writer
 * owns all fields. Throws StatusErrors: 404 and 403 for the namespace, 409 for the name, 422, 500 for the size.
 */
export function createObject(
  state: ServerState,
  object: ApiObject,
  resource: ApiResource,
  options: WriteOptions,
  entries?: readonly Managed[],
): ApiObject {
  const { metadata } = object;
  requireNamespace(state, object, resource);
  if (resource.custom) requireDefinition(state, object, resource);
  const named =
    metadata.name === undefined || metadata.name === '' ? withGeneratedName(state, object, resource) : object;
  const time = timestamp(state.now());
  const initial = withMetadata(named, {
    uid: randomUUID(),
    creationTimestamp: time,
    generation: resource.generation === 'none' ? undefined : 1,
    deletionTimestamp: undefined,
    deletionGracePeriodSeconds: undefined,
    managedFields: undefined,
    selfLink: undefined,
    resourceVersion: undefined,
  });
  const content = resource.status ? withoutStatus(initial) : initial;
  const prepared = resource.prepare?.(content, undefined, '') ?? content;
  checkObject(state, prepared, undefined, resource, '');
  if (resource.custom) for (const text of finalizerWarnings(prepared, undefined)) options.warn(text);
  const { name = '', namespace = '' } = prepared.metadata;
  admit(state, { operation: 'CREATE', resource, subresource: '', name, namespace, object: prepared }, options);
  // Neither a dry run nor the storage minds a version that is no number (etcd3/store.go).
  const { resourceVersion = '' } = metadata;
  if (!options.dryRun && /^\d+$/.test(resourceVersion) && Number(resourceVersion) > 0) {
    throw new StatusError(500, '', 'resourceVersion should not be set on objects to be created');
  }
  const existing = findObject(state, { resource, namespace, name });
  if (existing !== undefined) {
    throw alreadyExists(collectionSubject(resource), name, existing.metadata.deletionTimestamp !== undefined);
  }
  const managedFields =
    entries ?? managedFieldsOfCreate(resource, resource.status ? withoutStatus(prepared) : prepared, options, time);
  const stored = withMetadata(prepared, { managedFields: writeManaged(managedFields) });
  return options.dryRun ? stored : putObject(state, stored, resource, { applied: entries !== undefined });
}

function managedFieldsOfCreate(
  resource: ApiResource,
  object: ApiObject,
  { fieldManager }: WriteOptions,
  time: string,
): readonly Managed[] {
  const apiVersion = apiVersionOf(resource);
  const writer: Writer = { manager: fieldManager, operation: 'Update', apiVersion, subresource: '' };
  return recordUpdate([], undefined, object, { schema: resource.schema, writer, time });
}

function withoutStatus(object: ApiObject): ApiObject {
  const rest = omitFields(object, 'status');
  return isApiObject(rest) ? rest : object;
}

/**
 * Throws a StatusError if the namespace does not exist or is being deleted (the admission plugin NamespaceLifecycle).
 */
function requireNamespace(state: ServerState, { metadata }: ApiObject, resource: ApiResource): void {
  const { namespace = '' } = metadata;
  if (!resource.namespaced || namespace === '') return;
  const found = state.store.get('/namespaces', { namespace: '', name: namespace });
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

/** Throws a StatusError if the definition of the kind is being deleted. */
function requireDefinition({ store }: ServerState, { metadata }: ApiObject, resource: ApiResource): void {
  const definition = store.get(definitionsCollection, { namespace: '', name: `${resource.plural}.${resource.group}` });
  if (definition?.metadata.deletionTimestamp === undefined) return;
  const reason = 'create not allowed while custom resource definition is terminating';
  throw forbidden(collectionSubject(resource), metadata.name ?? '', reason);
}

function withGeneratedName(state: ServerState, object: ApiObject, resource: ApiResource): ApiObject {
  const { generateName = '', namespace = '' } = object.metadata;
  if (generateName === '') return object;
  for (let attempt = 0; attempt < nameAttempts; attempt++) {
    const name = `${generateName.slice(0, maxGeneratedLength - suffixLength)}${suffix()}`;
    if (findObject(state, { resource, namespace, name }) === undefined) return withMetadata(object, { name });
  }
  throw new StatusError(
    409,
    'AlreadyExists',
    `${resource.plural} "${generateName}" already exists, the server was not able to generate a unique name ` +
      'for the object',
  );
}

function suffix(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(suffixLength));
  return Array.from(bytes, (byte) => suffixLetters[byte % suffixLetters.length]).join('');
}
