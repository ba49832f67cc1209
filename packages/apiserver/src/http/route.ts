// Routes a URL path to a kind, an object and a subresource: `/api/v1/namespaces/NS/PLURAL/NAME/SUB` and
// `/apis/GROUP/VERSION/...`.
import type { ResourceRegistry } from '../registry/registry.ts';
import type { ApiResource } from '../registry/resource.ts';

/** A collection, one of its objects, or a subresource of that object. */
export type Route = {
  readonly resource: ApiResource;
  /** Undefined: all namespaces, or a cluster-scoped kind. */
  readonly namespace: string | undefined;
  /** Undefined: the collection. */
  readonly name: string | undefined;
  readonly subresource: string;
};

/** Returns the route of a path, or undefined if nothing is served there. */
export function findRoute(registry: ResourceRegistry, path: string): Route | undefined {
  const [prefix, ...segments] = path.split('/').slice(1).map(decodeSegment);
  if (prefix !== 'api' && prefix !== 'apis') return undefined;
  const [group, version, ...rest] = prefix === 'api' ? ['', ...segments] : segments;
  if (group === undefined || version === undefined) return undefined;
  return findInVersion(registry, group, version, rest);
}

function findInVersion(
  registry: ResourceRegistry,
  group: string,
  version: string,
  rest: readonly string[],
): Route | undefined {
  const [first, namespace, plural, name, subresource = '', ...more] = rest;
  // `/namespaces/NAME/status` is a subresource of the namespace, `/namespaces/NAME/PLURAL` a collection in it.
  const namespacedKind = plural === undefined ? undefined : registry.find(group, version, plural);
  if (first === 'namespaces' && namespace !== undefined && namespacedKind !== undefined) {
    if (more.length > 0 || !namespacedKind.namespaced) return undefined;
    return { resource: namespacedKind, namespace, name, subresource };
  }
  const [collection, object, objectSubresource = '', ...extra] = rest;
  const resource = collection === undefined ? undefined : registry.find(group, version, collection);
  if (resource === undefined || extra.length > 0) return undefined;
  // The path of one object of a namespaced kind must contain its namespace.
  if (resource.namespaced && object !== undefined) return undefined;
  return { resource, namespace: undefined, name: object, subresource: objectSubresource };
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
