// BitcoinNetwork, the nodes: lists them, and connects each ready node to all the others. It shows a kind's second
// controller with a status slice, and commands in containers: it runs the node's own bitcoin-cli with the node's
// credentials, so the controller has none.
//
// This controller writes status.nodes and PeersConnected, and owns bitcoind's list of added nodes. Otherwise it only
// reads.
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

/** Nodes that are called at the same time. */
const concurrency = 8;
const callSeconds = 5;
/**
 * After this time no further node is called, so that the status can be written before the function's deadline, even if
 * the reconcile is repeated because the spec has changed.
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
  // A node that lost its list and is still ready causes no event.
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
      // A retry may be needed although the list of nodes is unchanged.
      error: failed.size === 0 ? undefined : new Error(PeersConnected.message),
    };
  },
});

/** Whether each ready node has all the others in its list. Only the nodes know whether they are connected. */
function connectedness(nodes: readonly NetworkNode[], failed: ReadonlyMap<string, Error>): DeclaredCondition {
  // In the order of the nodes and not of the failures, so that an unchanged message causes no write.
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
