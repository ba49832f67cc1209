// From what a client sent, already parsed, to an object of a kind: identity checked against the URL, unknown fields dropped and
// told, defaults filled in. Everything that writes comes through here.
import { isObject, type Json, type JsonObject } from '../json.ts';
import { type ApiObject, isApiObject } from '../object.ts';
import { apiVersionOf, type Resource } from '../registry/resource.ts';
import { DecodeError, decode } from '../schema/decode.ts';
import { dropNulls, fillDefaults, prune } from '../schema/prune.ts';
import { badRequest, cause, invalid, unrecognized } from '../status-error.ts';
import type { Target, World, WriteOptions } from '../server-state.ts';

/**
 * Reads an object of a kind. Throws a 400 StatusError for what is no such object, and for unknown fields where they are not
 * allowed; otherwise unknown fields are dropped, with a warning where one was asked for.
 */
export function readObject(
  { schemas }: Pick<World, 'schemas'>,
  sent: Json,
  resource: Resource,
  { fieldValidation, warn }: Pick<WriteOptions, 'fieldValidation' | 'warn'>,
): ApiObject {
  const typed = withType(sent, resource);
  const { value, unknown: found } = reading(resource, () => {
    if (!resource.custom) return decode(typed, resource.schema, resource.kind);
    const { metadata = {}, ...rest } = typed;
    const meta = decode(metadata, schemas.objectMeta, 'ObjectMeta', 'metadata');
    const pruned = prune(rest, resource.schema);
    return {
      value: { ...asObject(pruned.value), metadata: meta.value },
      unknown: [...meta.unknown, ...pruned.unknown],
    };
  });
  const unknown = found.toSorted();
  if (unknown.length > 0 && fieldValidation === 'Strict') {
    const listed = unknown.map((field) => `unknown field ${JSON.stringify(field)}`).join(', ');
    throw badRequest(cannot(resource, `strict decoding error: ${listed}`));
  }
  if (fieldValidation === 'Warn') for (const field of unknown) warn(`unknown field ${JSON.stringify(field)}`);
  return complete(asObject(value), resource);
}

/** Fills in defaults of a custom resource; a built-in kind has its own way, in `prepare`. */
function complete(value: JsonObject, resource: Resource): ApiObject {
  const { metadata = {}, ...rest } = value;
  const filled = resource.custom ? fillDefaults(dropNulls(rest, resource.schema), contentOf(resource)) : rest;
  const object = { ...asObject(filled), metadata };
  if (!isApiObject(object)) throw badRequest('the object provided is unrecognized');
  return object;
}

function contentOf({ schema }: Resource): Resource['schema'] {
  const { metadata: _, ...properties } = schema.properties ?? {};
  return { ...schema, properties };
}

/** Checks an object's identity against the request's, and completes it. Throws a 400 StatusError where they differ. */
export function atTarget(object: ApiObject, { resource, namespace, name }: Target): ApiObject {
  const { metadata } = object;
  if (name !== '' && metadata.name !== undefined && metadata.name !== name) {
    throw badRequest(`the name of the object (${metadata.name}) does not match the name on the URL (${name})`);
  }
  if (metadata.namespace !== undefined && metadata.namespace !== namespace) {
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

function withType(sent: Json, resource: Resource): JsonObject {
  const { kind } = resource;
  const apiVersion = apiVersionOf(resource);
  if (!isObject(sent)) throw badRequest(cannot(resource, 'json: cannot unmarshal into Go value'));
  if (resource.custom && (typeof sent.kind !== 'string' || sent.kind === '')) {
    const text = JSON.stringify(sent);
    throw unrecognized(resource.kind, `Object 'Kind' is missing in '${text}'`, text);
  }
  const given = { apiVersion: sent.apiVersion ?? apiVersion, kind: sent.kind ?? kind };
  if (given.apiVersion !== apiVersion) {
    throw badRequest(
      `the API version in the data (${String(given.apiVersion)}) does not match the expected API version (${apiVersion})`,
    );
  }
  if (given.kind !== kind) {
    if (!resource.custom)
      throw badRequest(`${String(given.kind)} in version "${resource.version}" cannot be handled as a ${kind}`);
    const name = isObject(sent.metadata) && typeof sent.metadata.name === 'string' ? sent.metadata.name : '';
    throw invalid({ group: resource.group, kind: String(given.kind) }, name, [
      cause.invalid('kind', JSON.stringify(given.kind), `must be ${kind}`),
    ]);
  }
  return { ...sent, ...given };
}

function reading<Read>(resource: Resource, read: () => Read): Read {
  try {
    return read();
  } catch (error) {
    if (error instanceof DecodeError) throw badRequest(cannot(resource, error.message));
    throw error;
  }
}

function cannot({ kind, version }: Resource, why: string): string {
  return `${kind} in version "${version}" cannot be handled as a ${kind}: ${why}`;
}

function asObject(value: Json): JsonObject {
  return isObject(value) ? value : {};
}
