// Bitcoin networks for statements: what a person makes and looks at, and the pods, where the test plays StatefulSet's controller and
// kubelet.

import { serviceName, statefulSetName } from '../../src/controllers/bitcoin-network/children.ts';
import { BitcoinNetwork as networks } from '../../src/controllers/bitcoin-network/kind.ts';
import type { KubeObject } from '../../src/kube/client/object.ts';
import { objectPath } from '../../src/kube/client/path.ts';
import { Pod, Service, StatefulSet } from '../../src/kubernetes.ts';
import type { System } from './harness.ts';
import { conditionOf } from './user.ts';

/** The network. */
export const name = 'my-network';
/** Its Service. */
export const service = 'my-network-svc';
/** Its StatefulSet. */
export const set = 'my-network-sts';

/** How a pod is to be. */
type PodOptions = {
  readonly ip?: string;
  readonly ready?: boolean;
  /** Who controls it; the network's StatefulSet when absent. */
  readonly owner?: object;
};

/** Creates what a statement about networks needs. */
export function createBitcoin(system: System) {
  const readSet = async (network = name) => StatefulSet.read(await system.read(StatefulSet, statefulSetName(network)));
  const report = async (pod: string, { ip, ready = true }: PodOptions): Promise<KubeObject> => {
    const conditions = [{ type: 'Ready', status: ready ? 'True' : 'False' }];
    const address = ip === undefined ? {} : { podIP: ip, podIPs: [{ ip }] };
    return await system.patch(Pod, pod, { status: { phase: 'Running', conditions, ...address } }, 'status');
  };
  return {
    set: readSet,
    report,
    /** Makes a network, or changes it. */
    network: async (name: string, spec: object = { nodes: 3 }) => await system.apply(networks, name, spec),
    service: async (name: string) => Service.read(await system.read(Service, serviceName(name))),
    condition: async (name: string, type: string) => conditionOf(await system.get(networks, name), type),
    /** The nodes that its status lists. */
    nodes: async (name: string) => networks.read(await system.read(networks, name)).status?.nodes,
    /** Makes a pod of the network's StatefulSet, and says how it is. */
    pod: async (network: string, ordinal: number, options: PodOptions = {}): Promise<KubeObject> => {
      const { metadata, spec } = await readSet(network);
      const { name = '', uid } = metadata ?? {};
      const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name, uid, controller: true };
      const labels = spec?.template.metadata?.labels ?? {};
      const ownerReferences = [options.owner ?? owner];
      const pod = `${name}-${ordinal}`;
      await system.apply(Pod, pod, { ...spec?.template.spec }, { labels, ownerReferences });
      return await report(pod, options);
    },
    /** Takes a pod away at once, as its kubelet does when it has ended. */
    removePod: async (name: string): Promise<void> => {
      const path = objectPath(Pod, { name, namespace: system.namespace });
      const body = { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 0 };
      await system.client.request({ method: 'DELETE', path, body });
    },
  };
}
