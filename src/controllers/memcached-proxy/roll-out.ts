// Plans which configurations exist, and which one is rolled out. A configuration is immutable: a change is another
// ConfigMap, which pods get by the Deployment's rolling update. Pure; ../memcached-proxy.ts reads and writes.
//
// A ConfigMap is kept while a ReplicaSet names it, so that a rollback finds its configuration, and is then pruned. The
// proxy stays its owner. If the ReplicaSets owned them, garbage collection would do the same, but two controllers would
// write one kind.

import type { V1ConfigMap, V1Deployment, V1ReplicaSet } from '@kubernetes/client-node';
import * as z from 'zod';
import { type Key, type Live, parseJson } from '../../outrigger.ts';
import { configIn, configMapName, mountedConfigMap, proxyConfigMap } from './children.ts';
import { formatConfig, type Servers } from './config.ts';
import type { Rule } from './kind.ts';
import type { Pool } from './references.ts';

/** The input of the plan. */
export type RollOutInput = {
  readonly proxy: { readonly metadata: Required<Key>; readonly spec: { readonly rules: Rule } };
  readonly pools: readonly Omit<Pool, 'nonIpEndpoints'>[];
  /** The ConfigMap that is mounted now. Pools without a ready server keep its servers. */
  readonly mounted: string | undefined;
};

/** The configuration to roll out. */
export type RollOutPlan = {
  readonly name: string;
  readonly configMap: ReturnType<typeof proxyConfigMap>;
  readonly servers: Servers;
  /** The name with five digits, if it is taken by another content. */
  readonly taken?: string;
};

/** Plans the roll-out for the existing ConfigMaps. */
export function planRollOut(
  { proxy, pools, mounted }: RollOutInput,
  existing: readonly Live<V1ConfigMap>[],
): RollOutPlan {
  const last = serversIn(existing.find(({ metadata }) => metadata.name === mounted));
  // A configuration without servers is not rolled out: the former servers may be back before the roll-out ends.
  const servers = new Map(
    pools.map(({ pool, ready }) => [pool, ready.length > 0 ? ready : (last.get(pool) ?? [])] as const),
  );
  const config = formatConfig(proxy.spec.rules, proxy.metadata.namespace, servers);
  const { name, taken } = nameFor(proxy.metadata.name, config, existing);
  return {
    name,
    servers,
    configMap: proxyConfigMap(name, config),
    ...(taken === undefined || existing.some(({ metadata }) => metadata.name === name) ? {} : { taken }),
  };
}

/**
 * Lists the ConfigMaps that neither the Deployment nor one of its ReplicaSets names.
 * @param replicaSets as they were after the Deployment was read. Before its controller has seen the latest template, it
 *   may still create a ReplicaSet for an unused one, so none is pruned until then.
 */
export function unusedConfigMaps(
  deployment: Pick<Live<V1Deployment>, 'metadata' | 'spec' | 'status'>,
  replicaSets: readonly Pick<Live<V1ReplicaSet>, 'spec'>[],
  existing: readonly Live<V1ConfigMap>[],
): readonly string[] {
  if ((deployment.status?.observedGeneration ?? 0) < (deployment.metadata.generation ?? 0)) return [];
  const named = new Set([deployment, ...replicaSets].map(mountedConfigMap));
  return existing.map(({ metadata }) => metadata.name).filter((name) => !named.has(name));
}

/** One more digit for each shorter name that has another content. SHA-1 without its first byte has 38 digits. */
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
