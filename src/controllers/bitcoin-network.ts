// BitcoinNetwork, the workloads: a headless Service, a StatefulSet, and the status of the StatefulSet. It shows a kind
// with two controllers: this one does not read pods, and bitcoin-peers.ts does not write workloads.
//
// A user writes spec. This controller owns the two children, and the status except for `nodes` and PeersConnected.

import { Service, StatefulSet } from '../kubernetes.ts';
import { ok, type ResultOf, recordApplyFailures, statefulSetReady } from '../outrigger.ts';
import { networkService, networkStatefulSet } from './bitcoin-network/children.ts';
import { BitcoinNetwork } from './bitcoin-network/kind.ts';

/** The controller. */
export const bitcoinNetwork = BitcoinNetwork.controller('bitcoin-network', {
  owns: [Service, StatefulSet],
  // The nodes have the keys of spec.secret as environment variables.
  allows: { secrets: true },

  async reconcile(
    { metadata: { name }, spec, conditions },
    { tryApplyAll, recordEvent },
  ): Promise<ResultOf<typeof BitcoinNetwork>> {
    // Events are recorded for changes only, and for a name that is taken only once.
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
      // Nothing is reported of a set that could not be read, or that has another owner.
      status: set === undefined ? {} : { replicas, readyNodes: readyReplicas },
      conditions: {
        ServiceReady: services.failure?.condition ?? ok('Written'),
        NodesReady: sets.failure?.condition ?? statefulSetReady(set),
      },
      error: (sets.failure ?? services.failure)?.error,
    };
  },
});
