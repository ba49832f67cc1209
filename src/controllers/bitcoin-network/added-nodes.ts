// bitcoind's list of nodes to connect to ("added nodes"), and the bitcoin-cli commands that change it. The controller
// owns the list: every other address is removed, also one that was added by hand.
//
// The output of a command is never shown: the owner of the node controls it, and it may contain anything, also
// credentials.
import * as z from 'zod';
import { type ExecResult, parseJson } from '../../outrigger.ts';

/** Runs a command of bitcoin-cli on one node, given its arguments. */
export type BitcoinCli = (...args: readonly string[]) => Promise<ExecResult>;

/** The error of a list that could not be set. */
export class RpcError extends Error {
  override readonly name = 'RpcError';
  readonly reason: 'RPCFailed' | 'AuthFailed';

  constructor(message: string, reason: 'RPCFailed' | 'AuthFailed' = 'RPCFailed') {
    super(message);
    this.reason = reason;
  }
}

/** The changes of a node's list. Every address occurs once. */
type AddedNodeChanges = { readonly add: readonly string[]; readonly remove: readonly string[] };

/**
 * Returns the addresses to add to a node's list and to remove from it: it should have all peers except for the node
 * itself. Pure.
 */
function changesTo(listed: readonly string[], own: string, peers: readonly string[]): AddedNodeChanges {
  const wanted = new Set(peers.filter((ip) => ip !== own));
  const there = new Set(listed);
  return { add: [...wanted].filter((ip) => !there.has(ip)), remove: [...there].filter((one) => !wanted.has(one)) };
}

/** bitcoin-cli ends with the code of bitcoind's error, without its sign (bitcoin/src/rpc/protocol.h). */
const exitCodes = { alreadyAdded: 23, notAdded: 24, warmingUp: 28 } as const;

/**
 * Sets a node's list: one read, and a command for each change. A change that another run made meanwhile counts as done.
 * Throws RpcError, or the error of the connection.
 */
export async function setAddedNodes(cli: BitcoinCli, own: string, peers: readonly string[]): Promise<void> {
  const { add, remove } = changesTo(await readList(cli), own, peers);
  for (const one of remove) expectDone('addnode', await cli('addnode', one, 'remove'), exitCodes.notAdded);
  for (const one of add) expectDone('addnode', await cli('addnode', one, 'add'), exitCodes.alreadyAdded);
}

const addedNodes = z.array(z.object({ addednode: z.string() }));

async function readList(cli: BitcoinCli): Promise<readonly string[]> {
  const command = 'getaddednodeinfo';
  const executed = await cli(command);
  expectDone(command, executed);
  const { data } = addedNodes.safeParse(parseJson(executed.stdout));
  if (data === undefined) throw new RpcError(`${command}: the answer cannot be read`);
  return data.map(({ addednode }) => addednode);
}

function expectDone(command: string, { exitCode, stderr }: ExecResult, asGood = 0): void {
  if (exitCode === 0 || exitCode === asGood) return;
  // For wrong credentials bitcoind responds with an empty 401, so there is no error code, only the text of bitcoin-cli.
  if (/authorization failed/i.test(stderr)) throw new RpcError(`${command}: credentials refused`, 'AuthFailed');
  const why = exitCode === exitCodes.warmingUp ? ' (still starting)' : '';
  throw new RpcError(`${command}: exit status ${exitCode}${why}`);
}
