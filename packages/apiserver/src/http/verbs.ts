// The verbs of the API: get, list, create, update, patch, apply, delete, deletecollection, and the subresources. Each
// returns one response. Watches are in watch-stream.ts, because their response is a stream.
import { handleExec, isExec } from '../exec/pods-exec.ts';
import { getList, getString, isObject, type JsonObject } from '../json.ts';
import { isSet } from '../query.ts';
import { listObjects } from '../read/list.ts';
import { acceptedView } from '../read/media-type.ts';
import { type MediaType, presentList, presentObject } from '../read/present.ts';
import { parseSelection } from '../read/selection.ts';
import { type ApiResource, collectionOf, collectionSubject } from '../registry/resource.ts';
import { findObject, type ObjectTarget, type ServerState } from '../server-state.ts';
import { badRequest, methodNotAllowed, notFound, resourceNotFound, type StatusError } from '../status-error.ts';
import { requireManager, requireNoForce, serverSideApply } from '../write/apply.ts';
import { createObject } from '../write/create.ts';
import { type DeleteOutcome, deleteObject, deleteRequest } from '../write/delete.ts';
import { applyPatch, applyPatchType, invalidPatch, parsePatch, patchObject, requirePatchType } from '../write/patch.ts';
import { pathMatches, readObject } from '../write/read-object.ts';
import { applyScale, isScale, scaleOf, updateScale } from '../write/scale.ts';
import { replaceObject } from '../write/update.ts';
import { type Exchange, type HttpResponse, readRequestBody, writeOptions, writerOf } from './exchange.ts';
import type { Route } from './route.ts';

const scaleSchema = { kind: 'Scale', schemaName: 'io.k8s.api.autoscaling.v1.Scale' };
const deleteOptions = { kind: 'DeleteOptions', schemaName: 'io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions' };

/** The response to an unknown path. It is plain text, as kube-apiserver sends it. */
export const pageNotFound: HttpResponse = { status: 404, body: '404 page not found\n' };

/** Handles a request that is not a watch. Throws StatusErrors. */
export async function handleRequest(state: ServerState, route: Route, exchange: Exchange): Promise<HttpResponse> {
  const { resource, name, namespace, subresource } = route;
  if (name === undefined) return handleCollection(state, route, exchange);
  const target = { resource, namespace: namespace ?? '', name };
  if (subresource === '') return handleObject(state, target, '', exchange);
  if (subresource === 'status' && resource.status) {
    if (exchange.method === 'DELETE') throw unsupportedMethod(resource, exchange);
    return handleObject(state, target, 'status', exchange);
  }
  if (subresource === 'scale' && resource.scale !== undefined)
    return handleScale(state, target, resource.scale, exchange);
  if (subresource === 'log' && resource.plural === 'pods') return podLog(state, target, exchange);
  if (isExec(route)) return handleExec(state, route, exchange);
  // kube-apiserver names the object of a custom kind, even if it exists. The Status of a built-in kind names nothing.
  throw resource.custom ? notFound(collectionSubject(resource), name) : resourceNotFound();
}

/** Returns the representation that the client accepts. Throws a 406 StatusError. */
export function mediaTypeOf({ now }: ServerState, resource: ApiResource, { accept, query }: Exchange): MediaType {
  return { resource, view: acceptedView(accept), includeObject: query.get('includeObject') ?? 'Metadata', now };
}

async function handleCollection(state: ServerState, route: Route, exchange: Exchange): Promise<HttpResponse> {
  const { resource, namespace } = route;
  const mediaType = mediaTypeOf(state, resource, exchange);
  const { query } = exchange;
  const selected = () => listObjects(state.store, resource, parseSelection(resource, namespace, query), query);
  switch (exchange.method) {
    case 'GET': {
      const { items, metadata } = selected();
      return { status: 200, body: presentList(items, metadata, mediaType) };
    }
    case 'POST': {
      if (resource.namespaced && namespace === undefined) return pageNotFound;
      const options = writeOptions(exchange, 'CreateOptions');
      const target = { resource, namespace: namespace ?? '', name: '' };
      const object = pathMatches(
        readObject(state, await readRequestBody(exchange, state.schemas, resource), resource, options),
        target,
      );
      return { status: 201, body: presentObject(createObject(state, object, resource, options), mediaType) };
    }
    case 'DELETE': {
      if (resource.namespaced && namespace === undefined) throw unsupportedMethod(resource, exchange);
      const request = deleteRequest(await optionalBody(state, exchange), query, writerOf(exchange));
      const { items, metadata } = selected();
      for (const item of items) {
        deleteObject(state, { resource, namespace: namespace ?? '', name: item.metadata.name ?? '' }, request);
      }
      return { status: 200, body: presentList(items, metadata, mediaType) };
    }
    default:
      throw unsupportedMethod(resource, exchange);
  }
}

async function handleObject(
  state: ServerState,
  target: ObjectTarget,
  subresource: string,
  exchange: Exchange,
): Promise<HttpResponse> {
  const { resource, name } = target;
  const mediaType = mediaTypeOf(state, resource, exchange);
  switch (exchange.method) {
    case 'GET': {
      const object = findObject(state, target);
      if (object === undefined) throw notFound(collectionSubject(resource), name);
      return { status: 200, body: presentObject(object, mediaType) };
    }
    case 'PUT': {
      const options = writeOptions(exchange, 'UpdateOptions');
      const object = pathMatches(
        readObject(state, await readRequestBody(exchange, state.schemas, resource), resource, options),
        target,
      );
      const { object: stored, created } = replaceObject(state, target, subresource, object, options);
      return { status: created ? 201 : 200, body: presentObject(stored, mediaType) };
    }
    case 'PATCH': {
      const { contentType } = exchange;
      requirePatchType(contentType, resource);
      if (contentType === applyPatchType) requireManager(exchange.query.get('fieldManager'));
      const options = writeOptions(exchange, 'PatchOptions');
      const text = (await exchange.bytes()).toString();
      if (contentType !== applyPatchType) {
        requireNoForce(exchange.query);
        const patched = patchObject(state, target, subresource, { contentType, text }, options);
        return { status: 200, body: presentObject(patched, mediaType) };
      }
      const force = isSet(exchange.query, 'force') === true;
      const { object, created } = serverSideApply(state, target, subresource, text, force, options);
      return { status: created ? 201 : 200, body: presentObject(object, mediaType) };
    }
    case 'DELETE': {
      const request = deleteRequest(await optionalBody(state, exchange), exchange.query, writerOf(exchange));
      return { status: 200, body: deleteResponse(deleteObject(state, target, request), target, mediaType) };
    }
    default:
      throw unsupportedMethod(resource, exchange);
  }
}

/** The log of a pod's container, as text. A pod that was never scheduled has none. */
function podLog(state: ServerState, target: ObjectTarget, exchange: Exchange): HttpResponse {
  const { resource, namespace, name } = target;
  if (exchange.method !== 'GET') throw unsupportedMethod(resource, exchange);
  const pod = findObject(state, target);
  if (pod === undefined) throw notFound(collectionSubject(resource), name);
  const containers = getList(pod, 'spec', 'containers').map((one) => getString(one, 'name'));
  const container = exchange.query.get('container') ?? containers[0] ?? '';
  if (!containers.includes(container)) throw badRequest(`container ${container} is not valid for pod ${name}`);
  if (getString(pod, 'spec', 'nodeName') === '') return { status: 204, body: '' };
  return { status: 200, body: state.readLog({ namespace, pod: name, container }) };
}

function unsupportedMethod(resource: ApiResource, { method }: Exchange): StatusError {
  return methodNotAllowed(collectionSubject(resource), method, resource.custom);
}

function deleteResponse(
  { object, gone }: DeleteOutcome,
  { resource, name }: ObjectTarget,
  mediaType: MediaType,
): JsonObject {
  if (!gone || resource.returnsDeleted === true) return presentObject(object, mediaType);
  const { group, plural } = resource;
  const details = { name, ...(group === '' ? {} : { group }), kind: plural, uid: object.metadata.uid ?? '' };
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details };
}

async function optionalBody({ schemas }: ServerState, exchange: Exchange): Promise<JsonObject | undefined> {
  const bytes = await exchange.bytes();
  if (bytes.length === 0) return undefined;
  const body = await readRequestBody({ ...exchange, bytes: async () => bytes }, schemas, deleteOptions);
  return isObject(body) ? body : undefined;
}

async function handleScale(
  state: ServerState,
  target: ObjectTarget,
  paths: NonNullable<ApiResource['scale']>,
  exchange: Exchange,
): Promise<HttpResponse> {
  const { resource, namespace, name } = target;
  const { method, contentType } = exchange;
  if (method === 'GET') {
    const object = state.store.get(collectionOf(resource), { namespace, name });
    if (object === undefined) throw notFound(collectionSubject(resource), name);
    return { status: 200, body: scaleOf(object, paths) };
  }
  if (method === 'PUT') {
    const body = await readRequestBody(exchange, state.schemas, scaleSchema);
    const options = writeOptions(exchange, 'UpdateOptions');
    return { status: 200, body: updateScale(state, target, paths, () => body, options) };
  }
  if (method !== 'PATCH') throw unsupportedMethod(resource, exchange);
  requirePatchType(contentType, resource);
  if (contentType === applyPatchType) requireManager(exchange.query.get('fieldManager'));
  const options = writeOptions(exchange, 'PatchOptions');
  const text = (await exchange.bytes()).toString();
  if (contentType === applyPatchType) {
    const force = isSet(exchange.query, 'force') === true;
    return { status: 200, body: applyScale(state, target, paths, { text, force }, options) };
  }
  requireNoForce(exchange.query);
  const patch = parsePatch({ contentType, text });
  const change = (scale: JsonObject) => {
    const patched = applyPatch(scale, patch, contentType, resource);
    if (!isScale(patched)) throw invalidPatch(patched, 'spec.replicas must be a whole number');
    return patched;
  };
  return { status: 200, body: updateScale(state, target, paths, change, options) };
}
