// One simulated Bitcoin node as bitcoin-cli shows it: its list of added nodes, and the output and exit status of each
// command. It is a pure state machine. Sources: bitcoin/src/rpc/net.cpp, rpc/protocol.h (error codes) and
// bitcoin-cli.cpp (an error goes to stderr; the absolute value of its code is the exit status).
import type { ExecOutcome } from '@outrigger/apiserver/exec/execute';

/** The state that a node keeps until it restarts. */
export type BitcoinNode = {
  /** The addresses exactly as given, in the order in which they were added. */
  readonly added: readonly string[];
};

/** A node that has just started. */
export const emptyNode: BitcoinNode = { added: [] };

/** The node after a command, and the command's result. */
export type BitcoinCliResult = { readonly node: BitcoinNode; readonly result: ExecOutcome };

/** One entry of `getaddednodeinfo`. */
export type AddedNode = {
  readonly addednode: string;
  readonly connected: boolean;
  readonly addresses: readonly { readonly address: string; readonly connected: 'outbound' | 'inbound' }[];
};

const regtestPort = 18444;
/** bitcoind connects to at most this many of the nodes that were added by hand. */
const mostConnections = 8;

const rpcErrors = {
  misc: -1,
  alreadyAdded: -23,
  notAdded: -24,
  inWarmup: -28,
  methodNotFound: -32601,
} as const;

/**
 * Runs `bitcoin-cli [-option...] METHOD [PARAMETER...]`; `args` are the arguments after the program's name.
 * `isReachable` returns whether a node responds at an address.
 */
export function runBitcoinCli(
  node: BitcoinNode,
  args: readonly string[],
  isReachable: (address: string) => boolean,
): BitcoinCliResult {
  const { method, parameters } = bitcoinCall(args);
  const unchanged = (result: ExecOutcome): BitcoinCliResult => ({ node, result });
  const [address, action, ...more] = parameters;
  switch (method) {
    case undefined:
      return unchanged(failed(1, 'error: too few parameters (need at least command)'));
    case 'getnetworkinfo':
      return unchanged(
        jsonResult(networkInfo(addedNodeInfo(node, isReachable).filter(({ connected }) => connected).length)),
      );
    case 'getaddednodeinfo': {
      const all = addedNodeInfo(node, isReachable);
      if (address === undefined) return unchanged(jsonResult(all));
      const wanted = all.filter(({ addednode }) => addednode === address);
      return unchanged(wanted.length === 0 ? rpcError('notAdded', notAddedMessage) : jsonResult(wanted));
    }
    case 'addnode':
      if (address === undefined || more.length > 0) return unchanged(rpcError('misc', addnodeHelp));
      if (action === 'onetry') return unchanged(emptyResult);
      if (action === 'add') {
        if (node.added.includes(address)) return unchanged(rpcError('alreadyAdded', 'Error: Node already added'));
        return { node: { added: [...node.added, address] }, result: emptyResult };
      }
      if (action === 'remove') {
        if (!node.added.includes(address)) return unchanged(rpcError('notAdded', notAddedMessage));
        return { node: { added: node.added.filter((one) => one !== address) }, result: emptyResult };
      }
      return unchanged(rpcError('misc', addnodeHelp));
    default:
      return unchanged(rpcError('methodNotFound', 'Method not found'));
  }
}

/** Splits the arguments of bitcoin-cli into the method and its parameters. */
export function bitcoinCall(args: readonly string[]): {
  readonly method: string | undefined;
  readonly parameters: readonly string[];
} {
  const first = args.findIndex((argument) => !argument.startsWith('-'));
  const [method, ...parameters] = first === -1 ? [] : args.slice(first);
  return { method, parameters };
}

/** The result of a command while the node is loading its blocks. */
export function warmingUp(): ExecOutcome {
  return rpcError('inWarmup', 'Loading block index...');
}

/** The result of a command whose credentials the node rejects. It has no error code: bitcoind returns an empty 401. */
export function unauthorized(): ExecOutcome {
  return failed(1, 'error: Authorization failed: Incorrect rpcuser or rpcpassword');
}

/** The result of a command when no node listens. */
export function notRunning(): ExecOutcome {
  return failed(1, 'error: Could not connect to the server 127.0.0.1:18332');
}

/** The result of a command that bitcoind rejects with an error. */
export function rpcError(error: keyof typeof rpcErrors, message: string): ExecOutcome {
  const code = rpcErrors[error];
  // An exit status has eight bits. The codes that controllers read are smaller.
  return failed(Math.abs(code) % 256, `error code: ${code}\nerror message:\n${message}`);
}

/** The result of a command that returns a value. */
export function jsonResult(value: unknown): ExecOutcome {
  return { exitCode: 0, stdout: `${JSON.stringify(value, null, 2)}\n`, stderr: '' };
}

/** The result of a command that returns null. */
export const emptyResult: ExecOutcome = { exitCode: 0, stdout: '', stderr: '' };

/** The output of `getnetworkinfo`, reduced to the fields that a controller may read. */
export function networkInfo(connections: number): object {
  return {
    version: 150000,
    subversion: '/Satoshi:0.15.0/',
    protocolversion: 70015,
    localrelay: true,
    timeoffset: 0,
    networkactive: true,
    connections,
    networks: [],
    relayfee: 0.00001,
    localaddresses: [],
    warnings: '',
  };
}

/** bitcoind's message for an address that is not in the list. */
export const notAddedMessage = 'Error: Node has not been added.';
export const addnodeHelp = 'addnode "node" "add|remove|onetry"';

function failed(exitCode: number, message: string): ExecOutcome {
  return { exitCode, stdout: '', stderr: `${message}\n` };
}

function addedNodeInfo({ added }: BitcoinNode, isReachable: (address: string) => boolean): readonly AddedNode[] {
  const connected = new Set(added.filter(isReachable).slice(0, mostConnections));
  return added.map((addednode) => ({
    addednode,
    connected: connected.has(addednode),
    addresses: connected.has(addednode) ? [{ address: `${addednode}:${regtestPort}`, connected: 'outbound' }] : [],
  }));
}
