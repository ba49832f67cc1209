// Converts a Service and its EndpointSlices to the servers of a pool. Pure. Slices are matched by the name of the
// Service's port. They have the resolved number, which may differ between slices, because a named target port is
// resolved for each pod.
import { isIP } from 'node:net';
import type { V1Endpoint, V1EndpointSlice, V1Service } from '@kubernetes/client-node';
import type { PortReference } from './kind.ts';

/** The label that names an EndpointSlice's Service (Kubernetes: "Well-Known Labels"). */
export const serviceNameLabel = 'kubernetes.io/service-name';

/** Finds the TCP port of a Service that a rule names; undefined if there is none. */
export function findPort(
  { spec }: Pick<V1Service, 'spec'>,
  wanted: PortReference,
): { readonly name: string } | undefined {
  const found = spec?.ports?.find(
    ({ name, port, protocol = 'TCP' }) =>
      protocol === 'TCP' && (typeof wanted === 'number' ? port === wanted : name === wanted),
  );
  return found === undefined ? undefined : { name: found.name ?? '' };
}

/** Lists the ready servers behind a Service's port as `address:port`, in the order of addresses, each once. */
export function serversOf(
  { spec }: Pick<V1Service, 'spec'>,
  port: { readonly name: string },
  slices: readonly V1EndpointSlice[],
): readonly string[] {
  // A pod of a dual-stack Service has an address in each family. With both it would count as two servers.
  const family = spec?.ipFamilies?.[0];
  const found = new Map<string, { readonly address: bigint; readonly port: number }>();
  for (const { addressType, endpoints, ports } of slices) {
    if (family !== undefined && addressType !== family) continue;
    const numbers = (ports ?? []).flatMap((one) =>
      (one.name ?? '') === port.name && (one.protocol ?? 'TCP') === 'TCP' ? (one.port ?? []) : [],
    );
    for (const { addresses, conditions } of endpoints ?? []) {
      // The addresses of one endpoint are the same server. An endpoint without a condition counts as ready.
      const [address] = addresses;
      if (address === undefined || !isReady(conditions) || !isAddress(address, addressType)) continue;
      for (const number of numbers) {
        const host = addressType === 'IPv6' ? `[${address}]` : address;
        found.set(`${host}:${number}`, { address: addressNumber(address), port: number });
      }
    }
  }
  return [...found]
    .sort(([, a], [, b]) => (a.address === b.address ? a.port - b.port : a.address < b.address ? -1 : 1))
    .map(([server]) => server);
}

/** Lists the addresses of ready endpoints that are no IP addresses. Names are never resolved. */
export function nonIpEndpoints(slices: readonly V1EndpointSlice[]): readonly string[] {
  const found = slices.flatMap(({ addressType, endpoints }) =>
    (endpoints ?? [])
      .filter(({ conditions }) => isReady(conditions))
      .flatMap(({ addresses }) => addresses.slice(0, 1).filter((address) => !isAddress(address, addressType))),
  );
  return [...new Set(found)].sort();
}

function isReady(conditions: V1Endpoint['conditions']): boolean {
  return conditions?.ready !== false && conditions?.terminating !== true;
}

function isAddress(address: string, addressType: string): boolean {
  return addressType === `IPv${isIP(address)}`;
}

/** An address as a number, so that 10.0.0.9 comes before 10.0.0.10. */
function addressNumber(address: string): bigint {
  if (!address.includes(':')) return joined(address.split('.').map(Number), 8n);
  // A URL writes an IPv6 address in one way: hexadecimal groups, one gap at most.
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [left = '', right] = canonical.split('::');
  const groups = (text: string) => (text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16)));
  const [before, after] = [groups(left), groups(right ?? '')];
  const gap = right === undefined ? [] : Array.from({ length: 8 - before.length - after.length }, () => 0);
  return joined([...before, ...gap, ...after], 16n);
}

function joined(parts: readonly number[], bits: bigint): bigint {
  return parts.reduce((sum, part) => (sum << bits) | BigInt(part), 0n);
}
