// The statements of bitcoin-network-workload-cases.ts on the in-memory API server, with stand-ins for workloads and nodes.
// test/cluster/bitcoin-network-permissions.test.ts runs the same on the real ones.

import { startApiServer } from '@outrigger/apiserver';
import { startWorkloads } from '@outrigger/apiserver/workloads/workloads';
import { createBitcoinNodes } from '@outrigger/cli/simulators/bitcoin';
import { afterAll } from 'vitest';
import { createClient } from '../../src/kube/client/client.ts';
import { bitcoinNetworkWorkloadCases } from './bitcoin-network-workload-cases.ts';

const nodes = createBitcoinNodes();
const server = await startApiServer({ execute: nodes.execute });
const client = createClient({ server: new URL(server.url) });
const workloads = await startWorkloads(client);
afterAll(async () => {
  await workloads.close();
  client.close();
  await server.close();
});

const connection = { server: new URL(server.url) };
bitcoinNetworkWorkloadCases({
  connect: () => connection,
  setReady: workloads.setReady,
  forget: async (pod) => nodes.restart(pod),
});
