// Objects with Deployments and StatefulSets: each has exactly the children of its spec, its status matches them, and no
// child of a deleted object remains.
import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { controllerOf, type ObservedObject } from './objects.ts';
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
const mountingTemplate = z.looseObject({
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

/** Lists the violations of objects with workloads. */
export function findWorkloadViolations(snapshot: Snapshot): readonly string[] {
  const { list } = snapshot;
  return [
    ...list('foos').flatMap((foo) => fooViolations(snapshot, foo)),
    ...list('memcachedproxies').flatMap((proxy) => proxyViolations(snapshot, proxy)),
    ...list('bitcoinnetworks').flatMap((network) => networkViolations(snapshot, network)),
    ...orphanedChildren(snapshot),
  ];
}

function childrenOf({ list }: Snapshot, plural: Plural, { metadata }: ObservedObject): readonly ObservedObject[] {
  return list(plural).filter((child) => controllerOf(child) === metadata.uid);
}

function fooViolations(snapshot: Snapshot, foo: ObservedObject): readonly string[] {
  const { name } = foo.metadata;
  const expected = fooSpec.parse(foo.spec);
  const [deployment, ...more] = childrenOf(snapshot, 'deployments', foo);
  if (deployment?.metadata.name !== expected.deploymentName || more.length > 0) {
    return [`${name}: does not have exactly the Deployment ${expected.deploymentName}`];
  }
  if (replicas.parse(deployment.spec).replicas !== expected.replicas)
    return [`${name}: its Deployment has other replicas`];
  const { availableReplicas: actual = 0 } = available.parse(deployment.status ?? {});
  const { availableReplicas: reported } = available.parse(foo.status);
  return reported === actual && actual === expected.replicas
    ? []
    : [`${name}: its status has ${reported} of ${expected.replicas} available replicas, its Deployment ${actual}`];
}

function proxyViolations(snapshot: Snapshot, proxy: ObservedObject): readonly string[] {
  const { name } = proxy.metadata;
  const { configMapName, serviceName } = proxyStatus.parse(proxy.status);
  const [deployment, ...more] = childrenOf(snapshot, 'deployments', proxy);
  if (deployment === undefined || more.length > 0) return [`${name}: does not have exactly one Deployment`];
  const mounts = mountingTemplate
    .parse(deployment.spec)
    .template.spec.volumes.flatMap((volume) => volume.configMap?.name ?? []);
  if (!mounts.includes(configMapName)) return [`${name}: its Deployment does not mount ${configMapName}`];
  const services = childrenOf(snapshot, 'services', proxy).map(({ metadata }) => metadata.name);
  if (!isDeepStrictEqual(services, [serviceName])) return [`${name}: its Services are not exactly ${serviceName}`];
  const found = childrenOf(snapshot, 'configmaps', proxy).find(({ metadata }) => metadata.name === configMapName);
  if (found === undefined) return [`${name}: it has no ConfigMap ${configMapName}`];
  const { pools } = config.parse(JSON.parse(configMap.parse(found).data['config.json']));
  const servers = Object.values(pools).flatMap((pool) => pool.servers);
  const ready = readyServers(snapshot, proxyRules.parse(proxy.spec).rules.service.name);
  if (isDeepStrictEqual(servers.toSorted(), ready.toSorted())) return [];
  return [`${name}: its servers are ${servers.join(' ')} instead of ${ready.join(' ')}`];
}

function readyServers({ list }: Snapshot, service: string): readonly string[] {
  return list('endpointslices')
    .filter(({ metadata }) => metadata.labels['kubernetes.io/service-name'] === service)
    .map((one) => slice.parse(one))
    .flatMap(({ endpoints, ports }) =>
      (endpoints ?? [])
        .filter(({ conditions }) => conditions?.ready !== false && conditions?.terminating !== true)
        .flatMap(({ addresses }) => (ports ?? []).map(({ port }) => `${addresses[0]}:${port}`)),
    );
}

function networkViolations(snapshot: Snapshot, network: ObservedObject): readonly string[] {
  const { name } = network.metadata;
  const { nodes: expected } = networkSpec.parse(network.spec);
  const [set] = childrenOf(snapshot, 'statefulsets', network);
  if (set === undefined || replicas.parse(set.spec).replicas !== expected)
    return [`${name}: its StatefulSet has other replicas`];
  const pods = childrenOf(snapshot, 'pods', set).map(({ metadata, status }) => {
    return { name: metadata.name, ip: podStatus.parse(status).podIP ?? '' };
  });
  const listed = networkStatus.parse(network.status).nodes.map(({ nodeName, ip }) => ({ name: nodeName, ip }));
  const byName = (one: { readonly name: string }, other: { readonly name: string }) => (one.name < other.name ? -1 : 1);
  if (listed.length !== expected || !isDeepStrictEqual(listed.toSorted(byName), pods.toSorted(byName))) {
    return [`${name}: its status lists ${JSON.stringify(listed)} instead of ${JSON.stringify(pods)}`];
  }
  return pods.flatMap((pod) => {
    const others = pods.filter((one) => one !== pod).map(({ ip }) => ip);
    const added = snapshot.simulators.added(pod.name);
    const isComplete = isDeepStrictEqual([...added].sort(), others.sort());
    return isComplete
      ? []
      : [`${name}: ${pod.name} has the added nodes ${added.join(' ')} instead of ${others.join(' ')}`];
  });
}

/** Children whose owner is deleted. */
function orphanedChildren({ list }: Snapshot): readonly string[] {
  const plurals = ['foos', 'memcachedproxies', 'bitcoinnetworks', 'dinners'] as const;
  const owners = new Set(plurals.flatMap((plural) => list(plural).map(({ metadata }) => metadata.uid)));
  const kinds = new Set(['Foo', 'MemcachedProxy', 'BitcoinNetwork', 'Dinner']);
  const childPlurals = ['deployments', 'statefulsets', 'configmaps', 'services', 'ingredients'] as const;
  return childPlurals.flatMap((plural) =>
    list(plural).flatMap(({ metadata: { name, ownerReferences } }) => {
      const owner = ownerReferences.find(({ kind, controller }) => controller === true && kinds.has(kind));
      return owner === undefined || owners.has(owner.uid) ? [] : [`${plural} ${name}: its ${owner.kind} is deleted`];
    }),
  );
}
