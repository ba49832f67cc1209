// Which configurations there should be, and which one is rolled out. A configuration never changes: a change is another
// ConfigMap, and pods get it by the Deployment's rolling update. Pure; who reads and writes is memcached-proxy.ts.
//
// A ConfigMap stays for as long as a ReplicaSet names it, so that a rollback finds its configuration, and is then pruned. It
// stays ours meanwhile: handing it over to the ReplicaSet would do the same by garbage collection, but two controllers would
// write one kind.

import type { V1ConfigMap, V1Deployment, V1ReplicaSet } from '@kubernetes/client-node';
import * as z from 'zod';
import type { Child, Meta } from '../../core/kind.ts';
import { configIn, type configMapKind, configMapName, configMapOf, type Live, mountedBy } from './children.ts';
import { formatConfig, type Servers } from './config.ts';
import type { Rule } from './kind.ts';
import type { Pool } from './references.ts';

/** What the plan is made of. */
export type Situation = {
  readonly proxy: { readonly metadata: Pick<Meta, 'name' | 'namespace'>; readonly spec: { readonly rules: Rule } };
  readonly pools: readonly Omit<Pool, 'strangers'>[];
  readonly deployment: Pick<Live<V1Deployment>, 'metadata' | 'spec' | 'status'> | undefined;
  /** As they were after the Deployment was read. */
  readonly replicaSets: readonly Pick<V1ReplicaSet, 'spec'>[];
};

/** The configuration to roll out, and all that there should be. */
export type Plan = {
  readonly name: string;
  readonly configMaps: readonly Child<typeof configMapKind>[];
  readonly servers: Servers;
  /** A name that five digits would have given, but which something else has. */
  readonly taken?: string;
};

/** Plans the roll-out over the ConfigMaps that there are. */
export function planRollOut(situation: Situation, existing: readonly Live<V1ConfigMap>[]): Plan {
  const { proxy, pools, deployment, replicaSets } = situation;
  const mounted = deployment === undefined ? undefined : mountedBy(deployment);
  const last = serversIn(existing.find(({ metadata }) => metadata.name === mounted));
  // Nobody is helped by a proxy without servers: those that were there may be back sooner than a roll-out is through.
  const servers = new Map(
    pools.map(({ pool, ready }) => [pool, ready.length > 0 ? ready : (last.get(pool) ?? [])] as const),
  );
  const config = formatConfig(proxy.spec.rules, proxy.metadata.namespace ?? '', servers);
  const { name, taken } = nameFor(proxy.metadata.name, config, existing);

  const named = new Set([mounted, ...replicaSets.map(mountedBy)]);
  const kept = existing.filter(
    ({ metadata }) => metadata.name !== name && (!isSettled(deployment) || named.has(metadata.name)),
  );
  return {
    name,
    servers,
    configMaps: [
      configMapOf(name, config),
      ...kept.map(({ metadata, data = {} }) => ({ metadata: { name: metadata.name }, immutable: true, data })),
    ],
    ...(taken === undefined || existing.some(({ metadata }) => metadata.name === name) ? {} : { taken }),
  };
}

/**
 * Tells whether the ReplicaSets that were listed are all that a template of ours will get. Before the Deployment's controller
 * has seen the latest, it may still make one for a template that nothing names any more.
 */
function isSettled(deployment: Situation['deployment']): boolean {
  return deployment === undefined || (deployment.status?.observedGeneration ?? 0) >= deployment.metadata.generation;
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
  const { data } = z.string().transform(toJson).pipe(poolsShape).safeParse(config);
  return new Map(Object.entries(data?.pools ?? {}).map(([pool, { servers }]) => [pool, servers]));
}

function toJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
