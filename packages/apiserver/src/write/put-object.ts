// Stores an object within the limits of etcd, which kube-apiserver passes on to the client as an error 500.
import { isList, isObject, type Json } from '../json.ts';
import { type ApiObject, isApiObject, withMetadata } from '../object.ts';
import { type ApiResource, asStored, collectionOf } from '../registry/resource.ts';
import type { Schema } from '../schema/schema.ts';
import type { ServerState } from '../server-state.ts';
import { StatusError } from '../status-error.ts';

/** etcd's --max-request-bytes. */
const maxStoredBytes = 1.5 * 1024 * 1024;
/** The limit of the etcd client for one message. */
const maxSentBytes = 2 * 1024 * 1024;
/** The request around the object: its key, and the comparison with its version. About 250 bytes were measured. */
const requestBytes = 256;

/**
 * Stores a new or changed object. If it is too large only with its managed fields, they are dropped, unless it was
 * applied (endpoints/handlers/patch.go). Throws a 500 StatusError for an object that etcd would not store. An object of
 * a built-in kind is measured as JSON too, although kube-apiserver stores it as the smaller protobuf.
 */
export function putObject(
  { store }: Pick<ServerState, 'store'>,
  object: ApiObject,
  resource: ApiResource,
  { applied }: { readonly applied: boolean },
): ApiObject {
  const ordered = inOrder(object, resource.custom ? undefined : resource.schema);
  const stored = asStored(isApiObject(ordered) ? ordered : object, resource);
  if (tooLarge(stored) === undefined) return store.put(collectionOf(resource), stored);
  const smaller = applied ? stored : withMetadata(stored, { managedFields: undefined });
  const error = tooLarge(smaller);
  if (error !== undefined) throw new StatusError(500, '', error);
  return store.put(collectionOf(resource), smaller);
}

/** Puts the fields of objects into the order in which they are returned: that of the Go type, and in maps sorted. */
function inOrder(value: Json, schema: Schema | undefined): Json {
  if (isList(value)) return value.map((item) => inOrder(item, schema?.items));
  if (!isObject(value)) return value;
  const { properties = {}, additionalProperties } = schema ?? {};
  const others = Object.keys(value).filter((field) => !Object.hasOwn(properties, field));
  const fields = [...Object.keys(properties), ...others.sort()];
  const ofAll = typeof additionalProperties === 'object' ? additionalProperties : undefined;
  return Object.fromEntries(
    fields.flatMap((field): [string, Json][] => {
      const content = value[field];
      return content === undefined ? [] : [[field, inOrder(content, properties[field] ?? ofAll)]];
    }),
  );
}

function tooLarge(object: ApiObject): string | undefined {
  const bytes = Buffer.byteLength(JSON.stringify(object)) + requestBytes;
  if (bytes > maxSentBytes) {
    const sizes = `(${bytes} vs. ${maxSentBytes})`;
    return `rpc error: code = ResourceExhausted desc = trying to send message larger than max ${sizes}`;
  }
  return bytes > maxStoredBytes ? 'etcdserver: request is too large' : undefined;
}
