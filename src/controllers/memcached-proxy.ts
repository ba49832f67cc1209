// MemcachedProxy: one stable address for memcached servers that change. It shows a chain of built-in kinds: rules name
// Services, their EndpointSlices become a configuration in a ConfigMap, a Deployment mounts it and rolls out each new
// one, and a Service selects the pods. A change of a slice names no proxy, so a function maps it to the proxies that
// refer to its Service.
//
// A user writes spec. Only this controller writes status. It owns ConfigMaps, one Deployment and one Service, and reads
// the Services that the rules name. It does not set the replicas of the Deployment.
import type { V1ConfigMap } from '@kubernetes/client-node';
import { ConfigMap, Deployment, EndpointSlice, ReplicaSet, Service } from '../kubernetes.ts';
import {
  type Applied,
  type ChildChange,
  type DeclaredCondition,
  deploymentAvailable,
  hasCondition,
  type Kind,
  type Live,
  notOk,
  type ObjectOf,
  ok,
  type ResultOf,
  recordApplyFailures,
  unknown,
} from '../outrigger.ts';
import {
  deploymentName,
  mountedConfigMap,
  podLabels,
  proxyDeployment,
  proxyLabel,
  proxyService,
} from './memcached-proxy/children.ts';
import { serviceNameLabel } from './memcached-proxy/endpoints.ts';
import { MemcachedProxy } from './memcached-proxy/kind.ts';
import { type Pool, proxiesReferencing, ReferencingProxy, resolvePools } from './memcached-proxy/references.ts';
import { planRollOut, type RollOutPlan, unusedConfigMaps } from './memcached-proxy/roll-out.ts';

/** The verbs and reasons of Events about children. */
const verbs = {
  created: ['create', 'SuccessfulCreate'],
  updated: ['update', 'SuccessfulUpdate'],
  deleted: ['delete', 'SuccessfulDelete'],
} as const;

/** The controller. */
export const memcachedProxy = MemcachedProxy.controller('memcached-proxy', {
  owns: [ConfigMap, Deployment, Service],
  reads: [EndpointSlice, ReplicaSet, ReferencingProxy],
  watches: [
    // Services as well as endpoints, because the port of a Service may change.
    {
      kind: Service,
      mapToKeys: async (changed, { list }) => proxiesReferencing(changed, await list(ReferencingProxy)),
    },
    { kind: EndpointSlice, label: serviceNameLabel, via: Service },
    // When the last ReplicaSet that names a configuration is deleted, the configuration is deleted, too.
    { kind: ReplicaSet, label: proxyLabel },
  ],

  async reconcile({ metadata, spec, status, conditions: current }, context): Promise<ResultOf<typeof MemcachedProxy>> {
    const { tryApplyAll, get, list, recordEvent } = context;
    const { name, namespace: home = '' } = metadata;
    const proxy = { metadata, spec };
    // Events are recorded for changes only, and not for a condition that the object already has.
    const recordChange =
      ({ kind }: Kind) =>
      ({ type, child }: ChildChange<Live<object>>) => {
        const [verb, reason] = verbs[type];
        recordEvent(
          'Normal',
          reason,
          `${verb} ${kind} "${child.metadata.name}" for MemcachedProxy "${name}" successful`,
        );
      };

    // Observe. If a named Service is missing, there is no new configuration, and the running one stays.
    const resolved = await resolvePools(spec.rules, home, {
      service: async (service) => await get(Service, { name: service }),
      slices: async (service) => await list(EndpointSlice, { [serviceNameLabel]: service }),
      allServices: async () => new Map((await list(Service)).map((one) => [one.metadata.name, one])),
      allSlices: async () =>
        Map.groupBy(await list(EndpointSlice), ({ metadata }) => metadata.labels?.[serviceNameLabel] ?? ''),
    });
    if ('unresolved' in resolved) {
      const { reason, message } = resolved.unresolved;
      if (!hasCondition(current, 'ResolvedRefs', resolved.unresolved)) recordEvent('Warning', reason, message);
      const waits = unknown('RefsNotResolved');
      return {
        status: status ?? { pools: [] },
        conditions: {
          ResolvedRefs: resolved.unresolved,
          ConfigReady: waits,
          DeploymentAvailable: waits,
          ServiceReady: waits,
        },
      };
    }
    // The mounted configuration is needed only if a pool has no ready server. Otherwise the Deployment is read only by
    // its apply.
    const isShort = resolved.pools.some(({ ready }) => ready.length === 0);
    const running = isShort ? await get(Deployment, { name: deploymentName(name) }) : undefined;
    const mounted = running === undefined ? undefined : mountedConfigMap(running);

    // Act. The configuration is applied before the Deployment that mounts it, so a crash in between leaves no dangling
    // reference.
    const chosen: { plan?: RollOutPlan; before: readonly Live<V1ConfigMap>[] } = { before: [] };
    const configMaps = await tryApplyAll(
      ConfigMap,
      (existing) => {
        chosen.before = existing;
        chosen.plan = planRollOut({ proxy, pools: resolved.pools, mounted }, existing);
        return [chosen.plan.configMap];
      },
      { prune: false, onChange: recordChange(ConfigMap) },
    );
    const { plan, before } = chosen;
    if (plan?.taken !== undefined) {
      recordEvent(
        'Warning',
        'NameCollision',
        `ConfigMap ${plan.taken} has other content, so ${plan.name} has a longer name`,
      );
    }
    // A ConfigMap of another owner is not mounted.
    const deployments: Applied<ObjectOf<typeof Deployment>> =
      plan === undefined || configMaps.failure !== undefined
        ? { objects: [] }
        : await tryApplyAll(Deployment, [proxyDeployment(proxy, plan.name)], { onChange: recordChange(Deployment) });
    const [deployment] = deployments.objects;
    const isMounted = deployment !== undefined && deployments.failure === undefined;
    const unused = isMounted ? unusedConfigMaps(deployment, await list(ReplicaSet, podLabels(metadata)), before) : [];
    const pruned: Pick<Applied<object>, 'failure'> = unused.length === 0
      ? {}
      : await tryApplyAll(ConfigMap, (existing) => existing.filter((one) => !unused.includes(one.metadata.name)), {
          onChange: recordChange(ConfigMap),
        });
    const services = await tryApplyAll(Service, [proxyService(proxy)], {
      exact: ['spec.ports'],
      onChange: recordChange(Service),
    });

    // Report.
    const configs = configMaps.failure === undefined ? pruned : configMaps;
    recordApplyFailures(recordEvent, current, {
      ConfigReady: configs,
      DeploymentAvailable: deployments,
      ServiceReady: services,
    });
    return {
      status: {
        ...(plan === undefined ? {} : { configMapName: plan.name }),
        deploymentName: deploymentName(name),
        serviceName: proxyService(proxy).metadata.name,
        pools: resolved.pools.map(({ name: service, port, pool }) => ({
          service,
          port: String(port),
          servers: plan?.servers.get(pool)?.length ?? 0,
        })),
      },
      conditions: {
        ResolvedRefs: ok('Resolved'),
        ConfigReady: configs.failure?.condition ?? configReadiness(resolved.pools),
        DeploymentAvailable:
          deployments.failure?.condition ??
          (deployment === undefined ? unknown('ConfigNotReady') : deploymentAvailable(deployment)),
        ServiceReady: services.failure?.condition ?? ok('Written'),
      },
      error: (configs.failure ?? deployments.failure ?? services.failure)?.error,
    };
  },
});

/** Whether every pool has a ready server. A pool without one keeps its former servers. */
function configReadiness(pools: readonly Pool[]): DeclaredCondition {
  const named = (some: readonly Pool[]) => some.map(({ name, port }) => `${name}:${port}`).join(', ');
  const strange = pools.filter(({ nonIpEndpoints: strangers }) => strangers.length > 0);
  if (strange.length > 0) {
    const [first] = strange.flatMap(({ nonIpEndpoints }) => nonIpEndpoints);
    const message = `an endpoint without an IP address is left out (${first}) behind ${named(strange)}`;
    return notOk('AddressNotIP', message);
  }
  const empty = pools.filter(({ ready }) => ready.length === 0);
  if (empty.length === 0) return ok('Written');
  return notOk('NoEndpoints', `no endpoint is ready behind ${named(empty)}`);
}
