// A kubelet for tests, and the scheduler in one: a Node of a real control plane that takes every pod of its namespaces, says what a
// kubelet says of them, runs what there is a program for, and answers `pods/exec`. There are no containers.
import type { KubeClient } from '../../src/kube/client/client.ts';
import { isConflict, isNotFound } from '../../src/kube/client/errors.ts';
import type { ObjectKey } from '../../src/kube/client/object.ts';
import { objectPath } from '../../src/kube/client/path.ts';
import { type Wait, waitReally } from '../../src/core/time.ts';
import { watchHeads } from '../../src/kube/watch.ts';
import type { Execute } from '../../src/local/api-server/exec/execute.ts';
import { createWorkloadCluster } from '../../src/simulators/workloads/cluster.ts';
import { type Pod, pods } from '../../src/simulators/workloads/objects.ts';
import { createTurns } from '../../src/simulators/workloads/serial-queue.ts';
import { podAddresses } from '../../test/kubelet/addresses.ts';
import { serveExec } from './exec-server.ts';
import type { ProbeOutcome } from './http-probes.ts';
import { registerNode } from './node.ts';
import { type PodRun, runPod } from './pod-run.ts';
import type { Programs } from '../../test/kubelet/program.ts';

/** What can be chosen. */
export interface KubeletOptions {
  /** Which namespaces' pods it takes; all of them where nothing is said. */
  readonly takes?: (namespace: string) => boolean;
  /** Answers commands, and probes that are commands, in pods that no program runs for. */
  readonly execute?: Execute;
  /** The kubelet's to close. */
  readonly programs?: Programs;
  readonly nodeName?: string;
  readonly now?: () => Date;
  readonly wait?: Wait;
  readonly random?: () => number;
  /** Told what went wrong, in a line. */
  readonly onTrouble?: (line: string) => void;
  /** Told what an HTTP probe of a pod, by its name, has shown. */
  readonly onProbe?: (pod: string, outcome: ProbeOutcome) => void;
}

/** A kubelet that runs. Pods are its own: others are an error. */
export interface Kubelet {
  readonly nodeName: string;
  /** Makes a pod ready or not, as its probe would; it stays so until it is restarted. */
  setReady(pod: ObjectKey, ready: boolean): Promise<void>;
  /** Restarts a pod's containers, at another address where `readdressed`; resolves when it is ready again. */
  restart(pod: ObjectKey, options?: { readonly readdressed?: boolean }): Promise<void>;
  /** Ends what runs and takes the Node away. Its pods stay, and nobody speaks for them. */
  close(): Promise<void>;
}

/** Starts it. The client is the caller's, with the rights of an admin, and stays open. */
export async function startKubelet(
  client: KubeClient,
  {
    takes = () => true,
    execute,
    programs,
    nodeName = 'outrigger-node',
    now = () => new Date(),
    wait = waitReally,
    random = Math.random,
    onTrouble = () => undefined,
    onProbe = () => undefined,
  }: KubeletOptions = {},
): Promise<Kubelet> {
  const ending = new AbortController();
  const { signal } = ending;
  const cluster = createWorkloadCluster(client, signal);
  const needs = { cluster, addresses: podAddresses(), programs, execute, now, wait, signal, onTrouble, onProbe };
  const runs = new Map<string, PodRun & { readonly images: ReadonlyMap<string, string> }>();

  const look = async (line: string): Promise<void> => {
    const [namespace = '', name = ''] = line.split('/');
    const key = { namespace, name };
    const pod = await cluster.get(pods, key);
    const run = runs.get(line);
    if (run !== undefined && (run.uid !== pod?.metadata.uid || pod.metadata.deletionTimestamp !== undefined)) {
      runs.delete(line);
      await run.stop();
    }
    if (pod === undefined) return;
    if (pod.metadata.deletionTimestamp !== undefined) {
      if (pod.spec.nodeName === nodeName) await finish(client, pod, signal);
    } else if (pod.spec.nodeName === undefined) {
      await bind(client, key, nodeName, signal);
    } else if (pod.spec.nodeName === nodeName && !runs.has(line) && !hasEnded(pod)) {
      const images = new Map(pod.spec.containers.map(({ name: container, image = '' }) => [container, image]));
      runs.set(line, { ...runPod(needs, pod), images });
    }
  };
  const onError = (what: string, error: unknown): void => onTrouble(`${what}: ${String(error)}`);
  const turns = createTurns(look, { signal, wait, onError });

  const server = await serveExec(
    (namespace, pod, container) => {
      const run = runs.get(`${namespace}/${pod}`);
      if (run === undefined) return undefined;
      const image = run.images.get(container);
      return image === undefined ? 'stopped' : { ip: run.ip(), image };
    },
    async (request) => {
      const run = runs.get(`${request.namespace}/${request.pod}`);
      if (run === undefined) throw new Error(`${request.pod} has ended`);
      return run.execute(request);
    },
  );
  const node = await registerNode(client, nodeName, server.port);
  const following = (async () => {
    for await (const event of watchHeads(client, { resource: pods.resource }, { signal, wait, random })) {
      const heads = event.type === 'page' ? event.items : 'head' in event ? [event.head] : [];
      for (const { namespace = '', name } of heads) if (takes(namespace)) turns.add(`${namespace}/${name}`);
      // A list does not show what was deleted while nobody watched.
      if (event.type === 'listed') for (const line of runs.keys()) turns.add(line);
      if (event.type === 'trouble') onError('watch of pods', event.error);
    }
  })();

  const runOf = ({ namespace = '', name }: ObjectKey): PodRun => {
    const run = runs.get(`${namespace}/${name}`);
    if (run === undefined) throw new Error(`no pod ${namespace}/${name} runs on ${nodeName}`);
    return run;
  };
  return {
    nodeName,
    setReady: async (pod, ready) => runOf(pod).setReady(ready),
    restart: async (pod, options) => runOf(pod).restart(options),
    async close() {
      ending.abort();
      await Promise.all([following, turns.stop()]);
      await Promise.all([...runs.values()].map((run) => run.stop()));
      await programs?.close();
      await server.close();
      await node.close();
    },
  };
}

function hasEnded({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

/** What a scheduler does. Somebody who was faster is fine. */
async function bind(client: KubeClient, key: ObjectKey, nodeName: string, signal: AbortSignal): Promise<void> {
  const body = {
    apiVersion: 'v1',
    kind: 'Binding',
    metadata: { name: key.name },
    target: { apiVersion: 'v1', kind: 'Node', name: nodeName },
  };
  await client.request({ method: 'POST', path: objectPath(pods.resource, key, 'binding'), body, signal });
}

/** What a kubelet does when the containers of a deleted pod have ended: now it may go. */
async function finish(client: KubeClient, { metadata }: Pod, signal: AbortSignal): Promise<void> {
  const body = {
    ...{ apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 0 },
    preconditions: { uid: metadata.uid },
  };
  try {
    await client.request({ method: 'DELETE', path: objectPath(pods.resource, metadata), body, signal });
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error;
  }
}
