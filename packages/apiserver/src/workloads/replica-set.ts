// ReplicaSet → Pods: creates or deletes pods until their number is `spec.replicas` (replica_set.go).
import { claim, controllerReference } from './claim.ts';
import type { WorkloadCluster } from './cluster.ts';
import { isActive, isReady, type Pod, pods, type ReplicaSet, replicaSets, type WorkloadKey } from './objects.ts';

/** Reconciles a ReplicaSet. Caveat: minReadySeconds is ignored; a ready pod is available. */
export async function reconcileReplicaSet(cluster: WorkloadCluster, key: WorkloadKey): Promise<void> {
  const set = await cluster.get(replicaSets, key);
  if (set === undefined) return;
  const { selector, replicas, template } = set.spec;
  const claimed = await claim(cluster, pods, { kind: replicaSets, object: set, selector });
  const active = claimed.filter(isActive);
  const { name, namespace, deletionTimestamp } = set.metadata;
  let remaining: readonly Pod[] = active;
  if (deletionTimestamp === undefined) {
    const surplus = [...active].sort(byDeletionOrder).slice(0, Math.max(0, active.length - replicas));
    for (const pod of surplus) await cluster.remove(pods, pod);
    const created: Pod[] = [];
    while (active.length + created.length < replicas) {
      const { labels, annotations } = template.metadata;
      const metadata = {
        generateName: `${name}-`,
        ...(labels === undefined ? {} : { labels }),
        ...(annotations === undefined ? {} : { annotations }),
        ownerReferences: [controllerReference(replicaSets, set)],
      };
      created.push(await cluster.create(pods, namespace, { metadata, spec: template.spec }));
    }
    remaining = [...active.filter((pod) => !surplus.includes(pod)), ...created];
  }
  const terminating = claimed.filter(({ metadata }) => metadata.deletionTimestamp !== undefined).length;
  await cluster.replaceStatus(replicaSets, set, { ...set, status: statusOf(set, remaining, terminating) });
}

/** The order of deletion: pods that are not ready first, then the youngest (controller_utils.go, ActivePods). */
function byDeletionOrder(a: Pod, b: Pod): number {
  const ready = Number(isReady(a)) - Number(isReady(b));
  return ready === 0 ? b.metadata.creationTimestamp.localeCompare(a.metadata.creationTimestamp) : ready;
}

function statusOf({ metadata, spec }: ReplicaSet, active: readonly Pod[], terminatingReplicas: number): object {
  const ready = active.filter(isReady).length;
  const wanted = Object.entries(spec.template.metadata.labels ?? {});
  const labeled = active.filter((pod) => wanted.every(([label, value]) => pod.metadata.labels?.[label] === value));
  return {
    replicas: active.length,
    // Zero values are omitted, as Go's omitempty does.
    ...(labeled.length === 0 ? {} : { fullyLabeledReplicas: labeled.length }),
    ...(ready === 0 ? {} : { readyReplicas: ready, availableReplicas: ready }),
    terminatingReplicas,
    observedGeneration: metadata.generation ?? 0,
  };
}
