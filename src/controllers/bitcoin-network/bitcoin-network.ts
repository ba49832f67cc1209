// BitcoinNetwork, the workloads: a headless Service and a StatefulSet, and what the StatefulSet says of its pods. It shows a kind
// that two controllers share: this one never looks at a pod, bitcoin-peers.ts never writes a workload.
//
// A user writes spec. This controller owns the two children and all of status but `nodes` and PeersConnected.
import type { V1Service, V1StatefulSet } from '@kubernetes/client-node';
import { type Settled, settleChildren } from '../../core/aggregate.ts';
import { availabilityOf } from '../../core/availability.ts';
import { defineController } from '../../core/controller.ts';
import type { Condition } from '../../core/result.ts';
import { serviceKind, serviceOf, statefulSetKind, statefulSetOf } from './children.ts';
import { bitcoinNetworkKind } from './kind.ts';

/** The controller. */
export const bitcoinNetwork = defineController(bitcoinNetworkKind)({
  name: 'bitcoin-network',
  owns: [serviceKind, statefulSetKind],

  async reconcile({ metadata: { name }, spec, conditions: standing }, { children, record }) {
    const before: { service?: V1Service | undefined; set?: V1StatefulSet | undefined } = {};
    const services = await settleChildren(
      serviceKind,
      children(serviceKind, (existing) => {
        [before.service] = existing;
        return [serviceOf(name)];
      }),
    );
    const sets = await settleChildren(
      statefulSetKind,
      children(statefulSetKind, (existing) => {
        [before.set] = existing;
        return [statefulSetOf(name, spec)];
      }),
    );
    const [service] = services.live ?? [];
    const [set] = sets.live ?? [];

    // An Event says what was done: a reconcile that changes nothing says nothing, and a name that is taken is told once.
    if (service !== undefined && before.service === undefined) {
      record('Normal', 'Created', `Created headless service for bitcoin network ${name}`);
    }
    if (set !== undefined && before.set === undefined) {
      record('Normal', 'Created', `Created stateful set for bitcoin network ${name}`);
    } else if (set !== undefined && set.spec?.replicas !== before.set?.spec?.replicas) {
      record('Normal', 'Scaled', `Adjusting number of replicas to ${spec.nodes}`);
    }
    const warnOnce = (type: string, { problem }: Settled<object>) => {
      if (problem === undefined) return;
      const { reason, message = '' } = problem.condition;
      if (standing?.some((one) => one.type === type && one.reason === reason && one.message === message)) return;
      record('Warning', reason === 'NotOwned' ? 'ErrResourceExists' : 'ErrChildRefused', message);
    };
    warnOnce('ServiceReady', services);
    warnOnce('NodesReady', sets);

    const { replicas = 0, readyReplicas = 0 } = set?.status ?? {};
    const problem = sets.problem ?? services.problem;
    const result = {
      // Of a set that could not be read, or is not ours, nothing is said.
      status: set === undefined ? {} : { replicas, readyNodes: readyReplicas },
      conditions: {
        ServiceReady: services.problem?.condition ?? { status: 'True', reason: 'Written' },
        NodesReady: sets.problem?.condition ?? readinessOf(set),
      },
    } as const;
    return problem === undefined ? result : { ...result, retry: problem.error };
  },
});

/** A StatefulSet counts where a Deployment says Available. One on which nobody has reported has no pods. */
function readinessOf(set: V1StatefulSet | undefined): Condition {
  const { metadata, spec, status } = set ?? {};
  const [wanted, ready] = [spec?.replicas ?? 0, status?.readyReplicas ?? 0];
  const message = `${ready} of ${wanted} nodes are ready`;
  const available =
    ready >= wanted ? { status: 'True', reason: 'AllReady' } : { status: 'False', reason: 'NodesNotReady' };
  return availabilityOf({
    ...(metadata === undefined ? {} : { metadata }),
    status: {
      observedGeneration: status?.observedGeneration ?? metadata?.generation ?? 0,
      conditions: [{ type: 'Available', ...available, message }],
    },
  });
}
