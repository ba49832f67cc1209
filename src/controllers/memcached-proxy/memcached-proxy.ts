// MemcachedProxy: one stable address in front of memcached servers that come and go. It shows a chain of built-in kinds: rules
// name Services, their EndpointSlices become a configuration in a ConfigMap, a Deployment mounts it and rolls out each new
// one, and a Service leads to whatever runs. No change of a slice names a proxy, so a function finds those concerned.
//
// A user writes spec. This controller alone writes status, and owns ConfigMaps, one Deployment and one Service; it reads the
// Services that the rules name. How many replicas the Deployment has is not its business.
import type { V1ConfigMap } from '@kubernetes/client-node';
import { settleChildren, warnOfRefusals } from '../../core/aggregate.ts';
import { availabilityOf } from '../../core/availability.ts';
import type { ChildChange } from '../../core/children.ts';
import { isStanding } from '../../core/conditions.ts';
import { defineController } from '../../core/controller.ts';
import type { Kind } from '../../core/kind.ts';
import type { Condition } from '../../core/result.ts';
import {
  asItIs,
  configMapKind,
  deploymentKind,
  deploymentName,
  deploymentOf,
  endpointSliceKind,
  type Live,
  mountedBy,
  podLabels,
  proxyLabel,
  replicaSetKind,
  serviceKind,
  serviceOf,
} from './children.ts';
import { serviceNameLabel } from './endpoints.ts';
import { memcachedProxyKind } from './kind.ts';
import { namingKind, type Pool, proxiesNaming, resolve } from './references.ts';
import { droppedBy, type Plan, planRollOut } from './roll-out.ts';

/** What Events say was done to a child, and their reasons. */
const verbs = {
  created: ['create', 'SuccessfulCreate'],
  changed: ['update', 'SuccessfulUpdate'],
  deleted: ['delete', 'SuccessfulDelete'],
} as const;

/** The controller. */
export const memcachedProxy = defineController(memcachedProxyKind)({
  name: 'memcached-proxy',
  owns: [configMapKind, deploymentKind, serviceKind],
  reads: [endpointSliceKind, replicaSetKind, namingKind],
  watches: [
    // Not only the endpoints: a port may be mended on the Service.
    { kind: serviceKind, keys: async (changed, { list }) => proxiesNaming(changed, await list(namingKind)) },
    { kind: endpointSliceKind, label: serviceNameLabel, names: serviceKind },
    // The last ReplicaSet that names a configuration takes it along.
    { kind: replicaSetKind, label: proxyLabel },
  ],

  async reconcile({ metadata, spec, status, conditions: standing }, { children, get, list, record }) {
    const { name, namespace: home = '' } = metadata;
    const proxy = { metadata, spec };
    // A reconcile that changes nothing says nothing, and what stands already is not told again.
    const told =
      ({ kind }: Kind) =>
      ({ type, child }: ChildChange<Live<object>>) => {
        const [verb, reason] = verbs[type];
        record('Normal', reason, `${verb} ${kind} "${child.metadata.name}" for MemcachedProxy "${name}" successful`);
      };

    // Observe. Without every Service that is named there is no configuration, and what runs is left as it is.
    const resolved = await resolve(spec.rules, home, {
      service: async (service) => await get(serviceKind, { name: service }),
      slices: async (service) => await list(endpointSliceKind, { [serviceNameLabel]: service }),
    });
    if ('unresolved' in resolved) {
      const { reason, message } = resolved.unresolved;
      if (!isStanding(standing, 'ResolvedRefs', resolved.unresolved)) record('Warning', reason, message);
      const waits: Condition = { status: 'Unknown', reason: 'RefsNotResolved' };
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
    // What is mounted matters only where a pool has nobody ready: else the Deployment is read once, when it is made so.
    const isShort = resolved.pools.some(({ ready }) => ready.length === 0);
    const running = isShort ? await get(deploymentKind, { name: deploymentName(name) }) : undefined;
    const mounted = running === undefined ? undefined : mountedBy(running);

    // Act. First the configuration, then who mounts it: whoever dies between leaves nothing that points nowhere.
    const chosen: { plan?: Plan; before: readonly Live<V1ConfigMap>[] } = { before: [] };
    const configMaps = await settleChildren(
      configMapKind,
      children(
        configMapKind,
        (existing) => {
          chosen.before = existing;
          chosen.plan = planRollOut({ proxy, pools: resolved.pools, mounted }, existing);
          return [chosen.plan.configMap];
        },
        { prune: false, onChange: told(configMapKind) },
      ),
    );
    const { plan, before } = chosen;
    if (plan?.taken !== undefined) {
      record(
        'Warning',
        'NameCollision',
        `ConfigMap ${plan.taken} has other content, so ${plan.name} has a longer name`,
      );
    }
    // A configuration that is not ours is not mounted.
    const deployments =
      plan === undefined || configMaps.problem !== undefined
        ? {}
        : await settleChildren(
            deploymentKind,
            children(deploymentKind, [deploymentOf(proxy, plan.name)], { onChange: told(deploymentKind) }),
          );
    const [live] = deployments.live ?? [];
    const isMounted = live !== undefined && deployments.problem === undefined;
    const dropped = isMounted ? droppedBy(live, await list(replicaSetKind, podLabels(metadata)), before) : [];
    const pruned =
      dropped.length === 0
        ? {}
        : await settleChildren(
            configMapKind,
            children(
              configMapKind,
              (existing) => existing.filter((one) => !dropped.includes(one.metadata.name)).map(asItIs),
              { onChange: told(configMapKind) },
            ),
          );
    const services = await settleChildren(
      serviceKind,
      children(serviceKind, [serviceOf(proxy)], { whole: ['spec.ports'], onChange: told(serviceKind) }),
    );

    // Report.
    const configs = configMaps.problem === undefined ? pruned : configMaps;
    warnOfRefusals(record, standing, {
      ConfigReady: configs,
      DeploymentAvailable: deployments,
      ServiceReady: services,
    });
    const problem = configs.problem ?? deployments.problem ?? services.problem;
    const result = {
      status: {
        ...(plan === undefined ? {} : { configMapName: plan.name }),
        deploymentName: deploymentName(name),
        serviceName: serviceOf(proxy).metadata.name,
        pools: resolved.pools.map(({ name: service, port, pool }) => ({
          service,
          port: String(port),
          servers: plan?.servers.get(pool)?.length ?? 0,
        })),
      },
      conditions: {
        ResolvedRefs: { status: 'True', reason: 'Resolved' },
        ConfigReady: configs.problem?.condition ?? configReadiness(resolved.pools),
        DeploymentAvailable:
          deployments.problem?.condition ??
          (live === undefined ? { status: 'Unknown', reason: 'ConfigNotReady' } : availabilityOf(live)),
        ServiceReady: services.problem?.condition ?? { status: 'True', reason: 'Written' },
      },
    } as const;
    return problem === undefined ? result : { ...result, retry: problem.error };
  },
});

/** Whether every pool has servers that are ready now; those of a pool that has none are kept as they were. */
function configReadiness(pools: readonly Pool[]): Condition {
  const named = (some: readonly Pool[]) => some.map(({ name, port }) => `${name}:${port}`).join(', ');
  const strange = pools.filter(({ strangers }) => strangers.length > 0);
  if (strange.length > 0) {
    const [first] = strange.flatMap(({ strangers }) => strangers);
    const message = `an endpoint without an IP address is left out (${first}) behind ${named(strange)}`;
    return { status: 'False', reason: 'AddressNotIP', message };
  }
  const empty = pools.filter(({ ready }) => ready.length === 0);
  if (empty.length === 0) return { status: 'True', reason: 'Written' };
  return { status: 'False', reason: 'NoEndpoints', message: `no endpoint is ready behind ${named(empty)}` };
}
