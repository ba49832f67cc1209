// Resolves the Services that the rules name to their servers, or to the reason why that fails. Also maps a changed
// Service to the proxies that name it.
//
// A proxy would expose the memcached of any namespace to its clients, so it may name only Services of its own
// namespace.
import type { V1EndpointSlice, V1Service } from '@kubernetes/client-node';
import { type DeclaredCondition, foreignKind, formatKey, type Key, type Live, notOk } from '../../outrigger.ts';
import { type PoolReference, poolsOf } from './config.ts';
import { findPort, nonIpEndpoints, serversOf } from './endpoints.ts';
import { MemcachedProxy, type Rule } from './kind.ts';

/** A pool, its ready servers, and the endpoints without a valid address. */
export type Pool = PoolReference & { readonly ready: readonly string[]; readonly nonIpEndpoints: readonly string[] };

/** The result of resolving the references. */
export type ResolvedPools =
  | { readonly pools: readonly Pool[] }
  | { readonly unresolved: DeclaredCondition & { readonly status: 'False'; readonly message: string } };

/** How EndpointSlices are read: those of one Service, or all of the namespace, grouped by Service. */
type Reads = {
  service(name: string): Promise<Live<V1Service> | undefined>;
  slices(service: string): Promise<readonly Slice[]>;
  allServices(): Promise<ReadonlyMap<string, Live<V1Service>>>;
  allSlices(): Promise<ReadonlyMap<string, readonly Slice[]>>;
};
type Slice = Omit<V1EndpointSlice, 'metadata'>;

/** For more Services than this, the namespace is listed: one request for each 500 objects, not two for each name. */
const maxSingleReads = 8;

/** Resolves the references of a tree of rules. */
export async function resolvePools(rules: Rule, home: string, reads: Reads): Promise<ResolvedPools> {
  const references = poolsOf(rules, home);
  const foreign = references.filter(({ namespace }) => namespace !== home);
  if (foreign.length > 0) return unresolved('RefNotPermitted', 'a Service of another namespace', foreign);

  const names = new Set(references.map((one) => one.name));
  const isListed = names.size > maxSingleReads;
  const services = isListed ? await reads.allServices() : await readEach(names, reads.service);
  const missing = references.filter(({ name }) => !services.has(name));
  if (missing.length > 0) return unresolved('ServiceNotFound', 'there is no Service', missing);

  const slices = isListed ? await reads.allSlices() : await readEach(names, reads.slices);
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

/** Reads sequentially, so that a proxy sends one request at a time. */
async function readEach<T>(
  names: ReadonlySet<string>,
  read: (name: string) => Promise<T | undefined>,
): Promise<ReadonlyMap<string, T>> {
  const found = new Map<string, T>();
  for (const name of names) {
    const one = await read(name);
    if (one !== undefined) found.set(name, one);
  }
  return found;
}

function unresolved(reason: string, what: string, references: readonly Key[]): ResolvedPools {
  const message = `${what}: ${[...new Set(references.map(formatKey))].join(', ')}`;
  return { unresolved: { ...notOk(reason), message } };
}

type Referencing = { readonly metadata: Required<Key>; readonly spec: { readonly rules: Rule } };

/**
 * The part of a proxy with its references. A proxy that cannot be parsed must not prevent the mapping of the others.
 */
export const ReferencingProxy = foreignKind<Referencing, 'MemcachedProxy'>({
  group: MemcachedProxy.group,
  version: MemcachedProxy.version,
  kind: MemcachedProxy.kind,
});

/** Lists the keys of the proxies that name a Service. */
export function proxiesReferencing(service: Key, proxies: readonly Referencing[]): readonly Key[] {
  return proxies
    .filter(({ metadata: { namespace }, spec }) =>
      poolsOf(spec.rules, namespace).some((one) => one.name === service.name && one.namespace === service.namespace),
    )
    .map(({ metadata: { name, namespace } }) => ({ namespace, name }));
}
