// BitcoinNetwork, the nodes: which there are, and that each ready one knows all the others. It shows a kind's second
// controller, with a status slice of its own, and commands in containers: a node is spoken to by its own bitcoin-cli
// with its own credentials, so this controller has none.
//
// This controller writes status.nodes and PeersConnected, and owns bitcoind's list of added nodes; of the cluster it
// only reads.
import { Pod, StatefulSet } from '../kubernetes.ts';
import {
  type DeclaredCondition,
  forEachConcurrently,
  notOk,
  ok,
  type ResultOf,
  toError,
  unknown,
} from '../outrigger.ts';
import { RpcError, setAddedNodes } from './bitcoin-network/added-nodes.ts';
import { bitcoinCli, containerSuffix, networkLabel, statefulSetName } from './bitcoin-network/children.ts';
import { BitcoinNetwork, type NetworkNode } from './bitcoin-network/kind.ts';
import { hasUsableAddress, nodesOf } from './bitcoin-network/nodes.ts';

/** How many nodes are spoken to at a time. */
const concurrency = 8;
const callSeconds = 5;
/**
 * After these no node is spoken to any more, so that the status is written before the function's time is over, should
 * all of it be done twice because the spec changed meanwhile.
 */
const budgetSeconds = 8;

/** The slice of the status. */
const NetworkPeers = BitcoinNetwork.statusSlice({ status: ['nodes'], conditions: ['PeersConnected'] });

/** The controller. */
export const bitcoinPeers = NetworkPeers.controller('bitcoin-peers', {
  reads: [StatefulSet, Pod],
  watches: [{ kind: Pod, label: networkLabel }],
  exec: {
    container: containerSuffix,
    commands: [[...bitcoinCli, 'getaddednodeinfo'], { argv: [...bitcoinCli, 'addnode'], mutates: true }],
  },
  // No event tells of a node that has lost its list and is ready all the same.
  resyncPeriodSeconds: 600,

  async reconcile({ metadata: { name, uid }, spec }, { exec, get, list, now }): Promise<ResultOf<typeof NetworkPeers>> {
    const set = await get(StatefulSet, { name: statefulSetName(name) });
    const nodes = nodesOf({ name, uid, nodes: spec.nodes }, set, await list(Pod, { [networkLabel]: name }));
    const peers = nodes.filter(hasUsableAddress);
    const addresses = peers.map(({ ip }) => ip);

    const endsAt = now().getTime() + budgetSeconds * 1000;
    const failed = new Map<string, Error>();
    await forEachConcurrently(concurrency, peers, async ({ nodeName, ip }) => {
      const cli = async (...args: readonly string[]) => {
        if (now().getTime() > endsAt) throw new RpcError(`not done within ${budgetSeconds} s`);
        const container = `${name}${containerSuffix}`;
        return await exec({ name: nodeName }, container, [...bitcoinCli, ...args], { timeoutSeconds: callSeconds });
      };
      try {
        await setAddedNodes(cli, ip, addresses);
      } catch (thrown) {
        failed.set(nodeName, toError(thrown));
      }
    });

    const PeersConnected = connectedness(nodes, failed);
    return {
      status: { nodes },
      conditions: { PeersConnected },
      // The list of nodes need not change for a retry.
      error: failed.size === 0 ? undefined : new Error(PeersConnected.message),
    };
  },
});

/**
 * Of the ready nodes, whether each has been told of all the others. Whether they are connected is known to them alone.
 */
function connectedness(nodes: readonly NetworkNode[], failed: ReadonlyMap<string, Error>): DeclaredCondition {
  // In the nodes' order, whichever failed first: what has not changed is not written.
  const failures = nodes.flatMap(({ nodeName }) => {
    const error = failed.get(nodeName);
    return error === undefined ? [] : [{ nodeName, error }];
  });
  const [first] = failures;
  if (first !== undefined) {
    const message = failures.map(({ nodeName, error }) => `${nodeName}: ${error.message}`).join('; ');
    return notOk(first.error instanceof RpcError ? first.error.reason : 'RPCFailed', message);
  }
  const ready = nodes.filter((node) => node.ready);
  const strange = ready.filter((node) => !hasUsableAddress(node)).map(({ nodeName }) => nodeName);
  if (strange.length > 0) {
    return notOk('InvalidAddress', `no address that can be used: ${strange.join(', ')}`);
  }
  if (ready.length === 0) return unknown('NoReadyNodes', 'no node is ready');
  return ok('AllAdded', `${ready.length} ready nodes have each other as added nodes`);
}
