// One pod on the test node: started, probed until it is ready, set not ready or restarted by a test, and stopped. Every
// change is written to the pod's status, with retries.

import type { Execute } from '@outrigger/apiserver/exec/execute';
import type { WorkloadCluster } from '@outrigger/apiserver/workloads/cluster';
import { type Pod, pods } from '@outrigger/apiserver/workloads/objects';
import { runningPod } from '@outrigger/apiserver/workloads/pod';
import type { Wait } from '../../src/core/time.ts';
import { isConflict, isNotFound } from '../../src/kube/client/errors.ts';
import type { ObjectKey } from '../../src/kube/client/object.ts';
import type { PodAddresses } from './addresses.ts';
import { httpProbes, type ProbeOutcome, runProbes } from './http-probes.ts';
import type { Programs, RunningProgram } from './program.ts';
import { readinessProbe } from './readiness-probe.ts';

/** A pod on the node. */
export type PodRun = {
  readonly uid: string;
  ip(): string;
  /** Runs a command in the pod. */
  readonly execute: Execute;
  /** Sets whether the pod is ready. */
  setReady(ready: boolean): Promise<void>;
  /** Restarts its containers, with another address if `readdressed`; resolves when it is ready again. */
  restart(options?: { readonly readdressed?: boolean }): Promise<void>;
  /** Stops its program. The pod's status is left as it is. */
  stop(): Promise<void>;
};

/** The dependencies of a run. */
export type PodRunDeps = {
  readonly cluster: WorkloadCluster;
  readonly addresses: PodAddresses;
  readonly programs: Programs | undefined;
  /** Runs commands in pods without a program. If absent, exec probes are skipped. */
  readonly execute: Execute | undefined;
  readonly now: () => Date;
  readonly wait: Wait;
  readonly signal: AbortSignal;
  readonly onError: (line: string) => void;
  readonly onProbe: (pod: string, outcome: ProbeOutcome) => void;
};

const probeSeconds = 0.2;
const restartSeconds = 1;

/** Starts to run a pod; no request has been sent yet when it returns. */
export function runPod(deps: PodRunDeps, pod: Pod): PodRun {
  const { cluster, addresses, programs, now, wait, onError, onProbe } = deps;
  const key: ObjectKey = { namespace: pod.metadata.namespace, name: pod.metadata.name };
  const stopping = new AbortController();
  const signal = AbortSignal.any([deps.signal, stopping.signal]);
  const runsProgram = programs?.has(pod) ?? false;
  const newAddress = (): string => (runsProgram ? addresses.loopback() : addresses.unreachable());
  const probe = readinessProbe(pod);
  const overHttp = runsProgram ? httpProbes(pod) : undefined;
  let ip = newAddress();
  let restarts = 0;
  let program: RunningProgram | undefined;

  const report = (error: unknown): void => {
    if (!signal.aborted) onError(`${key.name}: ${String(error)}`);
  };
  const execute: Execute = async (request) => {
    if (runsProgram) {
      if (program === undefined) throw new Error(`${key.name}: its program does not run`);
      return program.execute(request);
    }
    if (deps.execute !== undefined) return deps.execute(request);
    return { exitCode: 127, stdout: '', stderr: `${request.command[0]}: not found\n` };
  };
  const writeStatus = async (ready: boolean): Promise<void> => {
    while (!signal.aborted) {
      const live = await cluster.get(pods, key);
      if (live === undefined || live.metadata.uid !== pod.metadata.uid) return;
      try {
        await cluster.replaceStatus(pods, live, runningPod(live, { ip, ready, restarts, now: now() }));
        return;
      } catch (error) {
        if (isNotFound(error)) return;
        if (!isConflict(error)) throw error;
      }
    }
  };
  /**
   * Writes the status, and retries while the API server is unavailable: a program that ends meanwhile is restarted
   * afterwards.
   */
  const writeStatusWithRetry = async (ready: boolean): Promise<void> => {
    for (;;) {
      try {
        await writeStatus(ready);
        return;
      } catch (error) {
        report(error);
        await wait(restartSeconds, signal);
      }
    }
  };
  const isReady = async (): Promise<boolean> => {
    if (probe === undefined || (deps.execute === undefined && !runsProgram)) return true;
    const request = { ...key, namespace: pod.metadata.namespace, pod: pod.metadata.name, ip, signal, ...probe };
    return execute(request).then(
      ({ exitCode }) => exitCode === 0,
      () => false,
    );
  };
  const stopProgram = async (): Promise<void> => {
    const previous = program;
    program = undefined;
    await previous?.stop();
  };
  /** Runs a program's HTTP probes as long as it runs, and stops it when they fail. */
  const runHttpProbes = async (running: RunningProgram, probes: NonNullable<typeof overHttp>): Promise<void> => {
    const ended = new AbortController();
    void running.ended.finally(() => ended.abort());
    const onOutcome = (outcome: ProbeOutcome): void => onProbe(key.name, outcome);
    const probeDeps = { ip, wait, onOutcome, setReady: writeStatus };
    if ((await runProbes(probes, probeDeps, AbortSignal.any([signal, ended.signal]))) === 'ended') return;
    onError(`${key.name}: its probes failed`);
    await running.stop();
  };
  const start = async (): Promise<void> => {
    if (programs !== undefined && runsProgram) {
      const startedProgram = await programs.start(pod, ip);
      program = startedProgram;
      const restarted = startedProgram.ended.then(async (reason) => {
        if (program !== startedProgram || signal.aborted) return;
        // As a kubelet does with a container that has ended: it is restarted at the same address.
        onError(`${key.name}: its program ended (${reason}) and is restarted`);
        await writeStatusWithRetry(false);
        await wait(restartSeconds, signal);
        await restart();
      });
      restarted.catch((error: unknown) => report(error));
      if (overHttp !== undefined) {
        await writeStatus(false);
        runHttpProbes(startedProgram, overHttp).catch(report);
        return;
      }
    }
    const isReadyAtOnce = await isReady();
    await writeStatus(isReadyAtOnce);
    if (isReadyAtOnce) return;
    do await wait(probeSeconds, signal);
    while (!(await isReady()));
    await writeStatus(true);
  };
  const restart: PodRun['restart'] = async ({ readdressed = false } = {}) => {
    await stopProgram();
    restarts += 1;
    if (readdressed) ip = newAddress();
    await writeStatus(false);
    await start();
  };
  const started = start().catch(report);
  return {
    uid: pod.metadata.uid,
    ip: () => ip,
    execute,
    setReady: writeStatus,
    restart,
    async stop() {
      stopping.abort();
      await stopProgram();
      await started;
      // It may have been started meanwhile.
      await stopProgram();
    },
  };
}
