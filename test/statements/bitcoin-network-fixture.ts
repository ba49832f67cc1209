// Where the statements about one BitcoinNetwork's workloads take place: a system for each, the network, and what one looks at. The test
// says how its StatefulSet fares.

import type { Kind } from '../../src/api/kind.ts';
import { BitcoinNetwork as networks } from '../../src/controllers/bitcoin-network/kind.ts';
import type { Connection } from '../../src/kube/client/connection.ts';
import { Service, StatefulSet } from '../../src/kubernetes.ts';
import { createBitcoin } from './bitcoin.ts';
import { useSystem } from './harness.ts';

/** The network. */
export const name = 'my-network';
/** Its Service. */
export const service = 'my-network-svc';
/** Its StatefulSet. */
export const set = 'my-network-sts';
/** Both: kind, name, and the condition that speaks of it. */
export const both: readonly (readonly [string, Kind, string, string])[] = [
  ['Service', Service, service, 'ServiceReady'],
  ['StatefulSet', StatefulSet, set, 'NodesReady'],
];
/** The Events of their creation. */
export const createdService = `1 x Normal Created: Created headless service for bitcoin network ${name}`;
export const createdSet = `1 x Normal Created: Created stateful set for bitcoin network ${name}`;

/** Starts a system for each test of a file. */
export function networkFixture(connect: () => Connection) {
  const system = useSystem(connect);
  const bitcoin = createBitcoin(system);
  const reconcile = async () => await system.reconcile(networks, name);
  return {
    at: { system, bitcoin },
    reconcile,
    /** Makes the network, or changes it, and reconciles it. Returns its uid. */
    made: async (spec: object = { nodes: 3 }): Promise<string> => {
      const { metadata } = await bitcoin.network(name, spec);
      await reconcile();
      return metadata.uid ?? '';
    },
  };
}
