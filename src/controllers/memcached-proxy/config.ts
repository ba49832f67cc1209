// The configuration of mcrouter: pools of servers, and a route over them. Pure. The same input gives the same bytes,
// because the name of a configuration is made from its content.
//
// Replication follows mcrouter's "Replicated pools setup": a read goes to one replica, or to the next one if that fails
// (LatestRoute), and everything else to all replicas (AllSyncRoute). A delete on one replica only would leave the key
// on the others.
import { createHash } from 'node:crypto';
import type { Rule, ServiceReference } from './kind.ts';

type Reference = ServiceReference & { readonly namespace: string };

/** A Service that the rules name, and the name of its pool. */
export type PoolReference = Reference & { readonly pool: string };

/** Servers of pools, as `address:port`. */
export type Servers = ReadonlyMap<string, readonly string[]>;

type Route =
  | string
  | { readonly type: string; readonly children: readonly Route[] }
  | {
      readonly type: 'OperationSelectorRoute';
      readonly default_policy: Route;
      readonly operation_policies: { readonly get: Route };
    };

/** Makes a name from a content: hexadecimal digits of its SHA-1, from the third on. Five digits are 20 bits. */
export function shortHash(parts: readonly string[], digits = 5): string {
  return createHash('sha1')
    .update(parts.join(''))
    .digest('hex')
    .slice(2, 2 + digits);
}

/** Lists the Services that a tree of rules names, each port of each once, in the order in which they are named. */
export function poolsOf(rules: Rule, home: string): readonly PoolReference[] {
  const found = new Map<string, Reference>();
  const visit = ({ service, children = [] }: Rule): void => {
    if (service !== undefined) {
      const { name, namespace = home, port } = service;
      found.set(identityOf(service, home), { name, namespace, port });
    }
    for (const child of children) visit(child);
  };
  visit(rules);
  const hashOf = ({ name, namespace, port }: Reference) => shortHash([name, namespace, String(port)]);
  const byName = Map.groupBy(found.values(), hashOf);
  // With 256 Services, two have the same 20 bits in 3 % of the proxies. Two texts may also be the same when joined.
  const poolOf = (name: string, one: Reference) =>
    (byName.get(name) ?? []).length > 1 ? `${name}${shortHash([identityOf(one, home)], addedDigits)}` : name;
  return [...found.values()].map((one) => ({ ...one, pool: poolOf(hashOf(one), one) }));
}

/** Added to a name that two Services have. */
const addedDigits = 11;

/** Port 11211 is another port than one with the name "11211". */
function identityOf({ name, namespace, port }: ServiceReference, home: string): string {
  return JSON.stringify([name, namespace ?? home, port]);
}

/** Writes the configuration, compact and with its pools in order. */
export function formatConfig(rules: Rule, home: string, servers: Servers): string {
  const pools = [...servers].sort(([a], [b]) => (a < b ? -1 : 1)).map(([pool, list]) => [pool, { servers: list }]);
  const names = new Map(poolsOf(rules, home).map((one) => [identityOf(one, home), one.pool]));
  const poolName = (service: ServiceReference) => names.get(identityOf(service, home)) ?? '';
  return JSON.stringify({ pools: Object.fromEntries(pools), route: routeOf(rules, poolName) });
}

function routeOf(rule: Rule, poolName: (service: ServiceReference) => string): Route {
  const { type, service, children = [] } = rule;
  const below = () => children.map((child) => routeOf(child, poolName));
  const over = (route: string): Route =>
    service === undefined ? { type: route, children: below() } : `${route}|Pool|${poolName(service)}`;
  if (type === 'replicated') {
    return {
      type: 'OperationSelectorRoute',
      default_policy: over('AllSyncRoute'),
      operation_policies: { get: over('LatestRoute') },
    };
  }
  return service === undefined ? { type: 'HashRoute', children: below() } : `PoolRoute|${poolName(service)}`;
}
