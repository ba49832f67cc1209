// The Bitcoin networks' outside world: a node in every pod, reached by commands in the pod and by nothing else. It is what answers
// `pods/exec` on the embedded API server; each node's state is bitcoin-cli.ts.
import path from 'node:path';
import type { ObjectKey } from '../kube/client/object.ts';
import type { ExecRequest, Execute, Executed } from '../local/api-server/exec/execute.ts';
import { type BitcoinNode, freshNode, notRunning, runBitcoinCli, unauthorized, warmingUp } from '../local/worlds/bitcoin-cli.ts';

/**
 * How a node can fail: it is still starting (28); it answers nothing; the connection is cut before, or after, the command took
 * effect; it refuses its own credentials (1); it does not run (1).
 */
export const bitcoinFaults = ['warming-up', 'hang', 'drop', 'drop-after', 'unauthorized', 'stopped'] as const;
export type BitcoinFault = (typeof bitcoinFaults)[number];

/** One command that a node was given, without the program's name. */
export type BitcoinCall = { readonly namespace: string; readonly pod: string; readonly args: readonly string[] };

/** The nodes. A pod has one from the first command on; another address means another node. */
export type BitcoinNodes = {
  readonly execute: Execute;
  /** The addresses that a pod's node was told to connect to. */
  added(pod: ObjectKey): readonly string[];
  /** The node starts anew at the same address: its list is empty. */
  restart(pod: ObjectKey): void;
  /** Breaks a pod's node, or every node (`'*'`) that is not broken otherwise; undefined heals. */
  fail(pod: ObjectKey | '*', how: BitcoinFault | undefined): void;
  /** Every command so far, oldest first, those that failed included. */
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
    const line = lineOf({ namespace, name: pod });
    const known = nodes.get(line);
    if (known !== undefined && (ip === undefined || known.ip === ip)) return known;
    const fresh = { ip, node: freshNode };
    nodes.set(line, fresh);
    return fresh;
  };
  const reaches = (address: string): boolean => [...nodes.values()].some(({ ip }) => ip === address);

  const execute: Execute = async (request) => {
    const { namespace, pod, command, image, signal } = request;
    const [name = '', ...args] = command;
    if (path.posix.basename(name) !== program || image?.includes('bitcoin') === false) return noProgram(name);
    calls.push({ namespace, pod, args });
    if (calls.length > rememberedCalls * 1.5) calls = calls.slice(-rememberedCalls);
    const fault = faults.get(lineOf({ namespace, name: pod })) ?? faults.get('*');
    if (fault === 'hang') await untilAborted(signal);
    if (fault === 'drop') throw new Error(`${pod}: the connection is cut, as it was told to be`);
    if (fault === 'warming-up') return warmingUp();
    if (fault === 'unauthorized') return unauthorized();
    if (fault === 'stopped') return notRunning();
    const held = nodeOf(request);
    const { node, executed } = runBitcoinCli(held.node, args, reaches);
    held.node = node;
    if (fault === 'drop-after') throw new Error(`${pod}: the connection is cut after ${args.join(' ')}`);
    return executed;
  };
  return {
    execute,
    added: (pod) => nodes.get(lineOf(pod))?.node.added ?? [],
    restart: (pod) => {
      const held = nodes.get(lineOf(pod));
      if (held !== undefined) held.node = freshNode;
    },
    fail: (pod, how) => {
      const line = pod === '*' ? pod : lineOf(pod);
      if (how === undefined) faults.delete(line);
      else faults.set(line, how);
    },
    calls: () => calls.slice(-rememberedCalls),
  };
}

function lineOf({ namespace = '', name }: ObjectKey): string {
  return `${namespace}/${name}`;
}

/** What a shell's user knows as "not found". */
function noProgram(name: string): Executed {
  return { exitCode: 127, stdout: '', stderr: `${name}: not found\n` };
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const end = (): void => reject(new Error('nobody waits any more'));
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  });
}
