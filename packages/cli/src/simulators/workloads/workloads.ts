// A simulator of kube-controller-manager, scheduler and kubelet for workloads, on an API server that has none of them.
// It watches metadata, reconciles changed objects, and writes nothing while nothing changes.

import { sleep, type Wait } from 'outrigger/internal/core/time';
import type { KubeClient } from 'outrigger/internal/kube/client/client';
import type { ObjectKey, ResourceName } from 'outrigger/internal/kube/client/object';
import { listPages } from 'outrigger/internal/kube/client/read';
import type { PartialObjectMetadata } from 'outrigger/internal/kube/watch/partial-metadata';
import { listAndWatch } from 'outrigger/internal/kube/watch/watch';
import { createWorkloadCluster } from './cluster.ts';
import { reconcileDeployment } from './deployment.ts';
import { reconcileService, serviceNameLabel } from './endpoint-slices.ts';
import {
  deployments,
  endpointSlices,
  persistentVolumeClaims,
  pods,
  replicaSets,
  services,
  statefulSets,
} from './objects.ts';
import { bindClaim, loopbackAddresses, restartPod, setPodReady, startPod } from './pod.ts';
import { reconcileReplicaSet } from './replica-set.ts';
import { createSerialQueue } from './serial-queue.ts';
import { reconcileStatefulSet } from './stateful-set.ts';

/** The running simulator. */
export type Workloads = {
  /** Sets whether a pod is ready, as its readiness probe would. */
  setReady(pod: ObjectKey, ready: boolean): Promise<void>;
  /** Restarts a pod in place; it becomes ready again with another address. */
  restart(pod: ObjectKey): Promise<void>;
  close(): Promise<void>;
};

/** Options of the simulator. */
export type WorkloadsOptions = {
  /** False: pods and claims stay Pending until another client writes their status, as without a kubelet. */
  readonly startsPods?: boolean;
  readonly now?: () => Date;
  readonly wait?: Wait;
  readonly random?: () => number;
  /** Receives each error as one line; the failed operation is retried. */
  readonly onError?: (line: string) => void;
};

const watchedKinds: readonly { readonly kind: string; readonly resource: ResourceName }[] = [
  deployments,
  replicaSets,
  statefulSets,
  services,
  endpointSlices,
  pods,
  persistentVolumeClaims,
];

/** Starts the simulator. The caller keeps ownership of the client. */
export async function startWorkloads(
  client: KubeClient,
  {
    startsPods = true,
    now = () => new Date(),
    wait = sleep,
    random = Math.random,
    onError: report = () => undefined,
  }: WorkloadsOptions = {},
): Promise<Workloads> {
  const onError = (what: string, error: unknown) => report(`workloads: ${what}: ${String(error)}`);
  const closing = new AbortController();
  const { signal } = closing;
  const cluster = createWorkloadCluster(client, signal);
  const addresses = loopbackAddresses(await addressesInUse(client, signal));

  const reconcilers: Readonly<Record<string, (key: ObjectKey) => Promise<void>>> = {
    Deployment: (key) => reconcileDeployment(cluster, key, now),
    ReplicaSet: (key) => reconcileReplicaSet(cluster, key),
    StatefulSet: (key) => reconcileStatefulSet(cluster, key),
    Service: (key) => reconcileService(cluster, key),
    PersistentVolumeClaim: (key) => (startsPods ? bindClaim(cluster, key) : Promise.resolve()),
    Pod: (key) => (startsPods ? startPod(cluster, key, { addresses, now }) : Promise.resolve()),
  };
  const queue = createSerialQueue(
    async (key) => {
      const [kind = '', namespace = '', name = ''] = key.split('/');
      await reconcilers[kind]?.({ namespace, name });
    },
    { signal, wait, onError },
  );
  const enqueue = (kind: string, { namespace = '', name }: ObjectKey): void =>
    queue.add(`${kind}/${namespace}/${name}`);
  const knownObjects = new Map<string, { readonly kind: string; readonly key: ObjectKey }>();
  const enqueueAffected = (kind: string, object: PartialObjectMetadata): void => {
    const { namespace = '', name, labels } = object;
    enqueue(kind, object);
    if (kind !== pods.kind) knownObjects.set(`${kind}/${namespace}/${name}`, { kind, key: { namespace, name } });
    // The Services of a pod follow from their selectors, so all Services of its namespace are reconciled.
    if (kind === pods.kind) {
      for (const one of knownObjects.values()) {
        if (one.kind === services.kind && one.key.namespace === namespace) enqueue(one.kind, one.key);
      }
    }
    const service = labels?.[serviceNameLabel];
    if (kind === endpointSlices.kind && service !== undefined) enqueue(services.kind, { namespace, name: service });
    for (const owner of object.owners) {
      if (owner.controller && owner.kind in reconcilers) enqueue(owner.kind, { ...object, name: owner.name });
    }
  };
  const watches = watchedKinds.map(async ({ kind, resource }) => {
    for await (const event of listAndWatch(
      client,
      { resource, metadata: { labels: [serviceNameLabel] } },
      { signal, wait, random },
    )) {
      if (event.type === 'page') for (const object of event.items) enqueueAffected(kind, object);
      // A list does not show deleted objects, so every known object is reconciled.
      else if (event.type === 'listed') for (const one of knownObjects.values()) enqueue(one.kind, one.key);
      else if (event.type === 'changed' || event.type === 'deleted') enqueueAffected(kind, event.metadata);
      else if (event.type === 'error') onError(resource.plural, event.error);
    }
  });

  return {
    setReady: (pod, ready) => setPodReady(cluster, pod, { ready, addresses, now }),
    restart: (pod) => restartPod(cluster, pod, { addresses, now }),
    async close() {
      closing.abort();
      await Promise.all([...watches, queue.stop()]);
    },
  };
}

async function addressesInUse(client: KubeClient, signal: AbortSignal): Promise<ReadonlySet<string>> {
  const inUse = new Set<string>();
  for await (const { items } of listPages(client, pods.resource, { signal })) {
    for (const item of items) inUse.add(pods.parse(item).status?.podIP ?? '');
  }
  return inUse;
}
