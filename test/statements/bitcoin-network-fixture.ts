// Where the statements about one BitcoinNetwork's workloads take place: a system for each, the network, and what one looks at. The test
// says how its StatefulSet fares.

import { afterEach, beforeAll, beforeEach } from 'vitest';
import type { Kind } from '../../src/api/kind.ts';
import { BitcoinNetwork as networks } from '../../src/controllers/bitcoin-network/kind.ts';
import type { Connection } from '../../src/kube/client/connection.ts';
import { Service, StatefulSet } from '../../src/kubernetes.ts';
import { createBitcoin } from './bitcoin.ts';
import { install, type System, startSystem } from './harness.ts';

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

/** Starts a system for each statement. What is `at` it is of the statement that runs. */
export function networkFixture(connect: () => Connection) {
  let system: System;
  let bitcoin: ReturnType<typeof createBitcoin>;
  beforeAll(() => install(connect()));
  beforeEach(async () => {
    system = await startSystem(connect());
    bitcoin = createBitcoin(system);
  });
  afterEach(async ({ task }) => await system.end({ failed: task.result?.state === 'fail' }));

  const at = {
    get system() {
      return system;
    },
    get bitcoin() {
      return bitcoin;
    },
  };
  const reconcile = async () => await system.reconcile(networks, name);
  return {
    at,
    reconcile,
    /** Makes the network, or changes it, and reconciles it. Returns its uid. */
    made: async (spec: object = { nodes: 3 }): Promise<string> => {
      const { metadata } = await bitcoin.network(name, spec);
      await reconcile();
      return metadata.uid ?? '';
    },
  };
}
