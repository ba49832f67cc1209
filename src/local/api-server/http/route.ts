// From a URL to what it is about: `/api/v1/namespaces/NS/PLURAL/NAME/SUB` and `/apis/GROUP/VERSION/...`.
import type { Registry } from '../../../apiserver/registry/registry.ts';
import type { Resource } from '../../../apiserver/registry/resource.ts';

/** A collection, one object of it, or a subresource of that. */
export interface Route {
  readonly resource: Resource;
  /** Undefined: all namespaces, or a kind without them. */
  readonly namespace: string | undefined;
  /** Undefined: the collection. */
  readonly name: string | undefined;
  readonly subresource: string;
}

/** Finds what a path is about; undefined where nothing is served. */
export function findRoute(registry: Registry, path: string): Route | undefined {
  const [prefix, ...segments] = path.split('/').slice(1).map(decoded);
  if (prefix !== 'api' && prefix !== 'apis') return undefined;
  const [group, version, ...rest] = prefix === 'api' ? ['', ...segments] : segments;
  if (group === undefined || version === undefined) return undefined;
  return findIn(registry, group, version, rest);
}

function findIn(registry: Registry, group: string, version: string, rest: readonly string[]): Route | undefined {
  const [first, namespace, plural, name, subresource = '', ...more] = rest;
  // `/namespaces/NAME/status` is about the namespace, `/namespaces/NAME/PLURAL` about what is in it.
  const inside = plural === undefined ? undefined : registry.find(group, version, plural);
  if (first === 'namespaces' && namespace !== undefined && inside !== undefined) {
    if (more.length > 0 || !inside.namespaced) return undefined;
    return { resource: inside, namespace, name, subresource };
  }
  const [collection, object, below = '', ...beyond] = rest;
  const resource = collection === undefined ? undefined : registry.find(group, version, collection);
  if (resource === undefined || beyond.length > 0) return undefined;
  // One object of a namespaced kind is only found in its namespace.
  if (resource.namespaced && object !== undefined) return undefined;
  return { resource, namespace: undefined, name: object, subresource: below };
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
