// A program on this machine that stands for a pod's container, at the pod's own address. kubelet.ts starts and stops
// it; bitcoin-programs.ts provides one.
import type { Execute } from '@outrigger/apiserver/exec/execute';
import type { Pod } from '@outrigger/apiserver/workloads/objects';

/** A program that runs for one container. */
export type RunningProgram = {
  /** Handles `pods/exec`. */
  readonly execute: Execute;
  /** Resolves with the reason when it has ended by itself or was stopped. */
  readonly ended: Promise<string>;
  /** Kills it; resolves when it has ended. */
  stop(): Promise<void>;
};

/** Programs for pods. */
export interface Programs {
  /** Returns whether there is a program for a pod. A pod without one only gets the status of a running pod. */
  has(pod: Pod): boolean;
  /** Starts it at a loopback address; it need not be ready yet. */
  start(pod: Pod, ip: string): Promise<RunningProgram>;
  /** Kills all running programs. */
  close(): Promise<void>;
}
