// kube-controller-manager, scheduler and kubelet for workloads, on an API server that has none of them: Deployments,
// StatefulSets and Services become pods, addresses and EndpointSlices. Changed objects are reconciled, and nothing is
// written while nothing changes. No container runs.
import { follow, type Wait, type WorkloadsClient, wait as waitFor } from './client.ts';
import { createWorkloadCluster, type WorkloadCluster } from './cluster.ts';
import { reconcileDeployment } from './deployment.ts';
import { reconcileService, serviceNameLabel } from './endpoint-slices.ts';
import { reconcileJob } from './job.ts';
import {
  deployments,
  endpointSlices,
  jobs,
  persistentVolumeClaims,
  pods,
  replicaSets,
  services,
  statefulSets,
  type WorkloadKey,
  type WorkloadObject,
} from './objects.ts';
import { bindClaim, loopbackAddresses, restartPod, setPodReady, startPod } from './pod.ts';
import { reconcileReplicaSet } from './replica-set.ts';
import { createSerialQueue } from './serial-queue.ts';
import { reconcileStatefulSet } from './stateful-set.ts';

/** The running workloads. */
export type Workloads = {
  /** Sets whether a pod is ready, as its readiness probe would. */
  setReady(pod: WorkloadKey, ready: boolean): Promise<void>;
  /** Restarts a pod in place; it becomes ready again with another address. */
  restart(pod: WorkloadKey): Promise<void>;
  close(): Promise<void>;
};

/** Options of startWorkloads. */
export type WorkloadsOptions = {
  /** False: pods and claims stay Pending until another client writes their status, as without a kubelet. */
  readonly startsPods?: boolean;
  readonly now?: () => Date;
  readonly wait?: Wait;
  /** Receives each error as one line; the failed operation is retried. */
  readonly onError?: (line: string) => void;
};

const watchedKinds = [
  deployments,
  replicaSets,
  statefulSets,
  services,
  endpointSlices,
  jobs,
  pods,
  persistentVolumeClaims,
];

/** Starts the workloads of a server. The caller keeps ownership of the client. */
export async function startWorkloads(
  client: WorkloadsClient,
  {
    startsPods = true,
    now = () => new Date(),
    wait = waitFor,
    onError: report = () => undefined,
  }: WorkloadsOptions = {},
): Promise<Workloads> {
  const onError = (what: string, error: unknown) => report(`workloads: ${what}: ${String(error)}`);
  const closing = new AbortController();
  const { signal } = closing;
  const cluster = createWorkloadCluster(client, signal);
  const addresses = loopbackAddresses(await addressesInUse(cluster));

  const reconcilers: Readonly<Record<string, (key: WorkloadKey) => Promise<void>>> = {
    Deployment: (key) => reconcileDeployment(cluster, key, now),
    ReplicaSet: (key) => reconcileReplicaSet(cluster, key),
    StatefulSet: (key) => reconcileStatefulSet(cluster, key),
    Job: (key) => reconcileJob(cluster, key, now),
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
  const enqueue = (kind: string, { namespace = '', name }: WorkloadKey): void =>
    queue.add(`${kind}/${namespace}/${name}`);
  const knownObjects = new Map<string, { readonly kind: string; readonly key: WorkloadKey }>();
  const enqueueAffected = (kind: string, { metadata }: WorkloadObject): void => {
    const { namespace, name, labels, ownerReferences = [] } = metadata;
    enqueue(kind, metadata);
    if (kind !== pods.kind) knownObjects.set(`${kind}/${namespace}/${name}`, { kind, key: { namespace, name } });
    // The Services of a pod follow from their selectors, so all Services of its namespace are reconciled.
    if (kind === pods.kind) {
      for (const one of knownObjects.values()) {
        if (one.kind === services.kind && one.key.namespace === namespace) enqueue(one.kind, one.key);
      }
    }
    const service = labels?.[serviceNameLabel];
    if (kind === endpointSlices.kind && service !== undefined) enqueue(services.kind, { namespace, name: service });
    for (const owner of ownerReferences) {
      if (owner.controller && owner.kind in reconcilers) enqueue(owner.kind, { namespace, name: owner.name });
    }
  };
  const watches = watchedKinds.map(async ({ kind, resource }) => {
    const failed = (error: unknown) => onError(resource.plural, error);
    for await (const { type, objects } of follow(client, resource, { signal, wait, onError: failed })) {
      for (const object of objects) enqueueAffected(kind, object);
      // A list does not show deleted objects, so every known object is reconciled.
      if (type === 'listed') for (const one of knownObjects.values()) enqueue(one.kind, one.key);
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

async function addressesInUse(cluster: WorkloadCluster): Promise<ReadonlySet<string>> {
  return new Set((await cluster.list(pods)).map(({ status }) => status?.podIP ?? ''));
}
