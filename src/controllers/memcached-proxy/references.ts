// From the Services that the rules name to the servers behind them, or to the reason why not; and the way back, from a
// Service that changed to the proxies that name it.
//
// A proxy would expose the memcached of any namespace to its clients, so it may name only Services of its own
// namespace.
import type { V1EndpointSlice, V1Service } from '@kubernetes/client-node';
import { type DeclaredCondition, foreignKind, formatKey, type Key, type Meta, notOk } from '../../outrigger.ts';
import { type PoolReference, poolsOf } from './config.ts';
import { findPort, nonIpEndpoints, serversOf } from './endpoints.ts';
import { MemcachedProxy, type Rule } from './kind.ts';

/** A pool, the servers that are ready for it now, and what calls itself one without having an address. */
export type Pool = PoolReference & { readonly ready: readonly string[]; readonly nonIpEndpoints: readonly string[] };

/** What the references resolve to. */
export type ResolvedPools =
  | { readonly pools: readonly Pool[] }
  | { readonly unresolved: DeclaredCondition & { readonly status: 'False'; readonly message: string } };

/** How the references are read. */
type Reads = {
  service(name: string): Promise<Omit<V1Service, 'metadata'> | undefined>;
  slices(service: string): Promise<readonly Omit<V1EndpointSlice, 'metadata'>[]>;
};

/** Resolves the references of a tree of rules: one read of each Service, one list of its slices. */
export async function resolvePools(rules: Rule, home: string, reads: Reads): Promise<ResolvedPools> {
  const references = poolsOf(rules, home);
  const foreign = references.filter(({ namespace }) => namespace !== home);
  if (foreign.length > 0) return unresolved('RefNotPermitted', 'a Service of another namespace', foreign);

  const services = new Map<string, Omit<V1Service, 'metadata'>>();
  for (const name of new Set(references.map((one) => one.name))) {
    const found = await reads.service(name);
    if (found !== undefined) services.set(name, found);
  }
  const missing = references.filter(({ name }) => !services.has(name));
  if (missing.length > 0) return unresolved('ServiceNotFound', 'there is no Service', missing);

  const slices = new Map<string, readonly Omit<V1EndpointSlice, 'metadata'>[]>();
  for (const name of services.keys()) slices.set(name, await reads.slices(name));
  const pools: Pool[] = [];
  for (const reference of references) {
    const service = services.get(reference.name) ?? {};
    const port = findPort(service, reference.port);
    if (port === undefined) {
      return unresolved('PortNotFound', `there is no TCP port ${reference.port} on Service`, [reference]);
    }
    const behind = slices.get(reference.name) ?? [];
    pools.push({ ...reference, ready: serversOf(service, port, behind), nonIpEndpoints: nonIpEndpoints(behind) });
  }
  return { pools };
}

function unresolved(reason: string, what: string, references: readonly Key[]): ResolvedPools {
  const message = `${what}: ${[...new Set(references.map(formatKey))].join(', ')}`;
  return { unresolved: { ...notOk(reason), message } };
}

type Referencing = { readonly metadata: Meta; readonly spec: { readonly rules: Rule } };

/** Proxies, as much of them as says what they name: one that cannot be read must not keep the others from following. */
export const ReferencingProxy = foreignKind<Referencing, 'MemcachedProxy'>({
  group: MemcachedProxy.group,
  version: MemcachedProxy.version,
  kind: MemcachedProxy.kind,
});

/** Lists the keys of the proxies that name a Service. */
export function proxiesReferencing(service: Key, proxies: readonly Referencing[]): readonly Key[] {
  return proxies
    .filter(({ metadata: { namespace = '' }, spec }) =>
      poolsOf(spec.rules, namespace).some((one) => one.name === service.name && one.namespace === service.namespace),
    )
    .map(({ metadata: { name, namespace } }) => (namespace === undefined ? { name } : { namespace, name }));
}
