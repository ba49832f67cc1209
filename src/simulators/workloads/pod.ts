// What a kubelet says of a pod, without containers: it runs, it is ready, it has an address of its own. The addresses are
// loopback's, all of which answer on Linux, so that a process of this machine can be what a pod pretends to run.
import type { ObjectKey } from '../../kube/client/object.ts';
import type { WorkloadCluster } from './cluster.ts';
import { isReady, type Pod, pods } from './objects.ts';

/** Gives out addresses; none twice. */
export type Addresses = () => string;

const LAST_OF_BLOCK = 254;

/** Gives out 127.1.0.1, 127.1.0.2 and so on, and leaves out those that are in use. */
export function loopbackAddresses(inUse: ReadonlySet<string>): Addresses {
  let given = -1;
  return () => {
    for (;;) {
      given += 1;
      const address = `127.1.${Math.floor(given / LAST_OF_BLOCK)}.${(given % LAST_OF_BLOCK) + 1}`;
      if (!inUse.has(address)) return address;
    }
  };
}

/** Starts a pod that waits. What became of it afterwards is left as it is. */
export async function startPod(
  cluster: WorkloadCluster,
  key: ObjectKey,
  { addresses, now }: { readonly addresses: Addresses; readonly now: () => Date },
): Promise<void> {
  const pod = await cluster.get(pods, key);
  if (pod === undefined || pod.metadata.deletionTimestamp !== undefined || pod.status?.podIP !== undefined) return;
  if (pod.status?.phase !== undefined && pod.status.phase !== 'Pending') return;
  await cluster.replaceStatus(pods, pod, runningPod(pod, { ip: addresses(), ready: true, restarts: 0, now: now() }));
}

/** Makes a running pod ready, or not. Throws when there is no such pod. */
export async function setPodReady(
  cluster: WorkloadCluster,
  key: ObjectKey,
  { ready, addresses, now }: { readonly ready: boolean; readonly addresses: Addresses; readonly now: () => Date },
): Promise<void> {
  const pod = await existing(cluster, key);
  if (pod.status?.podIP !== undefined && isReady(pod) === ready) return;
  const ip = pod.status?.podIP ?? addresses();
  await cluster.replaceStatus(pods, pod, runningPod(pod, { ip, ready, restarts: restartsOf(pod), now: now() }));
}

/** Restarts a pod as after its node's reboot: the same pod, another address. Throws when there is no such pod. */
export async function restartPod(
  cluster: WorkloadCluster,
  key: ObjectKey,
  { addresses, now }: { readonly addresses: Addresses; readonly now: () => Date },
): Promise<void> {
  const pod = await existing(cluster, key);
  const restarts = restartsOf(pod) + 1;
  await cluster.replaceStatus(pods, pod, runningPod(pod, { ip: addresses(), ready: true, restarts, now: now() }));
}

async function existing(cluster: WorkloadCluster, key: ObjectKey): Promise<Pod> {
  const pod = await cluster.get(pods, key);
  if (pod === undefined) throw new Error(`there is no pod ${key.namespace ?? ''}/${key.name}`);
  return pod;
}

function restartsOf({ status }: Pod): number {
  return status?.containerStatuses?.[0]?.restartCount ?? 0;
}

/** Returns a pod that runs, as its kubelet says it; conditions that hold as before keep their time. */
export function runningPod(
  pod: Pod,
  { ip, ready, restarts, now }: { ip: string; ready: boolean; restarts: number; now: Date },
): object {
  const time = now.toISOString().replace(/\.\d+/, '');
  const before = pod.status?.conditions ?? [];
  const condition = (type: string, holds: boolean): object => {
    const status = holds ? 'True' : 'False';
    const was = before.find((one) => one.type === type && one.status === status);
    if (was !== undefined) return was;
    const why = holds ? {} : { reason: 'ContainersNotReady', message: 'made unready' };
    return { type, status, lastTransitionTime: time, ...why };
  };
  const status = {
    startTime: time,
    ...pod.status,
    phase: 'Running',
    hostIP: '127.0.0.1',
    podIP: ip,
    podIPs: [{ ip }],
    conditions: [
      condition('PodScheduled', true),
      condition('Initialized', true),
      condition('ContainersReady', ready),
      condition('Ready', ready),
    ],
    containerStatuses: pod.spec.containers.map(({ name, image = '' }) => ({
      name,
      image,
      imageID: '',
      ready,
      started: true,
      restartCount: restarts,
      state: { running: { startedAt: time } },
    })),
  };
  return { ...pod, status };
}
