// Converts a parsed request body to an object of a kind: checks apiVersion, kind, name and namespace, drops and reports
// unknown fields, and fills in defaults. All writes use it.
import { getIn, isList, isObject, type Json, type JsonObject, withPath } from '../json.ts';
import { type ApiObject, isApiObject } from '../object.ts';
import { type ApiResource, apiVersionOf } from '../registry/resource.ts';
import { type Decoded, DecodeError, decodeValue } from '../schema/decode.ts';
import { dropNulls, fillDefaults, prune } from '../schema/prune.ts';
import type { ObjectTarget, ServerState, WriteOptions } from '../server-state.ts';
import { badRequest, invalid, statusCause, unrecognized } from '../status-error.ts';

/**
 * Reads an object of a kind. Unknown fields are dropped, and reported as `fieldValidation` says. Throws a 400
 * StatusError for a body of another kind, a value of the wrong type, and for unknown fields with strict field
 * validation. An applied configuration keeps its nulls, which validation then refuses; those of other bodies are
 * dropped.
 */
export function readObject(
  { schemas }: Pick<ServerState, 'schemas'>,
  sent: Json,
  resource: ApiResource,
  { fieldValidation, warn }: Pick<WriteOptions, 'fieldValidation' | 'warn'>,
  { nulls = 'dropped' }: { readonly nulls?: 'dropped' | 'kept' } = {},
): ApiObject {
  const typed = withType(sent, resource);
  const { value, unknown: found } = withBadRequest(resource, () => {
    if (!resource.custom) return withClearedManagers(typed, decodeValue(typed, resource.schema, resource.kind));
    const { metadata = {}, ...rest } = typed;
    const meta = decodeValue(metadata, schemas.objectMeta, 'ObjectMeta', 'metadata');
    const pruned = prune(rest, resource.schema);
    return {
      value: { ...asObject(pruned.value), metadata: meta.value },
      unknown: [...meta.unknown, ...pruned.unknown],
    };
  });
  const unknown = found.toSorted();
  if (unknown.length > 0 && fieldValidation === 'Strict') {
    const listed = unknown.map((field) => `unknown field ${JSON.stringify(field)}`).join(', ');
    throw badRequest(cannotHandle(resource, `strict decoding error: ${listed}`));
  }
  if (fieldValidation === 'Warn') for (const field of unknown) warn(`unknown field ${JSON.stringify(field)}`);
  return complete(asObject(value), resource, nulls);
}

/** Keeps an empty list of managed fields, which clears them and which Go tells from an absent one. */
function withClearedManagers(sent: JsonObject, decoded: Decoded): Decoded {
  const given = getIn(sent, 'metadata', 'managedFields');
  if (!isList(given) || given.length > 0 || !isObject(decoded.value)) return decoded;
  return { ...decoded, value: withPath(decoded.value, ['metadata', 'managedFields'], given) };
}

/** Fills in the defaults of a custom resource. The defaults of a built-in kind are in its `prepare`. */
function complete(value: JsonObject, resource: ApiResource, nulls: 'dropped' | 'kept'): ApiObject {
  const { metadata = {}, ...rest } = value;
  const filled = resource.custom
    ? fillDefaults(nulls === 'kept' ? rest : dropNulls(rest, resource.schema), schemaWithoutMetadata(resource))
    : rest;
  const object = { ...asObject(filled), metadata };
  if (!isApiObject(object)) throw badRequest('the object provided is unrecognized');
  return object;
}

function schemaWithoutMetadata({ schema }: ApiResource): ApiResource['schema'] {
  const { metadata: _, ...properties } = schema.properties ?? {};
  return { ...schema, properties };
}

/**
 * Fills in name and namespace from the URL; an object of the cluster loses a namespace. Throws a 400 StatusError if the
 * object has others.
 */
export function pathMatches(object: ApiObject, { resource, namespace, name }: ObjectTarget): ApiObject {
  const { namespace: given = '', ...metadata } = object.metadata;
  if (name !== '' && (metadata.name ?? '') === '')
    throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  if (name !== '' && metadata.name !== undefined && metadata.name !== name) {
    throw badRequest(`the name of the object (${metadata.name}) does not match the name on the URL (${name})`);
  }
  if (resource.namespaced && given !== '' && given !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  return {
    ...object,
    metadata: {
      ...metadata,
      ...(name === '' ? {} : { name }),
      ...(resource.namespaced ? { namespace } : {}),
    },
  };
}

function withType(sent: Json, resource: ApiResource): JsonObject {
  const { kind } = resource;
  const apiVersion = apiVersionOf(resource);
  if (!isObject(sent)) throw badRequest(cannotHandle(resource, 'json: cannot unmarshal into Go value'));
  if (resource.custom && (typeof sent.kind !== 'string' || sent.kind === '')) {
    const text = JSON.stringify(sent);
    throw unrecognized(resource.kind, `Object 'Kind' is missing in '${text}'`, text);
  }
  const given = { apiVersion: sent.apiVersion ?? apiVersion, kind: sent.kind ?? kind };
  if (given.apiVersion !== apiVersion) {
    throw badRequest(
      `the API version in the data (${String(given.apiVersion)}) does not match the expected API version ` +
        `(${apiVersion})`,
    );
  }
  if (given.kind !== kind) {
    if (!resource.custom)
      throw badRequest(`${String(given.kind)} in version "${resource.version}" cannot be handled as a ${kind}`);
    const name = isObject(sent.metadata) && typeof sent.metadata.name === 'string' ? sent.metadata.name : '';
    throw invalid({ group: resource.group, kind: String(given.kind) }, name, [
      statusCause.invalid('kind', JSON.stringify(given.kind), `must be ${kind}`),
    ]);
  }
  return { ...sent, ...given };
}

function withBadRequest<Read>(resource: ApiResource, read: () => Read): Read {
  try {
    return read();
  } catch (error) {
    if (error instanceof DecodeError) throw badRequest(cannotHandle(resource, error.message));
    throw error;
  }
}

/** Returns the message for a body that is no object of the kind. */
export function cannotHandle({ kind, version }: ApiResource, reason: string): string {
  return `${kind} in version "${version}" cannot be handled as a ${kind}: ${reason}`;
}

function asObject(value: Json): JsonObject {
  return isObject(value) ? value : {};
}
