// BitcoinNetwork, the workloads: a headless Service and a StatefulSet, and what the StatefulSet says of its pods. It shows a kind
// that two controllers share: this one never looks at a pod, bitcoin-peers.ts never writes a workload.
//
// A user writes spec. This controller owns the two children and all of status but `nodes` and PeersConnected.
import { settleChildren, warnOfRefusals } from '../../core/aggregate.ts';
import { readyReplicasOf } from '../../core/availability.ts';
import { defineController } from '../../core/controller.ts';
import { serviceKind, serviceOf, statefulSetKind, statefulSetOf } from './children.ts';
import { bitcoinNetworkKind } from './kind.ts';

/** The controller. */
export const bitcoinNetwork = defineController(bitcoinNetworkKind)({
  name: 'bitcoin-network',
  owns: [serviceKind, statefulSetKind],

  async reconcile({ metadata: { name }, spec, conditions }, { children, record }) {
    // An Event says what was done: a reconcile that changes nothing says nothing, and a name that is taken is told once.
    const created = (what: string) => record('Normal', 'Created', `Created ${what} for bitcoin network ${name}`);
    const services = await settleChildren(
      serviceKind,
      children(serviceKind, [serviceOf(name)], {
        onChange: ({ type }) => {
          if (type === 'created') created('headless service');
        },
      }),
    );
    const sets = await settleChildren(
      statefulSetKind,
      children(statefulSetKind, [statefulSetOf(name, spec)], {
        onChange: (change) => {
          if (change.type === 'created') created('stateful set');
          if (change.type === 'changed' && change.before.spec?.replicas !== spec.nodes) {
            record('Normal', 'Scaled', `Adjusting number of replicas to ${spec.nodes}`);
          }
        },
      }),
    );
    warnOfRefusals(record, conditions, { ServiceReady: services, NodesReady: sets });

    const [set] = sets.live ?? [];
    const { replicas = 0, readyReplicas = 0 } = set?.status ?? {};
    const problem = sets.problem ?? services.problem;
    const result = {
      // Of a set that could not be read, or is not ours, nothing is said.
      status: set === undefined ? {} : { replicas, readyNodes: readyReplicas },
      conditions: {
        ServiceReady: services.problem?.condition ?? { status: 'True', reason: 'Written' },
        NodesReady: sets.problem?.condition ?? readyReplicasOf(set),
      },
    } as const;
    return problem === undefined ? result : { ...result, retry: problem.error };
  },
});
