// Names become URL paths here and nowhere else. They come from messages and from users' objects, so each is held to
// Kubernetes' own rule for a path segment and encoded: no name can address another object than the one it names.
import { isPathSegment } from '../../core/key.ts';
import type { ObjectKey, ResourceName } from './object.ts';

/** Encodes one path segment. Throws a TypeError that names the segment when it may not stand in a path. */
export function pathSegment(name: string): string {
  // Half a surrogate pair cannot be encoded.
  if (!isPathSegment(name) || !name.isWellFormed())
    throw new TypeError(`not a name for an API path: ${JSON.stringify(name)}`);
  return encodeURIComponent(name);
}

/**
 * Builds the path of a collection, `/apis/apps/v1/namespaces/shop/deployments`. Without a namespace it is the
 * collection across all namespaces. Throws a TypeError for a name that is not a path segment, and for a namespace on a
 * cluster-scoped collection.
 */
export function collectionPath(resource: ResourceName, namespace?: string): string {
  const version = pathSegment(resource.version);
  const root = resource.group === '' ? `/api/${version}` : `/apis/${pathSegment(resource.group)}/${version}`;
  const plural = pathSegment(resource.plural);
  if (namespace === undefined) return `${root}/${plural}`;
  if (!resource.namespaced)
    throw new TypeError(`${resource.plural} live in no namespace, got ${JSON.stringify(namespace)}`);
  return `${root}/namespaces/${pathSegment(namespace)}/${plural}`;
}

/** Builds the path of one object or of its subresource. Throws a TypeError as collectionPath does, and for a missing namespace. */
export function objectPath(resource: ResourceName, key: ObjectKey, subresource?: string): string {
  if (resource.namespaced && key.namespace === undefined) {
    throw new TypeError(`${resource.plural} live in a namespace, got none for ${JSON.stringify(key.name)}`);
  }
  const path = `${collectionPath(resource, key.namespace)}/${pathSegment(key.name)}`;
  return subresource === undefined ? path : `${path}/${pathSegment(subresource)}`;
}
