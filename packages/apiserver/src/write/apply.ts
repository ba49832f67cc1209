// Server-side apply: a PATCH with the configuration of one field manager, for an object or its status.
// fields/record-apply.ts has the algorithm.
import { readYaml } from '@outrigger/common/yaml/read';
import { checkTyped } from '../fields/check-typed.ts';
import { readManaged, type Writer } from '../fields/managers.ts';
import { recordApply } from '../fields/record-apply.ts';
import { getMap, isObject, type Json, type JsonObject, omitFields, parseJsonValue } from '../json.ts';
import { type ApiObject, isApiObject, type Metadata, withMetadata } from '../object.ts';
import { type ApiResource, apiVersionOf, collectionSubject } from '../registry/resource.ts';
import { findObject, type ObjectTarget, type ServerState, timestamp, type WriteOptions } from '../server-state.ts';
import { badRequest, conflict, invalidOptions, notFound, StatusError, statusCause } from '../status-error.ts';
import { createObject, type WriteOutcome } from './create.ts';
import { pathMatches, readObject } from './read-object.ts';
import { updateObject } from './update.ts';

/** Applies a configuration in YAML or JSON. Creates the object if it does not exist. */
export function serverSideApply(
  state: ServerState,
  target: ObjectTarget,
  subresource: string,
  text: string,
  force: boolean,
  options: WriteOptions,
): WriteOutcome {
  const { resource } = target;
  const config = readConfig(text, target, subresource);
  requireTyped(config, target);
  const apiVersion = apiVersionOf(resource);
  const writer: Writer = { manager: options.fieldManager, operation: 'Apply', apiVersion, subresource };
  const request = { schema: resource.schema, writer, force, time: timestamp(state.now()) };
  // Unknown fields in the configuration were rejected above. Unknown fields of the live object come from an older
  // schema.
  const ignoreUnknown = { ...options, fieldValidation: 'Ignore' } as const;
  if (findObject(state, target) === undefined) {
    if (subresource !== '') throw notFound(collectionSubject(resource), target.name);
    requireNoUid(config, target);
    pathMatches(config, target);
    const empty = { apiVersion: config.apiVersion, kind: config.kind, metadata: nameAndNamespace(target) };
    const applied = recordApply([], empty, withMetadata(config, { resourceVersion: undefined }), request);
    const object = readApplied(state, applied.object, resource, ignoreUnknown);
    return { object: createObject(state, object, resource, options, applied.entries), created: true };
  }
  const change = (live: ApiObject) => {
    const applied = recordApply(readManaged(live.metadata.managedFields ?? []), live, config, request);
    return {
      object: readApplied(state, applied.object, resource, ignoreUnknown),
      entries: applied.entries,
    };
  };
  return { object: updateObject(state, target, subresource, change, options), created: false };
}

/** Reads a merged configuration. A value that a built-in kind cannot hold is an error of the server. */
function readApplied(state: ServerState, applied: Json, resource: ApiResource, options: WriteOptions): ApiObject {
  try {
    return readObject(state, applied, resource, options, { nulls: 'kept' });
  } catch (error) {
    if (resource.custom || !(error instanceof StatusError) || error.code !== 400) throw error;
    throw new StatusError(500, '', error.message);
  }
}

function nameAndNamespace({ resource, namespace, name }: ObjectTarget): Metadata {
  return resource.namespaced ? { name, namespace } : { name };
}

function readConfig(text: string, target: ObjectTarget, subresource: string): ApiObject {
  const { resource } = target;
  const sent = parseYaml(text);
  if (!isObject(sent)) throw badRequest('error decoding YAML: json: cannot unmarshal into Go value');
  const apiVersion = apiVersionOf(resource);
  if (sent.apiVersion !== apiVersion) {
    const message =
      `Incorrect version specified in apply patch. Specified patch version: ${String(sent.apiVersion ?? '')}, ` +
      `expected: ${apiVersion}`;
    throw badRequest(message);
  }
  if (typeof sent.kind !== 'string' || sent.kind === '') {
    throw badRequest(`error decoding YAML: Object 'Kind' is missing in '${JSON.stringify(sent)}'`);
  }
  if (sent.kind !== resource.kind) {
    throw badRequest(`invalid object type: ${apiVersion}, Kind=${sent.kind}`);
  }
  const metadata = getMap(sent, 'metadata');
  if (metadata.managedFields !== undefined && metadata.managedFields !== null) {
    throw badRequest('metadata.managedFields must be nil');
  }
  const content = subresource === '' ? withoutStatus(sent, resource) : onlyStatus(sent);
  const { statusKeeps } = resource;
  const others = Object.keys(metadata).filter((field) => !['name', 'namespace', 'resourceVersion'].includes(field));
  const ignored = subresource === '' ? [] : statusKeeps === 'all' ? others : statusKeeps;
  const kept = omitFields(metadata, ...ignored, ...(resource.namespaced ? [] : ['namespace']));
  const config = { ...content, apiVersion, kind: resource.kind, metadata: kept };
  if (!isApiObject(config)) throw badRequest('error decoding YAML');
  // Throws if name or namespace differ from the URL. Only the apply that creates an object needs a name.
  pathMatches({ ...config, metadata: { name: target.name, ...kept } }, target);
  return config;
}

/** Removes a status from the configuration of an object. It is ignored if the kind has a status subresource. */
function withoutStatus(sent: JsonObject, { status }: ApiResource): JsonObject {
  return status ? omitFields(sent, 'status') : sent;
}

/** A configuration without a status gives up the manager's fields of it. One that is null is refused. */
function onlyStatus({ status }: JsonObject): JsonObject {
  return status === undefined ? {} : { status };
}

/** Characters that YAML has only as escapes (YAML 1.2, 5.1). */
const unprintable = /[\u007f-\u0084\u0086-\u009f\ufffe\uffff]/;
/** Escapes of JSON that YAML does not have: `\/`, and halves of characters. What is after two backslashes is text. */
const foreignEscape = /\\(?:(\/)|u[dD][89a-fA-F]|[^/])/g;

/** Parses YAML. Most configurations are JSON, whose parser is several times faster. Throws a 400 StatusError. */
export function parseYaml(text: string): Json {
  if (unprintable.test(text)) throw invalidYaml('control characters are not allowed');
  try {
    return parseYamlAsJson(text);
  } catch (error) {
    if (error instanceof StatusError) throw error;
    // YAML's parser has the error.
  }
  try {
    return readYaml(text);
  } catch (error) {
    throw badRequest(`error decoding YAML: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Parses YAML that is JSON, too, as a YAML parser does: a line break in a text is a space. Throws a SyntaxError. */
function parseYamlAsJson(text: string): Json {
  const value = parseJsonValue(text);
  for (const [found, slash] of text.matchAll(foreignEscape)) {
    if (slash !== undefined) throw invalidYaml('found unknown escape character');
    if (/^.u[dD]/.test(found)) throw invalidYaml('found invalid Unicode character escape code');
  }
  if (!/[\u0085\u2028\u2029]/.test(text)) return value;
  return parseJsonValue(text.replaceAll(/[ \t]*\u0085[ \t]*/g, ' ').replaceAll(/[ \t]*([\u2028\u2029])[ \t]*/g, '$1'));
}

function invalidYaml(reason: string): StatusError {
  return badRequest(`error decoding YAML: error converting YAML to JSON: yaml: ${reason}`);
}

function requireTyped(config: ApiObject, { resource }: ObjectTarget): void {
  const errors = checkTyped(config, resource.schema).sort();
  const { name = '', namespace = '' } = config.metadata;
  if (errors.length === 0) return;
  const { group, version, kind } = resource;
  const details = errors.length === 1 ? errors[0] : `errors:\n${errors.map((error) => `  ${error}`).join('\n')}`;
  const typedObject = `${namespace}/${name}; ${group}/${version}, Kind=${kind}`;
  const message = `failed to create typed patch object (${typedObject}): ${details}`;
  throw new StatusError(500, '', message);
}

/** Throws a 409 StatusError for an apply with a uid to an object that does not exist. */
function requireNoUid({ metadata }: ApiObject, { resource, name }: ObjectTarget): void {
  const { uid = '' } = metadata;
  if (uid === '') return;
  const reason = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`;
  throw conflict(collectionSubject(resource), name, reason);
}

/** Throws a 422 StatusError for an apply without a manager. */
export function requireManager(manager: string | null): void {
  if (manager !== null && manager !== '') return;
  throw invalidOptions('PatchOptions', statusCause.required('fieldManager', 'is required for apply patch'));
}

/** Throws a 422 StatusError for the option force in a patch that is no apply. */
export function requireNoForce(query: URLSearchParams): void {
  if (!query.has('force')) return;
  throw invalidOptions('PatchOptions', statusCause.forbidden('force', 'may not be specified for non-apply patch'));
}
