// The kubelet's part of a pod's status, without containers: running, ready, and an address of its own. All addresses of
// the loopback network respond on Linux, so a process on this machine can stand for the program in a pod.
import type { WorkloadCluster } from './cluster.ts';
import { isReady, jobs, type Owner, type Pod, persistentVolumeClaims, pods, type WorkloadKey } from './objects.ts';

/** Returns a new address on each call. */
export type Addresses = () => string;

const lastOfBlock = 254;

/** Returns 127.1.0.1, 127.1.0.2 and so on, without the addresses in use. */
export function loopbackAddresses(inUse: ReadonlySet<string>): Addresses {
  let given = -1;
  return () => {
    for (;;) {
      given += 1;
      const address = `127.1.${Math.floor(given / lastOfBlock)}.${(given % lastOfBlock) + 1}`;
      if (!inUse.has(address)) return address;
    }
  };
}

/** Starts a pending pod. A pod that already runs is left unchanged. */
export async function startPod(
  cluster: WorkloadCluster,
  key: WorkloadKey,
  { addresses, now }: { readonly addresses: Addresses; readonly now: () => Date },
): Promise<void> {
  const pod = await cluster.get(pods, key);
  if (pod === undefined || pod.metadata.deletionTimestamp !== undefined || pod.status?.podIP !== undefined) return;
  if (pod.status?.phase !== undefined && pod.status.phase !== 'Pending') return;
  // Nothing runs, so the program of a Job has ended.
  const isJob = (owner: Owner) => owner.kind === jobs.kind && owner.apiVersion === jobs.apiVersion;
  if (pod.metadata.ownerReferences?.some(isJob) === true) {
    await cluster.replaceStatus(pods, pod, { ...pod, status: { ...pod.status, phase: 'Succeeded' } });
    return;
  }
  await cluster.replaceStatus(pods, pod, runningPod(pod, { ip: addresses(), ready: true, restarts: 0, now: now() }));
}

/** Binds a claim, and grows its volume, as a provisioner whose StorageClass allows that does. There is no volume. */
export async function bindClaim(cluster: WorkloadCluster, key: WorkloadKey): Promise<void> {
  const claim = await cluster.get(persistentVolumeClaims, key);
  if (claim === undefined || claim.metadata.deletionTimestamp !== undefined) return;
  const { accessModes = [], resources } = claim.spec;
  const status = { ...claim.status, phase: 'Bound', accessModes, capacity: resources.requests ?? {} };
  await cluster.replaceStatus(persistentVolumeClaims, claim, { ...claim, status });
}

/** Sets whether a running pod is ready. Throws when the pod does not exist. */
export async function setPodReady(
  cluster: WorkloadCluster,
  key: WorkloadKey,
  { ready, addresses, now }: { readonly ready: boolean; readonly addresses: Addresses; readonly now: () => Date },
): Promise<void> {
  const pod = await requirePod(cluster, key);
  if (pod.status?.podIP !== undefined && isReady(pod) === ready) return;
  const ip = pod.status?.podIP ?? addresses();
  await cluster.replaceStatus(pods, pod, runningPod(pod, { ip, ready, restarts: restartsOf(pod), now: now() }));
}

/**
 * Restarts a pod as a reboot of its node does: the same pod with another address. Throws when the pod does not exist.
 */
export async function restartPod(
  cluster: WorkloadCluster,
  key: WorkloadKey,
  { addresses, now }: { readonly addresses: Addresses; readonly now: () => Date },
): Promise<void> {
  const pod = await requirePod(cluster, key);
  const restarts = restartsOf(pod) + 1;
  await cluster.replaceStatus(pods, pod, runningPod(pod, { ip: addresses(), ready: true, restarts, now: now() }));
}

async function requirePod(cluster: WorkloadCluster, key: WorkloadKey): Promise<Pod> {
  const pod = await cluster.get(pods, key);
  if (pod === undefined) throw new Error(`pod not found: ${key.namespace ?? ''}/${key.name}`);
  return pod;
}

function restartsOf({ status }: Pod): number {
  return status?.containerStatuses?.[0]?.restartCount ?? 0;
}

/** Returns the pod with a kubelet's status of a running pod; conditions whose status is unchanged keep their time. */
export function runningPod(
  pod: Pod,
  { ip, ready, restarts, now }: { ip: string; ready: boolean; restarts: number; now: Date },
): object {
  const time = now.toISOString().replace(/\.\d+/, '');
  const before = pod.status?.conditions ?? [];
  const condition = (type: string, holds: boolean): object => {
    const status = holds ? 'True' : 'False';
    const previous = before.find((one) => one.type === type && one.status === status);
    if (previous !== undefined) return previous;
    const details = holds ? {} : { reason: 'ContainersNotReady', message: 'set to not ready' };
    return { type, status, lastTransitionTime: time, ...details };
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
