// What a pod of tests can run: a program of this machine, at the pod's own address. kubelet.ts starts and stops it; bitcoin-node.ts is one.
import type { Execute } from '../../src/local/api-server/exec/execute.ts';
import type { Pod } from '../../src/simulators/workloads/objects.ts';

/** A program that runs for one container. */
export interface RunningProgram {
  /** Answers `pods/exec`. */
  readonly execute: Execute;
  /** Resolves, with how, when it has ended by itself or was stopped. */
  readonly ended: Promise<string>;
  /** Kills it; resolves when it is gone. */
  stop(): Promise<void>;
}

/** Programs for pods. */
export interface Programs {
  /** Tells whether there is one for a pod; a pod without is only said to run. */
  has(pod: Pod): boolean;
  /** Starts it at an address of loopback; it need not be ready yet. */
  start(pod: Pod, ip: string): Promise<RunningProgram>;
  /** Kills whatever still runs. */
  close(): Promise<void>;
}
