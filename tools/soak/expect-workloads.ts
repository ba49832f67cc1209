// What stands on Deployments and StatefulSets: each object has its own children as it says them, believes them, and knows what is behind
// them; and nothing is left of an object that is gone.
import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { controllerOf, type Seen } from './objects.ts';
import type { Plural, Snapshot } from './snapshot.ts';

const fooSpec = z.looseObject({ deploymentName: z.string(), replicas: z.number() });
const replicas = z.looseObject({ replicas: z.number() });
const available = z.looseObject({ availableReplicas: z.number().optional() });
const networkSpec = z.looseObject({ nodes: z.number() });
const networkStatus = z.looseObject({
  nodes: z.array(z.looseObject({ nodeName: z.string(), ip: z.string(), ready: z.boolean() })).default([]),
});
const podStatus = z.looseObject({ podIP: z.string().optional() });
const proxyRules = z.looseObject({ rules: z.looseObject({ service: z.looseObject({ name: z.string() }) }) });
const proxyStatus = z.looseObject({ configMapName: z.string(), serviceName: z.string() });
const mounting = z.looseObject({
  template: z.looseObject({
    spec: z.looseObject({
      volumes: z.array(z.looseObject({ configMap: z.looseObject({ name: z.string() }).optional() })),
    }),
  }),
});
const configMap = z.looseObject({ data: z.looseObject({ 'config.json': z.string() }) });
const config = z.looseObject({ pools: z.record(z.string(), z.looseObject({ servers: z.array(z.string()) })) });
const slice = z.looseObject({
  endpoints: z
    .array(
      z.looseObject({
        addresses: z.array(z.string()),
        conditions: z.looseObject({ ready: z.boolean().optional(), terminating: z.boolean().optional() }).optional(),
      }),
    )
    .nullish(),
  ports: z.array(z.looseObject({ port: z.number().optional() })).nullish(),
});

/** Lists what is wrong with the objects that have workloads. */
export function wrongWithWorkloads(snapshot: Snapshot): readonly string[] {
  const { of } = snapshot;
  return [
    ...of('foos').flatMap((foo) => wrongWithFoo(snapshot, foo)),
    ...of('memcachedproxies').flatMap((proxy) => wrongWithProxy(snapshot, proxy)),
    ...of('bitcoinnetworks').flatMap((network) => wrongWithNetwork(snapshot, network)),
    ...leftBehind(snapshot),
  ];
}

function childrenOf({ of }: Snapshot, plural: Plural, { metadata }: Seen): readonly Seen[] {
  return of(plural).filter((child) => controllerOf(child) === metadata.uid);
}

function wrongWithFoo(snapshot: Snapshot, foo: Seen): readonly string[] {
  const { name } = foo.metadata;
  const wanted = fooSpec.parse(foo.spec);
  const [deployment, ...more] = childrenOf(snapshot, 'deployments', foo);
  if (deployment?.metadata.name !== wanted.deploymentName || more.length > 0) {
    return [`${name}: has not the Deployment ${wanted.deploymentName}, or others beside it`];
  }
  if (replicas.parse(deployment.spec).replicas !== wanted.replicas)
    return [`${name}: its Deployment is scaled otherwise`];
  const { availableReplicas: has = 0 } = available.parse(deployment.status ?? {});
  const { availableReplicas: says } = available.parse(foo.status);
  return says === has && has === wanted.replicas ? [] : [`${name}: says ${says} of ${wanted.replicas} and has ${has}`];
}

function wrongWithProxy(snapshot: Snapshot, proxy: Seen): readonly string[] {
  const { name } = proxy.metadata;
  const { configMapName, serviceName } = proxyStatus.parse(proxy.status);
  const [deployment, ...more] = childrenOf(snapshot, 'deployments', proxy);
  if (deployment === undefined || more.length > 0) return [`${name}: has not one Deployment`];
  const mounts = mounting
    .parse(deployment.spec)
    .template.spec.volumes.flatMap((volume) => volume.configMap?.name ?? []);
  if (!mounts.includes(configMapName)) return [`${name}: its Deployment does not mount ${configMapName}`];
  const services = childrenOf(snapshot, 'services', proxy).map(({ metadata }) => metadata.name);
  if (!isDeepStrictEqual(services, [serviceName])) return [`${name}: its Service is not ${serviceName} alone`];
  const found = childrenOf(snapshot, 'configmaps', proxy).find(({ metadata }) => metadata.name === configMapName);
  if (found === undefined) return [`${name}: there is no ConfigMap ${configMapName} of its own`];
  const { pools } = config.parse(JSON.parse(configMap.parse(found).data['config.json']));
  const servers = Object.values(pools).flatMap((pool) => pool.servers);
  const ready = serversBehind(snapshot, proxyRules.parse(proxy.spec).rules.service.name);
  if (isDeepStrictEqual(servers.toSorted(), ready.toSorted())) return [];
  return [`${name}: leads to ${servers.join(' ')}, ready are ${ready.join(' ')}`];
}

function serversBehind({ of }: Snapshot, service: string): readonly string[] {
  return of('endpointslices')
    .filter(({ metadata }) => metadata.labels['kubernetes.io/service-name'] === service)
    .map((one) => slice.parse(one))
    .flatMap(({ endpoints, ports }) =>
      (endpoints ?? [])
        .filter(({ conditions }) => conditions?.ready !== false && conditions?.terminating !== true)
        .flatMap(({ addresses }) => (ports ?? []).map(({ port }) => `${addresses[0]}:${port}`)),
    );
}

function wrongWithNetwork(snapshot: Snapshot, network: Seen): readonly string[] {
  const { name } = network.metadata;
  const { nodes: wanted } = networkSpec.parse(network.spec);
  const [set] = childrenOf(snapshot, 'statefulsets', network);
  if (set === undefined || replicas.parse(set.spec).replicas !== wanted)
    return [`${name}: its StatefulSet is scaled otherwise`];
  const pods = childrenOf(snapshot, 'pods', set).map(({ metadata, status }) => {
    return { name: metadata.name, ip: podStatus.parse(status).podIP ?? '' };
  });
  const said = networkStatus.parse(network.status).nodes.map(({ nodeName, ip }) => ({ name: nodeName, ip }));
  const byName = (one: { readonly name: string }, other: { readonly name: string }) => (one.name < other.name ? -1 : 1);
  if (said.length !== wanted || !isDeepStrictEqual(said.toSorted(byName), pods.toSorted(byName))) {
    return [`${name}: lists ${JSON.stringify(said)}, there are ${JSON.stringify(pods)}`];
  }
  return pods.flatMap((pod) => {
    const others = pods.filter((one) => one !== pod).map(({ ip }) => ip);
    const added = snapshot.outside.added(pod.name);
    const isIt = isDeepStrictEqual([...added].sort(), others.sort());
    return isIt ? [] : [`${name}: ${pod.name} was told ${added.join(' ')}, the others are ${others.join(' ')}`];
  });
}

/** Children of ours whose object is gone. */
function leftBehind({ of }: Snapshot): readonly string[] {
  const plurals = ['foos', 'memcachedproxies', 'bitcoinnetworks', 'dinners'] as const;
  const owners = new Set(plurals.flatMap((plural) => of(plural).map(({ metadata }) => metadata.uid)));
  const kinds = new Set(['Foo', 'MemcachedProxy', 'BitcoinNetwork', 'Dinner']);
  const places = ['deployments', 'statefulsets', 'configmaps', 'services', 'ingredients'] as const;
  return places.flatMap((plural) =>
    of(plural).flatMap(({ metadata: { name, ownerReferences } }) => {
      const owner = ownerReferences.find(({ kind, controller }) => controller === true && kinds.has(kind));
      return owner === undefined || owners.has(owner.uid) ? [] : [`${plural} ${name}: its ${owner.kind} is gone`];
    }),
  );
}
