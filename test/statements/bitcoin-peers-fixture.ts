// Where the statements about one BitcoinNetwork's nodes take place: a system for each, a network whose pods the test makes, and what
// their nodes were told.
import { afterAll, afterEach, beforeEach } from 'vitest';
import { startApiServer } from '../../src/apiserver/server.ts';
import { BitcoinNetwork as networks } from '../../src/controllers/bitcoin-network/kind.ts';
import { createBitcoinNodes } from '../../src/simulators/bitcoin.ts';
import { createBitcoin } from './bitcoin.ts';
import { useSystem } from './harness.ts';

/** The network. */
export const name = 'my-network';
/** Its StatefulSet. */
export const set = 'my-network-sts';
/** The addresses of its pods. */
export const [a, b, c] = ['10.1.0.1', '10.1.0.2', '10.1.0.3'];
export const three = [a, b, c];

/** Starts an API server for a file, and a system for each of its tests. */
export async function peersFixture() {
  const nodes = createBitcoinNodes();
  const server = await startApiServer({ execute: nodes.execute });
  afterAll(() => server.close());
  const system = useSystem(() => ({ server: new URL(server.url) }));
  const bitcoin = createBitcoin(system);
  let from = 0;
  beforeEach(() => void commandsSent());
  afterEach(() => {
    nodes.fail('*', undefined);
    for (const ordinal of [0, 1, 2]) nodes.fail(pod(ordinal), undefined);
  });

  const pod = (ordinal: number, of = name) => ({ namespace: system.namespace, name: `${of}-sts-${ordinal}` });
  function commandsSent(): readonly string[] {
    const calls = nodes.calls().slice(from);
    from += calls.length;
    return calls
      .filter(({ namespace }) => namespace === system.namespace)
      .map(({ pod: named, args }) => `${named.slice(-1)}: ${args.slice(2).join(' ')}`)
      .sort();
  }
  return {
    nodes,
    at: { system, bitcoin },
    pod,
    /** Commands since the last call of this, as `ordinal: method ...`, sorted. */
    commandsSent,
    reconcile: async () => await system.reconcile(networks, name),
    /** What a pod's node lists. */
    added: (ordinal: number, of = name) => [...nodes.added(pod(ordinal, of))].sort(),
    connected: async (of = name) => await bitcoin.condition(of, 'PeersConnected'),
    /** Commands of another client to a node. */
    tell: async (ordinal: number, ...args: readonly string[]): Promise<void> => {
      const { namespace, name: named } = pod(ordinal);
      const { signal } = new AbortController();
      await nodes.execute({ namespace, pod: named, container: 'c', command: ['bitcoin-cli', ...args], signal });
      from += 1;
    },
    /** Makes a network whose first pods are there, and reconciles it. */
    made: async (ips: readonly string[] = three, spec: object = { nodes: 3 }, of = name): Promise<void> => {
      await bitcoin.network(of, spec);
      await system.reconcile(networks, of);
      for (const [ordinal, ip] of ips.entries()) await bitcoin.pod(of, ordinal, { ip });
      await system.reconcile(networks, of);
    },
  };
}
