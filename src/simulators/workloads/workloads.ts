// A small stand-in for what makes workloads real in a cluster, kube-controller-manager, scheduler and kubelet in one, over an API
// server that has none: it follows metadata by watch, takes up what changed, and is silent in a steady world.
import type { KubeClient } from '../../kube/client/client.ts';
import type { ObjectHead } from '../../kube/watch/partial-metadata.ts';
import type { ObjectKey, ResourceName } from '../../kube/client/object.ts';
import { listPages } from '../../kube/client/read.ts';
import { type Wait, waitReally } from '../../core/time.ts';
import { watchHeads } from '../../kube/watch.ts';
import { createWorkloadCluster } from './cluster.ts';
import { reconcileDeployment } from './deployment.ts';
import { reconcileService, serviceNameLabel } from './endpoint-slices.ts';
import { deployments, endpointSlices, pods, replicaSets, services, statefulSets } from './objects.ts';
import { loopbackAddresses, restartPod, setPodReady, startPod } from './pod.ts';
import { reconcileReplicaSet } from './replica-set.ts';
import { reconcileStatefulSet } from './stateful-set.ts';
import { createTurns } from './serial-queue.ts';

/** The stand-in, running. */
export type Workloads = {
  /** Makes a pod ready or not, as its probe would. */
  setReady(pod: ObjectKey, ready: boolean): Promise<void>;
  /** Restarts a pod in place; it comes back ready, with another address. */
  restart(pod: ObjectKey): Promise<void>;
  close(): Promise<void>;
};

/** What can be chosen. */
export type WorkloadsOptions = {
  /** False: pods stay Pending until somebody else writes their status, as where no kubelet runs. */
  readonly startsPods?: boolean;
  readonly now?: () => Date;
  readonly wait?: Wait;
  readonly random?: () => number;
  /** Told what went wrong, in a line, and is tried again. */
  readonly onTrouble?: (line: string) => void;
};

const followed: readonly { readonly kind: string; readonly resource: ResourceName }[] = [
  deployments,
  replicaSets,
  statefulSets,
  services,
  endpointSlices,
  pods,
];

/** Starts it. The client is the caller's, and stays open. */
export async function startWorkloads(
  client: KubeClient,
  {
    startsPods = true,
    now = () => new Date(),
    wait = waitReally,
    random = Math.random,
    onTrouble = () => undefined,
  }: WorkloadsOptions = {},
): Promise<Workloads> {
  const onError = (what: string, error: unknown) => onTrouble(`workloads: ${what}: ${String(error)}`);
  const ending = new AbortController();
  const { signal } = ending;
  const cluster = createWorkloadCluster(client, signal);
  const addresses = loopbackAddresses(await addressesInUse(client, signal));

  const looks: Readonly<Record<string, (key: ObjectKey) => Promise<void>>> = {
    Deployment: (key) => reconcileDeployment(cluster, key, now),
    ReplicaSet: (key) => reconcileReplicaSet(cluster, key),
    StatefulSet: (key) => reconcileStatefulSet(cluster, key),
    Service: (key) => reconcileService(cluster, key),
    Pod: (key) => (startsPods ? startPod(cluster, key, { addresses, now }) : Promise.resolve()),
  };
  const turns = createTurns(
    async (line) => {
      const [kind = '', namespace = '', name = ''] = line.split('/');
      await looks[kind]?.({ namespace, name });
    },
    { signal, wait, onError },
  );
  const take = (kind: string, { namespace = '', name }: ObjectKey): void => turns.add(`${kind}/${namespace}/${name}`);
  const known = new Map<string, { readonly kind: string; readonly key: ObjectKey }>();
  const heard = (kind: string, head: ObjectHead): void => {
    const { namespace = '', name, labels } = head;
    take(kind, head);
    if (kind !== pods.kind) known.set(`${kind}/${namespace}/${name}`, { kind, key: { namespace, name } });
    // Which Services pick a pod is in their selectors, so all of its namespace look.
    if (kind === pods.kind) {
      for (const one of known.values()) {
        if (one.kind === services.kind && one.key.namespace === namespace) take(one.kind, one.key);
      }
    }
    const service = labels?.[serviceNameLabel];
    if (kind === endpointSlices.kind && service !== undefined) take(services.kind, { namespace, name: service });
    for (const owner of head.owners) {
      if (owner.controller && owner.kind in looks) take(owner.kind, { ...head, name: owner.name });
    }
  };
  const following = followed.map(async ({ kind, resource }) => {
    for await (const event of watchHeads(
      client,
      { resource, wanted: { labels: [serviceNameLabel] } },
      { signal, wait, random },
    )) {
      if (event.type === 'page') for (const head of event.items) heard(kind, head);
      // A list cannot show what was deleted, so whoever could miss something looks.
      else if (event.type === 'listed') for (const one of known.values()) take(one.kind, one.key);
      else if (event.type === 'changed' || event.type === 'deleted') heard(kind, event.head);
      else if (event.type === 'trouble') onError(resource.plural, event.error);
    }
  });

  return {
    setReady: (pod, ready) => setPodReady(cluster, pod, { ready, addresses, now }),
    restart: (pod) => restartPod(cluster, pod, { addresses, now }),
    async close() {
      ending.abort();
      await Promise.all([...following, turns.stop()]);
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
