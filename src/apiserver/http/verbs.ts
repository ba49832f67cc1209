// The verbs of the API on one route: from an exchange to an answer. Watches are the only ones that are not answered at once,
// and live in watch-stream.ts.
import { answerExec, isExec } from '../../local/api-server/exec/exec-answer.ts';
import { isObject, type JsonObject } from '../json.ts';
import { listObjects } from '../read/list.ts';
import { acceptedView } from '../read/media-type.ts';
import { type Presentation, presentList, presentObject } from '../../local/api-server/read/present.ts';
import { selection } from '../../local/api-server/read/selection.ts';
import { collectionOf, collectionSubject, type Resource } from '../registry/resource.ts';
import { methodNotAllowed, notFound, type StatusError } from '../status-error.ts';
import { findObject, type Target, type World } from '../server-state.ts';
import { applyObject, requireManager } from '../write/apply.ts';
import { createObject } from '../write/create.ts';
import { type DeleteOutcome, deleteObject, deleteRequest } from '../../local/api-server/write/delete.ts';
import { APPLY_PATCH, applyPatch, parsePatch, patchObject, requirePatchType } from '../write/patch.ts';
import { atTarget, readObject } from '../write/read-object.ts';
import { scaleOf, updateScale } from '../../local/api-server/write/scale.ts';
import { updateObject } from '../write/update.ts';
import { type Answer, type Exchange, readBody, writeOptions } from './exchange.ts';
import type { Route } from '../../local/api-server/http/route.ts';

const SCALE = { kind: 'Scale', schemaName: 'io.k8s.api.autoscaling.v1.Scale' };
const DELETE_OPTIONS = { kind: 'DeleteOptions', schemaName: 'io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions' };

/** The answer of a path that nobody serves: plain text, as kube-apiserver's. */
export const PAGE_NOT_FOUND: Answer = { status: 404, body: '404 page not found\n' };

/** Answers a request that is no watch. Throws StatusErrors. */
export async function answer(world: World, route: Route, exchange: Exchange): Promise<Answer> {
  const { resource, name, namespace, subresource } = route;
  if (name === undefined) return answerCollection(world, route, exchange);
  const target = { resource, namespace: namespace ?? '', name };
  if (subresource === '') return answerObject(world, target, '', exchange);
  if (subresource === 'status' && resource.status) {
    if (exchange.method === 'DELETE') throw refusal(resource, exchange);
    return answerObject(world, target, 'status', exchange);
  }
  if (subresource === 'scale' && resource.scale !== undefined)
    return answerScale(world, target, resource.scale, exchange);
  if (isExec(route)) return answerExec(world, route, exchange);
  return PAGE_NOT_FOUND;
}

/** Returns how a client wants objects of a kind shown. Throws a 406 StatusError. */
export function presentation({ now }: World, resource: Resource, { accept, query }: Exchange): Presentation {
  return { resource, view: acceptedView(accept), includeObject: query.get('includeObject') ?? 'Metadata', now };
}

async function answerCollection(world: World, route: Route, exchange: Exchange): Promise<Answer> {
  const { resource, namespace } = route;
  const shown = presentation(world, resource, exchange);
  switch (exchange.method) {
    case 'GET': {
      const { items, metadata } = listObjects(
        world.store,
        resource,
        selection(resource, namespace, exchange.query),
        exchange.query,
      );
      return { status: 200, body: presentList(items, metadata, shown) };
    }
    case 'POST': {
      if (resource.namespaced && namespace === undefined) return PAGE_NOT_FOUND;
      const options = writeOptions(exchange, 'CreateOptions');
      const target = { resource, namespace: namespace ?? '', name: '' };
      const object = atTarget(
        readObject(world, await readBody(exchange, world.schemas, resource), resource, options),
        target,
      );
      return { status: 201, body: presentObject(createObject(world, object, resource, options), shown) };
    }
    case 'DELETE': {
      if (resource.namespaced && namespace === undefined) throw refusal(resource, exchange);
      const request = deleteRequest(await optionalBody(world, exchange), exchange.query);
      const { items, metadata } = listObjects(
        world.store,
        resource,
        selection(resource, namespace, exchange.query),
        exchange.query,
      );
      for (const item of items) {
        deleteObject(world, { resource, namespace: namespace ?? '', name: item.metadata.name ?? '' }, request);
      }
      return { status: 200, body: presentList(items, metadata, shown) };
    }
    default:
      throw refusal(resource, exchange);
  }
}

async function answerObject(world: World, target: Target, subresource: string, exchange: Exchange): Promise<Answer> {
  const { resource, name } = target;
  const shown = presentation(world, resource, exchange);
  switch (exchange.method) {
    case 'GET': {
      const object = findObject(world, target);
      if (object === undefined) throw notFound(collectionSubject(resource), name);
      return { status: 200, body: presentObject(object, shown) };
    }
    case 'PUT': {
      const options = writeOptions(exchange, 'UpdateOptions');
      const object = atTarget(
        readObject(world, await readBody(exchange, world.schemas, resource), resource, options),
        target,
      );
      const updated = updateObject(world, target, subresource, () => ({ object, replaces: true }), options);
      return { status: 200, body: presentObject(updated, shown) };
    }
    case 'PATCH': {
      const { contentType } = exchange;
      requirePatchType(contentType, resource);
      if (contentType === APPLY_PATCH) requireManager(exchange.query.get('fieldManager'));
      const options = writeOptions(exchange, 'PatchOptions');
      const text = (await exchange.bytes()).toString();
      if (contentType !== APPLY_PATCH) {
        const patched = patchObject(world, target, subresource, { contentType, text }, options);
        return { status: 200, body: presentObject(patched, shown) };
      }
      const force = exchange.query.get('force') === 'true';
      const { object, created } = applyObject(world, target, subresource, text, force, options);
      return { status: created ? 201 : 200, body: presentObject(object, shown) };
    }
    case 'DELETE': {
      const request = deleteRequest(await optionalBody(world, exchange), exchange.query);
      return { status: 200, body: deleted(deleteObject(world, target, request), target, shown) };
    }
    default:
      throw refusal(resource, exchange);
  }
}

function refusal(resource: Resource, { method }: Exchange): StatusError {
  return methodNotAllowed(collectionSubject(resource), method, resource.custom);
}

function deleted({ object, gone }: DeleteOutcome, { resource, name }: Target, shown: Presentation): JsonObject {
  if (!gone || resource.returnsDeleted === true) return presentObject(object, shown);
  const { group, plural } = resource;
  const details = { name, ...(group === '' ? {} : { group }), kind: plural, uid: object.metadata.uid ?? '' };
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details };
}

async function optionalBody({ schemas }: World, exchange: Exchange): Promise<JsonObject | undefined> {
  const bytes = await exchange.bytes();
  if (bytes.length === 0) return undefined;
  const body = await readBody({ ...exchange, bytes: async () => bytes }, schemas, DELETE_OPTIONS);
  return isObject(body) ? body : undefined;
}

async function answerScale(
  world: World,
  target: Target,
  paths: NonNullable<Resource['scale']>,
  exchange: Exchange,
): Promise<Answer> {
  const { resource, namespace, name } = target;
  const { method, contentType } = exchange;
  if (method === 'GET') {
    const object = world.store.get(collectionOf(resource), { namespace, name });
    if (object === undefined) throw notFound(collectionSubject(resource), name);
    return { status: 200, body: scaleOf(object, paths) };
  }
  if (method === 'PUT') {
    const body = await readBody(exchange, world.schemas, SCALE);
    const options = writeOptions(exchange, 'UpdateOptions');
    return { status: 200, body: updateScale(world, target, paths, () => body, options) };
  }
  if (method !== 'PATCH') throw refusal(resource, exchange);
  requirePatchType(contentType, resource);
  const patch = parsePatch({ contentType, text: (await exchange.bytes()).toString() });
  const options = writeOptions(exchange, 'PatchOptions');
  const change = (scale: JsonObject) => applyPatch(scale, patch, contentType, resource);
  return { status: 200, body: updateScale(world, target, paths, change, options) };
}
