// One Bitcoin node as bitcoin-cli shows it: its list of added nodes, and what each command prints and how it ends. A pure state
// machine, so that what bitcoind's operators know by heart is a table here. Sources: bitcoin/src/rpc/net.cpp, rpc/protocol.h
// (codes) and bitcoin-cli.cpp (an error goes to stderr, its code without the sign is the exit status).
import type { Executed } from '../api-server/exec/execute.ts';

/** What a node remembers until it restarts. */
export type BitcoinNode = { /** As they were given, in the order of adding. */ readonly added: readonly string[] };

/** A node that has just started. */
export const freshNode: BitcoinNode = { added: [] };

/** A node after a command, and what the command came to. */
export type Turn = { readonly node: BitcoinNode; readonly executed: Executed };

/** One entry of `getaddednodeinfo`. */
export type AddedNode = {
  readonly addednode: string;
  readonly connected: boolean;
  readonly addresses: readonly { readonly address: string; readonly connected: 'outbound' | 'inbound' }[];
};

const regtestPort = 18444;
/** bitcoind keeps no more connections than these to nodes that were added by hand. */
const mostConnections = 8;

const rpcErrors = {
  misc: -1,
  alreadyAdded: -23,
  notAdded: -24,
  inWarmup: -28,
  methodNotFound: -32601,
} as const;

/**
 * Runs `bitcoin-cli [-option...] METHOD [PARAMETER...]`; `args` is what follows the program's name. `reaches` tells whether a
 * node answers at an address.
 */
export function runBitcoinCli(node: BitcoinNode, args: readonly string[], reaches: (address: string) => boolean): Turn {
  const { method, parameters } = bitcoinCall(args);
  const stays = (executed: Executed): Turn => ({ node, executed });
  const [address, what, ...more] = parameters;
  switch (method) {
    case undefined:
      return stays(failed(1, 'error: too few parameters (need at least command)'));
    case 'getnetworkinfo':
      return stays(printed(networkInfo(infoOf(node, reaches).filter(({ connected }) => connected).length)));
    case 'getaddednodeinfo': {
      const all = infoOf(node, reaches);
      if (address === undefined) return stays(printed(all));
      const wanted = all.filter(({ addednode }) => addednode === address);
      return stays(wanted.length === 0 ? rpcError('notAdded', notAddedMessage) : printed(wanted));
    }
    case 'addnode':
      if (address === undefined || more.length > 0) return stays(rpcError('misc', addnodeHelp));
      if (what === 'onetry') return stays(silent);
      if (what === 'add') {
        if (node.added.includes(address)) return stays(rpcError('alreadyAdded', 'Error: Node already added'));
        return { node: { added: [...node.added, address] }, executed: silent };
      }
      if (what === 'remove') {
        if (!node.added.includes(address)) return stays(rpcError('notAdded', notAddedMessage));
        return { node: { added: node.added.filter((one) => one !== address) }, executed: silent };
      }
      return stays(rpcError('misc', addnodeHelp));
    default:
      return stays(rpcError('methodNotFound', 'Method not found'));
  }
}

/** Takes what bitcoin-cli was given apart. */
export function bitcoinCall(args: readonly string[]): {
  readonly method: string | undefined;
  readonly parameters: readonly string[];
} {
  const first = args.findIndex((argument) => !argument.startsWith('-'));
  const [method, ...parameters] = first === -1 ? [] : args.slice(first);
  return { method, parameters };
}

/** What a command says while the node loads its blocks. */
export function warmingUp(): Executed {
  return rpcError('inWarmup', 'Loading block index...');
}

/** What a command says when the node refuses its credentials: there is no code, only bitcoind's empty 401. */
export function unauthorized(): Executed {
  return failed(1, 'error: Authorization failed: Incorrect rpcuser or rpcpassword');
}

/** What a command says when no node listens. */
export function notRunning(): Executed {
  return failed(1, 'error: Could not connect to the server 127.0.0.1:18332');
}

/** What a command says when bitcoind answers with an error. */
export function rpcError(error: keyof typeof rpcErrors, message: string): Executed {
  const code = rpcErrors[error];
  // An exit status has eight bits; the codes that controllers look at are smaller.
  return failed(Math.abs(code) % 256, `error code: ${code}\nerror message:\n${message}`);
}

/** What a command prints that answers with a value. */
export function printed(value: unknown): Executed {
  return { exitCode: 0, stdout: `${JSON.stringify(value, null, 2)}\n`, stderr: '' };
}

/** What a command prints that answers with null. */
export const silent: Executed = { exitCode: 0, stdout: '', stderr: '' };

/** What `getnetworkinfo` prints, as much of it as somebody may look at. */
export function networkInfo(connections: number): object {
  return {
    ...{ version: 150000, subversion: '/Satoshi:0.15.0/', protocolversion: 70015, localrelay: true, timeoffset: 0 },
    ...{ networkactive: true, connections, networks: [], relayfee: 0.00001, localaddresses: [], warnings: '' },
  };
}

/** bitcoind's words for an address that is not in the list. */
export const notAddedMessage = 'Error: Node has not been added.';
export const addnodeHelp = 'addnode "node" "add|remove|onetry"';

function failed(exitCode: number, said: string): Executed {
  return { exitCode, stdout: '', stderr: `${said}\n` };
}

function infoOf({ added }: BitcoinNode, reaches: (address: string) => boolean): readonly AddedNode[] {
  const connected = new Set(added.filter(reaches).slice(0, mostConnections));
  return added.map((addednode) => ({
    addednode,
    connected: connected.has(addednode),
    addresses: connected.has(addednode) ? [{ address: `${addednode}:${regtestPort}`, connected: 'outbound' }] : [],
  }));
}
