// Server-side apply: PATCH with a configuration of what one manager wants, on the object or its status.
import { parse } from 'yaml';
import { checkTyped } from '../fields/check-typed.ts';
import { readManaged } from '../fields/managers.ts';
import { recordApply } from '../../local/api-server/fields/record-apply.ts';
import { isObject, type Json, type JsonObject, objectAt, without } from '../json.ts';
import { type ApiObject, isApiObject, type Metadata, withMetadata } from '../object.ts';
import { apiVersionOf, collectionSubject, type Resource } from '../registry/resource.ts';
import { badRequest, cause, conflict, invalid, notFound, StatusError } from '../status-error.ts';
import { findObject, type Target, timestamp, type World, type WriteOptions } from '../server-state.ts';
import { createObject } from './create.ts';
import { atTarget, readObject } from './read-object.ts';
import { updateObject } from './update.ts';

/** The outcome of an apply. */
export interface ApplyOutcome {
  readonly object: ApiObject;
  readonly created: boolean;
}

/** Applies a configuration, YAML or JSON, and creates the object where it is missing. */
export function applyObject(
  world: World,
  target: Target,
  subresource: string,
  text: string,
  force: boolean,
  options: WriteOptions,
): ApplyOutcome {
  const { resource } = target;
  const config = readConfig(text, target, subresource);
  requireTyped(config, target);
  const writer = {
    manager: options.fieldManager,
    operation: 'Apply',
    apiVersion: apiVersionOf(resource),
    subresource,
  } as const;
  const request = { schema: resource.schema, writer, force, time: timestamp(world.now()) };
  // Unknown fields were refused above; what an older schema left in the object is not this request's fault.
  const quiet = { ...options, fieldValidation: 'Ignore' } as const;
  if (findObject(world, target) === undefined) {
    if (subresource !== '') throw notFound(collectionSubject(resource), target.name);
    refuseForeign(config, target);
    if (config.metadata.name === undefined) throw badRequest('name must be provided');
    const empty = { apiVersion: config.apiVersion, kind: config.kind, metadata: identity(target) };
    const applied = recordApply([], empty, withMetadata(config, { resourceVersion: undefined }), request);
    const object = readObject(world, applied.object, resource, quiet);
    return { object: createObject(world, object, resource, options, applied.entries), created: true };
  }
  const make = (live: ApiObject) => {
    const applied = recordApply(readManaged(live.metadata.managedFields ?? []), live, config, request);
    return { object: readObject(world, applied.object, resource, quiet), entries: applied.entries };
  };
  return { object: updateObject(world, target, subresource, make, options), created: false };
}

function identity({ resource, namespace, name }: Target): Metadata {
  return resource.namespaced ? { name, namespace } : { name };
}

function readConfig(text: string, target: Target, subresource: string): ApiObject {
  const { resource } = target;
  const sent = parseYaml(text);
  if (!isObject(sent)) throw badRequest('error decoding YAML: json: cannot unmarshal into Go value');
  const apiVersion = apiVersionOf(resource);
  if (sent.apiVersion !== apiVersion) {
    const said = `Incorrect version specified in apply patch. Specified patch version: ${String(sent.apiVersion ?? '')}, expected: ${apiVersion}`;
    throw badRequest(said);
  }
  if (typeof sent.kind !== 'string' || sent.kind === '') {
    throw badRequest(`error decoding YAML: Object 'Kind' is missing in '${JSON.stringify(sent)}'`);
  }
  if (sent.kind !== resource.kind) {
    throw badRequest(`invalid object type: ${apiVersion}, Kind=${sent.kind}`);
  }
  const metadata = objectAt(sent, 'metadata');
  if (metadata.managedFields !== undefined && metadata.managedFields !== null) {
    throw badRequest('metadata.managedFields must be nil');
  }
  const content = subresource === '' ? withoutStatus(sent, resource) : { status: sent.status ?? null };
  const ignored = Object.keys(metadata).filter((field) => !['name', 'namespace', 'resourceVersion'].includes(field));
  const kept = subresource === '' ? metadata : without(metadata, ...ignored);
  const config = { ...content, apiVersion, kind: resource.kind, metadata: kept };
  if (!isApiObject(config)) throw badRequest('error decoding YAML');
  atTarget(config, target); // refuses another name or namespace than the URL's
  return config;
}

/** A status sent to the object itself is nobody's, where the status is a subresource. */
function withoutStatus(sent: JsonObject, { status }: Resource): JsonObject {
  return status ? without(sent, 'status') : sent;
}

function parseYaml(text: string): Json {
  try {
    return parse(text);
  } catch (error) {
    throw badRequest(`error decoding YAML: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function requireTyped(config: ApiObject, { resource }: Target): void {
  const problems = checkTyped(config, resource.schema).sort();
  const { name = '', namespace = '' } = config.metadata;
  if (problems.length === 0) return;
  const { group, version, kind } = resource;
  const said = problems.length === 1 ? problems[0] : `errors:\n${problems.map((problem) => `  ${problem}`).join('\n')}`;
  const message = `failed to create typed patch object (${namespace}/${name}; ${group}/${version}, Kind=${kind}): ${said}`;
  throw new StatusError(500, '', message);
}

/** An object that is not there is not the one the sender means. */
function refuseForeign({ metadata }: ApiObject, { resource, name }: Target): void {
  const { uid = '' } = metadata;
  if (uid === '') return;
  const why = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`;
  throw conflict(collectionSubject(resource), name, why);
}

/** Throws a 422 StatusError for an apply without a manager. */
export function requireManager(manager: string | null): void {
  if (manager !== null && manager !== '') return;
  const missing = cause.required('fieldManager', 'is required for apply patch');
  throw invalid({ group: 'meta.k8s.io', kind: 'PatchOptions' }, '', [missing]);
}
