// BitcoinNetwork, the workloads: a headless Service and a StatefulSet, and what the StatefulSet says of its pods. It
// shows a kind that two controllers share: this one never looks at a pod, bitcoin-peers.ts never writes a workload.
//
// A user writes spec. This controller owns the two children and all of status but `nodes` and PeersConnected.

import { Service, StatefulSet } from '../kubernetes.ts';
import { ok, type ResultOf, recordApplyFailures, statefulSetReady } from '../outrigger.ts';
import { networkService, networkStatefulSet } from './bitcoin-network/children.ts';
import { BitcoinNetwork } from './bitcoin-network/kind.ts';

/** The controller. */
export const bitcoinNetwork = BitcoinNetwork.controller('bitcoin-network', {
  owns: [Service, StatefulSet],
  // The nodes get the keys of spec.secret as variables.
  allows: { secrets: true },

  async reconcile(
    { metadata: { name }, spec, conditions },
    { tryApplyAll, recordEvent },
  ): Promise<ResultOf<typeof BitcoinNetwork>> {
    // An Event says what was done: a reconcile that changes nothing records none, and a name that is taken is recorded
    // once.
    const created = (what: string) => recordEvent('Normal', 'Created', `Created ${what} for bitcoin network ${name}`);
    const services = await tryApplyAll(Service, [networkService(name)], {
      onChange: ({ type }) => {
        if (type === 'created') created('headless service');
      },
    });
    const sets = await tryApplyAll(StatefulSet, [networkStatefulSet(name, spec)], {
      onChange: (change) => {
        if (change.type === 'created') created('stateful set');
        if (change.type === 'updated' && change.before.spec?.replicas !== spec.nodes) {
          recordEvent('Normal', 'Scaled', `Adjusting number of replicas to ${spec.nodes}`);
        }
      },
    });
    recordApplyFailures(recordEvent, conditions, { ServiceReady: services, NodesReady: sets });

    const [set] = sets.objects;
    const { replicas = 0, readyReplicas = 0 } = set?.status ?? {};
    return {
      // Of a set that could not be read, or is not ours, nothing is reported.
      status: set === undefined ? {} : { replicas, readyNodes: readyReplicas },
      conditions: {
        ServiceReady: services.failure?.condition ?? ok('Written'),
        NodesReady: sets.failure?.condition ?? statefulSetReady(set),
      },
      error: (sets.failure ?? services.failure)?.error,
    };
  },
});
