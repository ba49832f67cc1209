// Which configurations there should be, and which one is rolled out. A configuration never changes: a change is another
// ConfigMap, and pods get it by the Deployment's rolling update. Pure; who reads and writes is ../memcached-proxy.ts.
//
// A ConfigMap stays for as long as a ReplicaSet names it, so that a rollback finds its configuration, and is then
// pruned. It stays ours meanwhile: handing it over to the ReplicaSet would do the same by garbage collection, but two
// controllers would write one kind.

import type { V1ConfigMap, V1Deployment, V1ReplicaSet } from '@kubernetes/client-node';
import * as z from 'zod';
import { type Live, type Meta, parseJson } from '../../outrigger.ts';
import { configIn, configMapName, mountedConfigMap, proxyConfigMap } from './children.ts';
import { formatConfig, type Servers } from './config.ts';
import type { Rule } from './kind.ts';
import type { Pool } from './references.ts';

/** What the plan is made of. */
export type RollOutInput = {
  readonly proxy: { readonly metadata: Pick<Meta, 'name' | 'namespace'>; readonly spec: { readonly rules: Rule } };
  readonly pools: readonly Omit<Pool, 'nonIpEndpoints'>[];
  /** The ConfigMap that runs now, whose servers are kept for pools that have none ready. */
  readonly mounted: string | undefined;
};

/** The configuration to roll out. */
export type RollOutPlan = {
  readonly name: string;
  readonly configMap: ReturnType<typeof proxyConfigMap>;
  readonly servers: Servers;
  /** A name that five digits would have given, but which something else has. */
  readonly taken?: string;
};

/** Plans the roll-out over the ConfigMaps that there are. */
export function planRollOut(
  { proxy, pools, mounted }: RollOutInput,
  existing: readonly Live<V1ConfigMap>[],
): RollOutPlan {
  const last = serversIn(existing.find(({ metadata }) => metadata.name === mounted));
  // A proxy without servers helps no client: the former servers may be back before a roll-out ends.
  const servers = new Map(
    pools.map(({ pool, ready }) => [pool, ready.length > 0 ? ready : (last.get(pool) ?? [])] as const),
  );
  const config = formatConfig(proxy.spec.rules, proxy.metadata.namespace ?? '', servers);
  const { name, taken } = nameFor(proxy.metadata.name, config, existing);
  return {
    name,
    servers,
    configMap: proxyConfigMap(name, config),
    ...(taken === undefined || existing.some(({ metadata }) => metadata.name === name) ? {} : { taken }),
  };
}

/**
 * Lists the ConfigMaps that nothing names any more: neither the Deployment nor a ReplicaSet of it.
 * @param replicaSets as they were after the Deployment was read. Before its controller has seen the latest template,
 *   it may still make a ReplicaSet for one that nothing names, so nothing is dropped until then.
 */
export function unusedConfigMaps(
  deployment: Pick<Live<V1Deployment>, 'metadata' | 'spec' | 'status'>,
  replicaSets: readonly Pick<V1ReplicaSet, 'spec'>[],
  existing: readonly Live<V1ConfigMap>[],
): readonly string[] {
  if ((deployment.status?.observedGeneration ?? 0) < deployment.metadata.generation) return [];
  const named = new Set([deployment, ...replicaSets].map(mountedConfigMap));
  return existing.map(({ metadata }) => metadata.name).filter((name) => !named.has(name));
}

/** More digits, the more of its shorter names have other content. All of SHA-1 but its first byte is 38 digits. */
const digits = [5, 10, 20, 38];

function nameFor(
  proxy: string,
  config: string,
  existing: readonly Live<V1ConfigMap>[],
): { readonly name: string; readonly taken?: string } {
  const names = digits.map((count) => configMapName(proxy, config, count));
  const free = names.findIndex((name) => {
    const there = existing.find(({ metadata }) => metadata.name === name);
    return there === undefined || configIn(there) === config;
  });
  const name = names[free] ?? '';
  const taken = names[free - 1];
  return taken === undefined ? { name } : { name, taken };
}

const poolsShape = z.object({ pools: z.record(z.string(), z.object({ servers: z.array(z.string()) })) });

function serversIn(configMap: Live<V1ConfigMap> | undefined): Servers {
  const config = configMap === undefined ? undefined : configIn(configMap);
  if (config === undefined) return new Map();
  const { data } = poolsShape.safeParse(parseJson(config));
  return new Map(Object.entries(data?.pools ?? {}).map(([pool, { servers }]) => [pool, servers]));
}
