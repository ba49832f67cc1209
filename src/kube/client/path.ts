// The only place that turns names into URL paths. Names come from messages and from users' objects. Each one is
// validated by Kubernetes' rule for a path segment and then encoded, so it cannot address a different object.
import { isPathSegment } from '../../core/key.ts';
import type { ObjectKey, ResourceName } from './object.ts';

/** Encodes one path segment. Throws a TypeError that quotes the segment if it is invalid, after the kind `of` it. */
export function pathSegment(name: string, of?: string): string {
  if (!isPathSegment(name))
    throw new TypeError(`${of === undefined ? '' : `${of}: `}not a valid API path segment: ${JSON.stringify(name)}`);
  return encodeURIComponent(name);
}

/**
 * Builds the path of a collection, such as `/apis/apps/v1/namespaces/shop/deployments`. Without a namespace, the path
 * is that of the collection across all namespaces. Throws a TypeError for an invalid path segment, and for a namespace
 * of a cluster-scoped resource.
 */
export function collectionPath(resource: ResourceName, namespace?: string): string {
  const version = pathSegment(resource.version);
  const root = resource.group === '' ? `/api/${version}` : `/apis/${pathSegment(resource.group)}/${version}`;
  const plural = pathSegment(resource.plural);
  if (namespace === undefined) return `${root}/${plural}`;
  if (!resource.namespaced)
    throw new TypeError(`${resource.plural} are cluster-scoped, got the namespace ${JSON.stringify(namespace)}`);
  return `${root}/namespaces/${pathSegment(namespace, resource.plural)}/${plural}`;
}

/** What a path has below the version of its API. `object`: the path without the subresource. */
type PathParts = { readonly plural: string; readonly object: string; readonly subresource: string | undefined };

/** Reads a path. Text before it, such as a method, is skipped. */
export function partsOf(path: string): PathParts {
  const [root = ''] = /^.*?\/(?:api|apis\/[^/]+)\/[^/]+\//.exec(path) ?? [];
  const parts = path.slice(root.length).split('/');
  // Only the subresources of a Namespace look like a collection in it.
  const isWithin = parts[0] === 'namespaces' && parts.length > 2 && !['status', 'finalize'].includes(parts[2] ?? '');
  const [plural = '', , subresource] = isWithin ? parts.slice(2) : parts;
  return { plural, object: subresource === undefined ? path : path.slice(0, -subresource.length - 1), subresource };
}

/** Builds the path of an object or its subresource. Throws as collectionPath does, and for a missing namespace. */
export function objectPath(resource: ResourceName, key: ObjectKey, subresource?: string): string {
  if (resource.namespaced && key.namespace === undefined) {
    throw new TypeError(`${resource.plural} are namespaced, got no namespace for ${JSON.stringify(key.name)}`);
  }
  const path = `${collectionPath(resource, key.namespace)}/${pathSegment(key.name, resource.plural)}`;
  return subresource === undefined ? path : `${path}/${pathSegment(subresource)}`;
}
