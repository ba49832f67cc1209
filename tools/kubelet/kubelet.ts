// A kubelet and a scheduler for tests: a Node of a real control plane that runs every pod of its namespaces, writes the
// status of a kubelet, runs programs that exist for a pod, and serves `pods/exec`. There are no containers.

import type { Execute } from '@outrigger/apiserver/exec/execute';
import { createWorkloadCluster } from '@outrigger/apiserver/workloads/cluster';
import { type Pod, pods } from '@outrigger/apiserver/workloads/objects';
import { createSerialQueue } from '@outrigger/apiserver/workloads/serial-queue';
import { sleep, type Wait } from '../../src/core/time.ts';
import type { KubeClient } from '../../src/kube/client/client.ts';
import { isConflict, isNotFound } from '../../src/kube/client/errors.ts';
import type { ObjectKey } from '../../src/kube/client/object.ts';
import { objectPath } from '../../src/kube/client/path.ts';
import { listAndWatch } from '../../src/kube/watch/watch.ts';
import { podAddresses } from './addresses.ts';
import { serveExec } from './exec-server.ts';
import type { ProbeOutcome } from './http-probes.ts';
import { registerNode } from './node.ts';
import { type PodRun, runPod } from './pod-run.ts';
import type { Programs } from './program.ts';

/** Options of the kubelet. */
export type KubeletOptions = {
  /** The namespaces whose pods it runs; default: all. */
  readonly acceptsNamespace?: (namespace: string) => boolean;
  /** Runs commands, and exec probes, in pods without a program. */
  readonly execute?: Execute;
  /** The kubelet closes them. */
  readonly programs?: Programs;
  readonly nodeName?: string;
  readonly now?: () => Date;
  readonly wait?: Wait;
  readonly random?: () => number;
  /** Receives each error as one line. */
  readonly onError?: (line: string) => void;
  /** Receives the result of each HTTP probe, with the pod's name. */
  readonly onProbe?: (pod: string, outcome: ProbeOutcome) => void;
};

/** A running kubelet. Calls for pods of other nodes reject. */
export type Kubelet = {
  readonly nodeName: string;
  /** Sets whether a pod is ready, as its probe would; it stays so until a restart. */
  setReady(pod: ObjectKey, ready: boolean): Promise<void>;
  /** Restarts a pod's containers, with another address if `readdressed`; resolves when it is ready again. */
  restart(pod: ObjectKey, options?: { readonly readdressed?: boolean }): Promise<void>;
  /** Stops all programs and removes the Node. Its pods stay without a kubelet. */
  close(): Promise<void>;
};

/** Starts the kubelet. The caller keeps ownership of the client, which needs admin permissions. */
export async function startKubelet(
  client: KubeClient,
  {
    acceptsNamespace = () => true,
    execute,
    programs,
    nodeName = 'outrigger-node',
    now = () => new Date(),
    wait = sleep,
    random = Math.random,
    onError: report = () => undefined,
    onProbe = () => undefined,
  }: KubeletOptions = {},
): Promise<Kubelet> {
  const closing = new AbortController();
  const { signal } = closing;
  const cluster = createWorkloadCluster(client, signal);
  const deps = { cluster, addresses: podAddresses(), programs, execute, now, wait, signal, onError: report, onProbe };
  const runs = new Map<string, PodRun & { readonly images: ReadonlyMap<string, string> }>();

  const reconcile = async (podKey: string): Promise<void> => {
    const [namespace = '', name = ''] = podKey.split('/');
    const key = { namespace, name };
    const pod = await cluster.get(pods, key);
    const run = runs.get(podKey);
    if (run !== undefined && (run.uid !== pod?.metadata.uid || pod.metadata.deletionTimestamp !== undefined)) {
      runs.delete(podKey);
      await run.stop();
    }
    if (pod === undefined) return;
    if (pod.metadata.deletionTimestamp !== undefined) {
      if (pod.spec.nodeName === nodeName) await deletePod(client, pod, signal);
    } else if (pod.spec.nodeName === undefined) {
      await bind(client, key, nodeName, signal);
    } else if (pod.spec.nodeName === nodeName && !runs.has(podKey) && !hasEnded(pod)) {
      const images = new Map(pod.spec.containers.map(({ name: container, image = '' }) => [container, image]));
      runs.set(podKey, { ...runPod(deps, pod), images });
    }
  };
  const onError = (what: string, error: unknown): void => report(`${what}: ${String(error)}`);
  const queue = createSerialQueue(reconcile, { signal, wait, onError });

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
  const watchEnded = (async () => {
    for await (const event of listAndWatch(client, { resource: pods.resource }, { signal, wait, random })) {
      const changed = event.type === 'page' ? event.items : 'metadata' in event ? [event.metadata] : [];
      for (const { namespace = '', name } of changed)
        if (acceptsNamespace(namespace)) queue.add(`${namespace}/${name}`);
      // A list does not show deleted objects, so every running pod is reconciled.
      if (event.type === 'listed') for (const podKey of runs.keys()) queue.add(podKey);
      if (event.type === 'error') onError('watch of pods', event.error);
    }
  })();

  const requireRun = ({ namespace = '', name }: ObjectKey): PodRun => {
    const run = runs.get(`${namespace}/${name}`);
    if (run === undefined) throw new Error(`pod ${namespace}/${name} does not run on ${nodeName}`);
    return run;
  };
  return {
    nodeName,
    setReady: async (pod, ready) => requireRun(pod).setReady(ready),
    restart: async (pod, options) => requireRun(pod).restart(options),
    async close() {
      closing.abort();
      await Promise.all([watchEnded, queue.stop()]);
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

/** Binds a pod to the node, as a scheduler does. A conflict with another binding is ignored by the queue. */
async function bind(client: KubeClient, key: ObjectKey, nodeName: string, signal: AbortSignal): Promise<void> {
  const body = {
    apiVersion: 'v1',
    kind: 'Binding',
    metadata: { name: key.name },
    target: { apiVersion: 'v1', kind: 'Node', name: nodeName },
  };
  await client.request({ method: 'POST', path: objectPath(pods.resource, key, 'binding'), body, signal });
}

/** Deletes a pod whose containers have ended, as a kubelet does after the grace period. */
async function deletePod(client: KubeClient, { metadata }: Pod, signal: AbortSignal): Promise<void> {
  const body = { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 0, preconditions: { uid: metadata.uid } };
  try {
    await client.request({ method: 'DELETE', path: objectPath(pods.resource, metadata), body, signal });
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error;
  }
}
