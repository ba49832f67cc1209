// bitcoind's list of nodes to connect to ("added nodes"), and the bitcoin-cli commands that change it.
// The list is the controller's: whatever else is on it, left over or added by hand, is taken off.
//
// Nothing that a command prints is ever shown: the owner of the node controls it and could put in anything, credentials
// included.
import * as z from 'zod';
import { type ExecResult, parseJson } from '../../outrigger.ts';

/** Runs a command of bitcoin-cli on one node, given its arguments. */
export type BitcoinCli = (...args: readonly string[]) => Promise<ExecResult>;

/** Why a list could not be set. */
export class RpcError extends Error {
  override readonly name = 'RpcError';
  readonly reason: 'RPCFailed' | 'AuthFailed';

  constructor(message: string, reason: 'RPCFailed' | 'AuthFailed' = 'RPCFailed') {
    super(message);
    this.reason = reason;
  }
}

/** What must be done to a node's list. Every address once. */
export type AddedNodeChanges = { readonly add: readonly string[]; readonly remove: readonly string[] };

/**
 * Decides what is missing from a node's list and what is not to be there: it should have all peers but itself. Pure.
 */
export function changesTo(listed: readonly string[], own: string, peers: readonly string[]): AddedNodeChanges {
  const wanted = new Set(peers.filter((ip) => ip !== own));
  const there = new Set(listed);
  return { add: [...wanted].filter((ip) => !there.has(ip)), remove: [...there].filter((one) => !wanted.has(one)) };
}

/** bitcoin-cli ends with the code of bitcoind's error, without its sign (bitcoin/src/rpc/protocol.h). */
const exitCodes = { alreadyAdded: 23, notAdded: 24, warmingUp: 28 } as const;

/**
 * Makes a node's list so: one read, and a command for each change. What another run has done meanwhile is as good as
 * done. Throws RpcError, or what the connection failed with.
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
  // bitcoind answers wrong credentials with an empty 401, so there is no code: bitcoin-cli says it in words.
  if (/authorization failed/i.test(stderr)) throw new RpcError(`${command}: credentials refused`, 'AuthFailed');
  const why = exitCode === exitCodes.warmingUp ? ' (still starting)' : '';
  throw new RpcError(`${command}: exit status ${exitCode}${why}`);
}
