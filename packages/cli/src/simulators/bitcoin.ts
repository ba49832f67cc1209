// Simulated Bitcoin nodes: one node in every pod, which is reached only by commands run in the pod. They handle
// `pods/exec` on the embedded API server. The state of one node is in bitcoin-cli.ts.
import path from 'node:path';
import type { ExecRequest, Execute } from '@outrigger/apiserver/exec/execute';
import { sleep } from 'outrigger/internal/core/time';
import type { ObjectKey } from 'outrigger/internal/kube/client/object';
import { type BitcoinNode, emptyNode, notRunning, runBitcoinCli, unauthorized, warmingUp } from './bitcoin-cli.ts';

/**
 * The faults of a node: it is still starting (exit status 28); it never responds; the connection is cut before, or
 * after, the command took effect; it rejects its own credentials (1); it is not running (1).
 */
export const bitcoinFaults = ['warming-up', 'hang', 'drop', 'drop-after', 'unauthorized', 'stopped'] as const;
export type BitcoinFault = (typeof bitcoinFaults)[number];

/** One command that a node received, without the program's name. */
export type BitcoinCall = { readonly namespace: string; readonly pod: string; readonly args: readonly string[] };

/** The nodes. A pod gets its node with its first command. A pod with a new IP address gets a new node. */
export type BitcoinNodes = {
  readonly execute: Execute;
  /** The addresses that were added to a pod's node. */
  added(pod: ObjectKey): readonly string[];
  /** Restarts a pod's node at the same address: its list is empty again. */
  restart(pod: ObjectKey): void;
  /** Sets the fault of a pod's node, or of every node without a fault of its own (`'*'`); undefined removes it. */
  fail(pod: ObjectKey | '*', fault: BitcoinFault | undefined): void;
  /** Every command so far, oldest first, including failed ones. */
  calls(): readonly BitcoinCall[];
};

const rememberedCalls = 10_000;
const program = 'bitcoin-cli';

/** Creates the nodes. */
export function createBitcoinNodes(): BitcoinNodes {
  const nodes = new Map<string, { readonly ip: string | undefined; node: BitcoinNode }>();
  const faults = new Map<string, BitcoinFault>();
  let calls: BitcoinCall[] = [];
  const nodeOf = ({ namespace, pod, ip }: ExecRequest) => {
    const key = keyString({ namespace, name: pod });
    const existing = nodes.get(key);
    if (existing !== undefined && (ip === undefined || existing.ip === ip)) return existing;
    const fresh = { ip, node: emptyNode };
    nodes.set(key, fresh);
    return fresh;
  };
  const isReachable = (address: string): boolean => [...nodes.values()].some(({ ip }) => ip === address);

  const execute: Execute = async (request) => {
    const { namespace, pod, command, image, signal } = request;
    const [name = '', ...args] = command;
    if (path.posix.basename(name) !== program || image?.includes('bitcoin') === false)
      return { exitCode: 127, stdout: '', stderr: `${name}: not found\n` };
    calls.push({ namespace, pod, args });
    if (calls.length > rememberedCalls * 1.5) calls = calls.slice(-rememberedCalls);
    const fault = faults.get(keyString({ namespace, name: pod })) ?? faults.get('*');
    if (fault === 'hang') await sleep(Number.POSITIVE_INFINITY, signal);
    if (fault === 'drop') throw new Error(`${pod}: the connection is cut by the fault "drop"`);
    if (fault === 'warming-up') return warmingUp();
    if (fault === 'unauthorized') return unauthorized();
    if (fault === 'stopped') return notRunning();
    const entry = nodeOf(request);
    const { node, result } = runBitcoinCli(entry.node, args, isReachable);
    entry.node = node;
    if (fault === 'drop-after') throw new Error(`${pod}: the connection is cut after ${args.join(' ')}`);
    return result;
  };
  return {
    execute,
    added: (pod) => nodes.get(keyString(pod))?.node.added ?? [],
    restart: (pod) => {
      const entry = nodes.get(keyString(pod));
      if (entry !== undefined) entry.node = emptyNode;
    },
    fail: (pod, fault) => {
      const key = pod === '*' ? pod : keyString(pod);
      if (fault === undefined) faults.delete(key);
      else faults.set(key, fault);
    },
    calls: () => calls.slice(-rememberedCalls),
  };
}

function keyString({ namespace = '', name }: ObjectKey): string {
  return `${namespace}/${name}`;
}
