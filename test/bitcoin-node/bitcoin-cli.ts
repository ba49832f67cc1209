// A thin bitcoin-cli in front of btcd: the same commands, bitcoind's codes and shapes. Where the two differ, bitcoind is right:
//   btcd says -8 both to an address that it has and to one that it has not; bitcoind -23 and -24;
//   btcd's list is of those whom it has reached, with their port; bitcoind's of what it was told, as it was told;
//   btcd has no getnetworkinfo, and listens only when it is ready; bitcoind listens, and says -28.
import * as z from 'zod';
import type { Executed } from '../../src/local/api-server/exec/execute.ts';
import {
  type AddedNode,
  addnodeHelp,
  bitcoinCall,
  networkInfo,
  notAddedMessage,
  printed,
  rpcError,
  silent,
  unauthorized,
  warmingUp,
} from '../../src/local/worlds/bitcoin-cli.ts';
import type { Btcctl, BtcctlAnswer } from './btcctl.ts';

/** Runs `bitcoin-cli [-option...] METHOD [PARAMETER...]`; `args` is what follows the program's name. */
export type BitcoinCli = (args: readonly string[], signal: AbortSignal) => Promise<Executed>;

const simnetPort = ':18555';
const addedNodes = z.array(
  z.object({
    addednode: z.string(),
    connected: z.boolean(),
    addresses: z.array(z.object({ address: z.string(), connected: z.enum(['outbound', 'inbound']) })).nullish(),
  }),
);
const info = z.object({ connections: z.number() });

/** Creates it for one btcd that has just started. */
export function createBitcoinCli(btcctl: Btcctl): BitcoinCli {
  // What btcd was told and has not reached, or no longer reaches; it goes with the process, as bitcoind's list does.
  const told = new Set<string>();

  const listed = async (signal: AbortSignal): Promise<readonly AddedNode[] | Executed> => {
    const answer = await btcctl(['getaddednodeinfo', 'true'], signal);
    if (answer.type !== 'answered') return failure(answer);
    const reached = addedNodes.parse(JSON.parse(answer.text)).map(asBitcoind);
    const known = new Set(reached.map(({ addednode }) => addednode));
    const waiting = [...told].filter((address) => !known.has(address));
    return [
      ...reached.filter(({ addednode }, index) => index === reached.findIndex((one) => one.addednode === addednode)),
      ...waiting.map((addednode) => ({ addednode, connected: false, addresses: [] })),
    ];
  };

  return async (args, signal) => {
    const { method, parameters } = bitcoinCall(args);
    const [address, what, ...more] = parameters;
    if (method === 'getnetworkinfo') {
      const answer = await btcctl(['getinfo'], signal);
      if (answer.type !== 'answered') return failure(answer);
      return printed(networkInfo(info.parse(JSON.parse(answer.text)).connections));
    }
    if (method !== 'getaddednodeinfo' && method !== 'addnode') return rpcError('methodNotFound', 'Method not found');
    const nodes = await listed(signal);
    if ('exitCode' in nodes) return nodes;
    if (method === 'getaddednodeinfo') {
      if (address === undefined) return printed(nodes);
      const wanted = nodes.filter(({ addednode }) => addednode === address);
      return wanted.length === 0 ? rpcError('notAdded', notAddedMessage) : printed(wanted);
    }
    if (address === undefined || !(what === 'add' || what === 'remove') || more.length > 0) {
      return rpcError('misc', addnodeHelp);
    }
    const has = nodes.some(({ addednode }) => addednode === address);
    if (what === 'add' && has) return rpcError('alreadyAdded', 'Error: Node already added');
    if (what === 'remove' && !has) return rpcError('notAdded', notAddedMessage);
    const answer = await btcctl(['addnode', address, what], signal);
    // btcd may have reached, or lost, it since it was asked; what was asked for is so.
    if (answer.type !== 'answered' && !(answer.type === 'refused' && answer.code === -8)) return failure(answer);
    if (what === 'add') told.add(address);
    else told.delete(address);
    return silent;
  };
}

function asBitcoind({ addednode, connected, addresses }: z.infer<typeof addedNodes>[number]): AddedNode {
  const port = addednode.slice(addednode.lastIndexOf(':'));
  return {
    addednode: addednode.endsWith(simnetPort) ? addednode.slice(0, -simnetPort.length) : addednode,
    connected,
    addresses: (addresses ?? []).map((one) => ({ ...one, address: `${one.address}${port}` })),
  };
}

function failure(answer: Exclude<BtcctlAnswer, { readonly type: 'answered' }>): Executed {
  if (answer.type === 'unauthorized') return unauthorized();
  if (answer.type === 'unreachable') return warmingUp();
  return rpcError('misc', answer.message);
}
