// BitcoinNetwork, the nodes: which there are, and that each ready one knows all the others. It shows a kind's second controller,
// with a part of the status of its own, and commands in containers: a node is spoken to by its own bitcoin-cli with its own
// credentials, so nobody here has any.
//
// This controller writes status.nodes and PeersConnected, and owns bitcoind's list of added nodes; of the cluster it only reads.
import { atATime } from '../../core/at-a-time.ts';
import { defineController } from '../../core/controller.ts';
import { toError } from '../../core/errors.ts';
import type { Condition } from '../../core/result.ts';
import { makeList, RpcError } from './added-nodes.ts';
import { bitcoinCli, containerSuffix, networkLabel, statefulSetKind, statefulSetName } from './children.ts';
import { bitcoinNetworkKind, type NetworkNode } from './kind.ts';
import { isPeer, nodesOf, podKind } from './nodes.ts';

/** How many nodes are spoken to at a time. */
const lanes = 8;
const callSeconds = 5;
/**
 * After these no node is spoken to any more, so that the status is written before the function's time is over, should all of it be
 * done twice because the spec changed meanwhile.
 */
const budgetSeconds = 8;

/** The controller. */
export const bitcoinPeers = defineController(bitcoinNetworkKind, { status: ['nodes'], conditions: ['PeersConnected'] })(
  {
    name: 'bitcoin-peers',
    reads: [statefulSetKind, podKind],
    watches: [{ kind: podKind, label: networkLabel }],
    exec: {
      container: containerSuffix,
      commands: [[...bitcoinCli, 'getaddednodeinfo'], { argv: [...bitcoinCli, 'addnode'], changes: true }],
    },
    // No event tells of a node that has lost its list and is ready all the same.
    resyncPeriodSeconds: 600,

    async reconcile({ metadata: { name, uid }, spec }, { exec, get, list, now }) {
      const set = await get(statefulSetKind, { name: statefulSetName(name) });
      const nodes = nodesOf({ name, uid, nodes: spec.nodes }, set, await list(podKind, { [networkLabel]: name }));
      const peers = nodes.filter(isPeer);
      const addresses = peers.map(({ ip }) => ip);

      const endsAt = now().getTime() + budgetSeconds * 1000;
      const failed = new Map<string, Error>();
      await atATime(lanes, peers, async ({ nodeName, ip }) => {
        const cli = async (...args: readonly string[]) => {
          if (now().getTime() > endsAt) throw new RpcError(`not done within ${budgetSeconds} s`);
          const container = `${name}${containerSuffix}`;
          return await exec({ name: nodeName }, container, [...bitcoinCli, ...args], { timeoutSeconds: callSeconds });
        };
        try {
          await makeList(cli, ip, addresses);
        } catch (thrown) {
          failed.set(nodeName, toError(thrown));
        }
      });

      const result = { status: { nodes }, conditions: { PeersConnected: connectedness(nodes, failed) } };
      if (failed.size === 0) return result;
      // The list of nodes need not change for it to be tried again.
      return { ...result, retry: new Error(result.conditions.PeersConnected.message) };
    },
  },
);

/** Of the ready nodes, whether each has been told of all the others. Whether they are connected is known to them alone. */
function connectedness(nodes: readonly NetworkNode[], failed: ReadonlyMap<string, Error>): Condition {
  // In the nodes' order, whichever failed first: what has not changed is not written.
  const failures = nodes.flatMap(({ nodeName }) => {
    const error = failed.get(nodeName);
    return error === undefined ? [] : [{ nodeName, error }];
  });
  const [first] = failures;
  if (first !== undefined) {
    const message = failures.map(({ nodeName, error }) => `${nodeName}: ${error.message}`).join('; ');
    return { status: 'False', reason: first.error instanceof RpcError ? first.error.reason : 'RPCFailed', message };
  }
  const ready = nodes.filter((node) => node.ready);
  const strange = ready.filter((node) => !isPeer(node)).map(({ nodeName }) => nodeName);
  if (strange.length > 0) {
    return { status: 'False', reason: 'InvalidAddress', message: `no address that can be used: ${strange.join(', ')}` };
  }
  if (ready.length === 0) return { status: 'Unknown', reason: 'NoReadyNodes', message: 'no node is ready' };
  return { status: 'True', reason: 'AllAdded', message: `${ready.length} ready nodes have each other as added nodes` };
}
