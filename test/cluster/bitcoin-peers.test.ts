// BitcoinNetwork's peers on a real kube-apiserver only: the test creates the pods, and a kubelet without pods of its
// own runs their commands on simulated nodes, which can have faults. Real nodes: bitcoin-network-permissions.test.ts.
import { afterAll, expect, it } from 'vitest';
import { BitcoinNetwork as networks } from '../../src/controllers/bitcoin-network/kind.ts';
import { createClient } from '../../src/kube/client/client.ts';
import { createBitcoinNodes } from '../../src/simulators/bitcoin.ts';
import { serveExec } from '../../tools/kubelet/exec-server.ts';
import { registerNode } from '../../tools/kubelet/node.ts';
import { useApiServer } from '../harness/api-server.ts';
import { createBitcoin } from '../statements/bitcoin.ts';
import { bitcoinPeersCases } from '../statements/bitcoin-peers-cases.ts';
import { bitcoinPeersFailureCases } from '../statements/bitcoin-peers-failure-cases.ts';
import { startSystem } from '../statements/harness.ts';

const nodes = createBitcoinNodes();
const connection = (await useApiServer({ controllers: 'none' })).connect();
const admin = createClient(connection);
// The test sets the addresses of pods; their nodes are identified by name.
const kubelet = await serveExec(
  () => ({ ip: '', image: 'christianb93/bitcoind:v1.0' }),
  ({ ip: _, ...request }) => nodes.execute(request),
);
const nodeName = 'bitcoin-peers-node';
const node = await registerNode(admin, nodeName, kubelet.port);
afterAll(async () => {
  await node.close();
  await kubelet.close();
  admin.close();
});

const fixture = { connect: () => connection, nodes, nodeName };
bitcoinPeersCases(fixture);
bitcoinPeersFailureCases(fixture);

it.each([
  'not an address',
  '10.1.0.3:18444',
  '-rpcconnect=203.0.113.1',
  '010.1.0.3',
])('the API server rejects pod.status.podIP %s', async (ip) => {
  const system = await startSystem(connection);
  try {
    const bitcoin = createBitcoin(system, { nodeName });
    await bitcoin.network('my-network');
    await system.reconcile(networks, 'my-network');
    await expect(bitcoin.pod('my-network', 0, { ip })).rejects.toMatchObject({ status: 422 });
  } finally {
    await system.end();
  }
});
