// A bitcoin-cli in front of btcd with bitcoind's commands, codes and formats. The differences:
// - btcd returns -8 both for an address that it has and for one that it does not have; bitcoind returns -23 and -24.
// - btcd lists the nodes that it is connected to, with their port; bitcoind lists added nodes exactly as given.
// - btcd has no getnetworkinfo and listens only when it is ready; bitcoind listens earlier and returns -28.

import type { ExecOutcome } from '@outrigger/apiserver/exec/execute';
import {
  type AddedNode,
  addnodeHelp,
  bitcoinCall,
  emptyResult,
  jsonResult,
  networkInfo,
  notAddedMessage,
  rpcError,
  unauthorized,
  warmingUp,
} from '@outrigger/cli/simulators/bitcoin-cli';
import * as z from 'zod';
import type { Btcctl, BtcctlResult } from './btcctl.ts';

/** Runs `bitcoin-cli [-option...] METHOD [PARAMETER...]`; `args` are the arguments after the program's name. */
export type BitcoinCli = (args: readonly string[], signal: AbortSignal) => Promise<ExecOutcome>;

const simnetPort = ':18555';
const addedNodes = z.array(
  z.object({
    addednode: z.string(),
    connected: z.boolean(),
    addresses: z.array(z.object({ address: z.string(), connected: z.enum(['outbound', 'inbound']) })).nullish(),
  }),
);
const info = z.object({ connections: z.number() });

/** Creates a bitcoin-cli for one btcd that has just started. */
export function createBitcoinCli(btcctl: Btcctl): BitcoinCli {
  // The added nodes that btcd is not connected to. The set is lost with the process, as bitcoind's list is.
  const added = new Set<string>();

  const listNodes = async (signal: AbortSignal): Promise<readonly AddedNode[] | ExecOutcome> => {
    const result = await btcctl(['getaddednodeinfo', 'true'], signal);
    if (result.type !== 'ok') return errorResult(result);
    const connected = addedNodes.parse(JSON.parse(result.text)).map(toAddedNode);
    const listNodes = new Set(connected.map(({ addednode }) => addednode));
    const unconnected = [...added].filter((address) => !listNodes.has(address));
    return [
      ...connected.filter(
        ({ addednode }, index) => index === connected.findIndex((one) => one.addednode === addednode),
      ),
      ...unconnected.map((addednode) => ({ addednode, connected: false, addresses: [] })),
    ];
  };

  return async (args, signal) => {
    const { method, parameters } = bitcoinCall(args);
    const [address, action, ...more] = parameters;
    if (method === 'getnetworkinfo') {
      const result = await btcctl(['getinfo'], signal);
      if (result.type !== 'ok') return errorResult(result);
      return jsonResult(networkInfo(info.parse(JSON.parse(result.text)).connections));
    }
    if (method !== 'getaddednodeinfo' && method !== 'addnode') return rpcError('methodNotFound', 'Method not found');
    const nodes = await listNodes(signal);
    if ('exitCode' in nodes) return nodes;
    if (method === 'getaddednodeinfo') {
      if (address === undefined) return jsonResult(nodes);
      const wanted = nodes.filter(({ addednode }) => addednode === address);
      return wanted.length === 0 ? rpcError('notAdded', notAddedMessage) : jsonResult(wanted);
    }
    if (address === undefined || !(action === 'add' || action === 'remove') || more.length > 0) {
      return rpcError('misc', addnodeHelp);
    }
    const has = nodes.some(({ addednode }) => addednode === address);
    if (action === 'add' && has) return rpcError('alreadyAdded', 'Error: Node already added');
    if (action === 'remove' && !has) return rpcError('notAdded', notAddedMessage);
    const result = await btcctl(['addnode', address, action], signal);
    // btcd may have connected or disconnected since it was listed; the requested state is reached in both cases.
    if (result.type !== 'ok' && !(result.type === 'error' && result.code === -8)) return errorResult(result);
    if (action === 'add') added.add(address);
    else added.delete(address);
    return emptyResult;
  };
}

function toAddedNode({ addednode, connected, addresses }: z.infer<typeof addedNodes>[number]): AddedNode {
  const port = addednode.slice(addednode.lastIndexOf(':'));
  return {
    addednode: addednode.endsWith(simnetPort) ? addednode.slice(0, -simnetPort.length) : addednode,
    connected,
    addresses: (addresses ?? []).map((one) => ({ ...one, address: `${one.address}${port}` })),
  };
}

function errorResult(result: Exclude<BtcctlResult, { readonly type: 'ok' }>): ExecOutcome {
  if (result.type === 'unauthorized') return unauthorized();
  if (result.type === 'unreachable') return warmingUp();
  return rpcError('misc', result.message);
}
