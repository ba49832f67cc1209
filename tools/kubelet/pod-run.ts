// One pod on the node of tests: started, probed until it is ready, made unready or restarted by a test, and stopped. What is so is
// written to the pod's status, as often as it takes.
import { isConflict, isNotFound } from '../../src/kube/client/errors.ts';
import type { ObjectKey } from '../../src/kube/client/object.ts';
import type { Wait } from '../../src/core/time.ts';
import type { Execute } from '../../src/local/api-server/exec/execute.ts';
import type { WorkloadCluster } from '../../src/simulators/workloads/cluster.ts';
import { type Pod, pods } from '../../src/simulators/workloads/objects.ts';
import { runningPod } from '../../src/simulators/workloads/pod.ts';
import type { PodAddresses } from '../../test/kubelet/addresses.ts';
import { followProbes, httpProbes, type ProbeOutcome } from './http-probes.ts';
import type { Programs, RunningProgram } from '../../test/kubelet/program.ts';
import { readinessProbe } from './readiness-probe.ts';

/** A pod on the node. */
export interface PodRun {
  readonly uid: string;
  ip(): string;
  /** Runs a command in the pod. */
  readonly execute: Execute;
  /** Says the pod ready or not. */
  setReady(ready: boolean): Promise<void>;
  /** Starts its containers anew, at another address where `readdressed`; resolves when it is ready again. */
  restart(options?: { readonly readdressed?: boolean }): Promise<void>;
  /** Ends what runs. The pod is left as it was said to be. */
  stop(): Promise<void>;
}

/** What a run needs. */
export interface PodRunNeeds {
  readonly cluster: WorkloadCluster;
  readonly addresses: PodAddresses;
  readonly programs: Programs | undefined;
  /** Answers commands in pods without a program. Absent: there is nothing to ask, and a probe is not asked. */
  readonly execute: Execute | undefined;
  readonly now: () => Date;
  readonly wait: Wait;
  readonly signal: AbortSignal;
  readonly onTrouble: (line: string) => void;
  readonly onProbe: (pod: string, outcome: ProbeOutcome) => void;
}

const PROBE_SECONDS = 0.2;
const RESTART_SECONDS = 1;

/** Begins to run a pod; nothing of it has happened yet when this returns. */
export function runPod(needs: PodRunNeeds, pod: Pod): PodRun {
  const { cluster, addresses, programs, now, wait, onTrouble, onProbe } = needs;
  const key: ObjectKey = { namespace: pod.metadata.namespace, name: pod.metadata.name };
  const ending = new AbortController();
  const signal = AbortSignal.any([needs.signal, ending.signal]);
  const runsProgram = programs?.has(pod) ?? false;
  const newAddress = (): string => (runsProgram ? addresses.loopback() : addresses.unreachable());
  const probe = readinessProbe(pod);
  const overHttp = runsProgram ? httpProbes(pod) : undefined;
  let ip = newAddress();
  let restarts = 0;
  let program: RunningProgram | undefined;

  const tell = (error: unknown): void => {
    if (!signal.aborted) onTrouble(`${key.name}: ${String(error)}`);
  };
  const execute: Execute = async (request) => {
    if (runsProgram) {
      if (program === undefined) throw new Error(`${key.name}: its program does not run`);
      return program.execute(request);
    }
    if (needs.execute !== undefined) return needs.execute(request);
    return { exitCode: 127, stdout: '', stderr: `${request.command[0]}: not found\n` };
  };
  const say = async (ready: boolean): Promise<void> => {
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
  /** The same, while the API server may be away: a program that ends then is started anew when it is back. */
  const sayWhenHeard = async (ready: boolean): Promise<void> => {
    for (;;) {
      try {
        await say(ready);
        return;
      } catch (error) {
        tell(error);
        await wait(RESTART_SECONDS, signal);
      }
    }
  };
  const isReady = async (): Promise<boolean> => {
    if (probe === undefined || (needs.execute === undefined && !runsProgram)) return true;
    const asked = { ...key, namespace: pod.metadata.namespace, pod: pod.metadata.name, ip, signal, ...probe };
    return execute(asked).then(
      ({ exitCode }) => exitCode === 0,
      () => false,
    );
  };
  const stopProgram = async (): Promise<void> => {
    const before = program;
    program = undefined;
    await before?.stop();
  };
  /** Asks a program's HTTP probes as long as it runs, and ends it where they say so. */
  const follow = async (running: RunningProgram, probes: NonNullable<typeof overHttp>): Promise<void> => {
    const life = new AbortController();
    void running.ended.finally(() => life.abort());
    const onOutcome = (outcome: ProbeOutcome): void => onProbe(key.name, outcome);
    const parts = { ip, wait, onOutcome, setReady: say };
    if ((await followProbes(probes, parts, AbortSignal.any([signal, life.signal]))) === 'ended') return;
    onTrouble(`${key.name}: its probes failed`);
    await running.stop();
  };
  const begin = async (): Promise<void> => {
    if (programs !== undefined && runsProgram) {
      const begun = await programs.start(pod, ip);
      program = begun;
      const again = begun.ended.then(async (how) => {
        if (program !== begun || signal.aborted) return;
        // As a kubelet does with a container that ends: again, at the same address.
        onTrouble(`${key.name}: its program ended (${how}) and is started anew`);
        await sayWhenHeard(false);
        await wait(RESTART_SECONDS, signal);
        await restart();
      });
      again.catch((error: unknown) => tell(error));
      if (overHttp !== undefined) {
        await say(false);
        follow(begun, overHttp).catch(tell);
        return;
      }
    }
    const atOnce = await isReady();
    await say(atOnce);
    if (atOnce) return;
    do await wait(PROBE_SECONDS, signal);
    while (!(await isReady()));
    await say(true);
  };
  const restart: PodRun['restart'] = async ({ readdressed = false } = {}) => {
    await stopProgram();
    restarts += 1;
    if (readdressed) ip = newAddress();
    await say(false);
    await begin();
  };
  const started = begin().catch(tell);
  return {
    uid: pod.metadata.uid,
    ip: () => ip,
    execute,
    setReady: say,
    restart,
    async stop() {
      ending.abort();
      await stopProgram();
      await started;
      // It may have been started while we ended.
      await stopProgram();
    },
  };
}
