// The statements of bitcoin-peers-cases.ts and bitcoin-peers-failure-cases.ts on the in-memory API server, with nodes that are a list each. test/cluster/bitcoin-peers.test.ts
// runs the same on the real one, which refuses a pod's address that is none; a server that accepts it is tested here.
import { afterAll, expect, it } from 'vitest';
import { startApiServer } from '../../src/apiserver/server.ts';
import { BitcoinNetwork as networks } from '../../src/controllers/bitcoin-network/kind.ts';
import { createBitcoinNodes } from '../../src/simulators/bitcoin.ts';
import { createBitcoin } from './bitcoin.ts';
import { bitcoinPeersCases } from './bitcoin-peers-cases.ts';
import { bitcoinPeersFailureCases } from './bitcoin-peers-failure-cases.ts';
import { startSystem } from './harness.ts';

const nodes = createBitcoinNodes();
const server = await startApiServer({ execute: nodes.execute });
afterAll(() => server.close());

const connection = { server: new URL(server.url) };
const stage = { connect: () => connection, nodes };
bitcoinPeersCases(stage);
bitcoinPeersFailureCases(stage);

it.each([
  'not an address',
  '10.1.0.3:18444',
  '-rpcconnect=203.0.113.1',
  '010.1.0.3',
])('pod.status.podIP %s: is never used: the condition reports it, and no command has it', async (ip) => {
  const system = await startSystem(connection);
  try {
    const bitcoin = createBitcoin(system);
    const name = 'my-network';
    await bitcoin.network(name);
    await system.reconcile(networks, name);
    await bitcoin.pod(name, 0, { ip: '10.1.0.1' });
    await bitcoin.pod(name, 1, { ip });
    await system.reconcile(networks, name);
    expect(await bitcoin.condition(name, 'PeersConnected')).toMatchObject({
      status: 'False',
      reason: 'InvalidAddress',
    });
    expect((await bitcoin.condition(name, 'PeersConnected'))?.message).toContain(`${name}-sts-1`);
    const calls = nodes.calls().filter(({ namespace }) => namespace === system.namespace);
    expect(calls.map(({ pod, args }) => `${pod}: ${args.at(-1)}`)).toEqual([`${name}-sts-0: getaddednodeinfo`]);
    await bitcoin.report(`${name}-sts-1`, { ip: '10.1.0.2' });
    await system.reconcile(networks, name);
    expect(await bitcoin.condition(name, 'PeersConnected')).toMatchObject({ status: 'True' });
  } finally {
    await system.end();
  }
});
