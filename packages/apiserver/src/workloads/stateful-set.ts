// StatefulSet → Pods with stable names: created one after the other from the lowest ordinal, deleted and replaced from
// the highest (stateful_set_control.go).
//
// Caveats: there are no ControllerRevisions, so every new pod gets the present template, also below a partition; volume
// claims are created with their pod, and never deleted; minReadySeconds is ignored.
import { claim, controllerReference } from './claim.ts';
import type { WorkloadCluster } from './cluster.ts';
import {
  isActive,
  isReady,
  type Pod,
  persistentVolumeClaims,
  pods,
  type StatefulSet,
  statefulSets,
  type WorkloadKey,
} from './objects.ts';
import { templateHash } from './template-hash.ts';

const revisionKey = 'controller-revision-hash';

/** Reconciles a StatefulSet, one step at a time; the next step follows when a pod shows this one. */
export async function reconcileStatefulSet(cluster: WorkloadCluster, key: WorkloadKey): Promise<void> {
  const set = await cluster.get(statefulSets, key);
  if (set === undefined) return;
  const { selector, template } = set.spec;
  const revision = `${set.metadata.name}-${templateHash(template)}`;
  const claimed = await claim(cluster, pods, { kind: statefulSets, object: set, selector });
  const byOrdinal = new Map<number, Pod>();
  for (const pod of claimed) {
    const ordinal = ordinalOf(set, pod);
    if (ordinal !== undefined) byOrdinal.set(ordinal, pod);
  }
  if (set.metadata.deletionTimestamp === undefined) await updateStatefulSet(cluster, set, byOrdinal, revision);
  await cluster.replaceStatus(statefulSets, set, { ...set, status: statusOf(set, [...byOrdinal.values()], revision) });
}

/** Takes the next step, and updates `byOrdinal` with the pods that it created and deleted. */
async function updateStatefulSet(
  cluster: WorkloadCluster,
  set: StatefulSet,
  byOrdinal: Map<number, Pod>,
  revision: string,
): Promise<void> {
  const { replicas, podManagementPolicy, updateStrategy, ordinals } = set.spec;
  const first = ordinals?.start ?? 0;
  const inOrder = podManagementPolicy === 'OrderedReady';
  const ordinalsWanted = Array.from({ length: replicas }, (_, index) => first + index);
  const removePod = async (ordinal: number, pod: Pod): Promise<void> => {
    await cluster.remove(pods, pod);
    byOrdinal.delete(ordinal);
  };
  for (const ordinal of ordinalsWanted) {
    const pod = byOrdinal.get(ordinal);
    if (pod === undefined) {
      await createClaims(cluster, set, ordinal);
      byOrdinal.set(ordinal, await cluster.create(pods, set.metadata.namespace, podOf(set, ordinal, revision)));
    } else if (isEnded(pod)) {
      await removePod(ordinal, pod);
      return;
    }
    const now = byOrdinal.get(ordinal);
    if (inOrder && (now === undefined || !isActive(now) || !isReady(now))) return;
  }
  const surplus = [...byOrdinal].filter(([ordinal]) => !ordinalsWanted.includes(ordinal)).sort(([a], [b]) => b - a);
  for (const [ordinal, pod] of surplus) {
    await removePod(ordinal, pod);
    if (inOrder) return;
  }
  if (updateStrategy.type !== 'RollingUpdate') return;
  const partition = first + (updateStrategy.rollingUpdate?.partition ?? 0);
  for (const ordinal of ordinalsWanted.filter((one) => one >= partition).reverse()) {
    const pod = byOrdinal.get(ordinal);
    if (pod === undefined) continue;
    if (pod.metadata.labels?.[revisionKey] !== revision) {
      await removePod(ordinal, pod);
      return;
    }
    // Pods are replaced from the highest ordinal, each only after the one before is ready again.
    if (!isActive(pod) || !isReady(pod)) return;
  }
}

/** The claims of a pod by the name of their volume. They are named after the pod, and stay when it goes. */
function claimsOf({ metadata, spec }: StatefulSet, ordinal: number) {
  return (spec.volumeClaimTemplates ?? []).map((template) => {
    const { name, labels, annotations } = template.metadata;
    const claim = {
      name: `${name}-${metadata.name}-${ordinal}`,
      labels: { ...labels, ...spec.selector.matchLabels },
      ...(annotations === undefined ? {} : { annotations }),
    };
    return { volume: name, claim: { metadata: claim, spec: template.spec } };
  });
}

async function createClaims(cluster: WorkloadCluster, set: StatefulSet, ordinal: number): Promise<void> {
  const { namespace } = set.metadata;
  for (const { claim } of claimsOf(set, ordinal)) {
    const existing = await cluster.get(persistentVolumeClaims, { namespace, name: claim.metadata.name });
    if (existing === undefined) await cluster.create(persistentVolumeClaims, namespace, claim);
  }
}

/** The volumes of a pod: those of its claims replace the ones of the template with their name. */
function volumesOf(set: StatefulSet, ordinal: number): readonly object[] {
  const claimed = claimsOf(set, ordinal).map(({ volume, claim }) => ({
    name: volume,
    persistentVolumeClaim: { claimName: claim.metadata.name },
  }));
  const names = new Set(claimed.map(({ name }) => name));
  return [...claimed, ...(set.spec.template.spec.volumes ?? []).filter(({ name }) => !names.has(name))];
}

function podOf(set: StatefulSet, ordinal: number, revision: string): object {
  const { template, serviceName } = set.spec;
  const name = `${set.metadata.name}-${ordinal}`;
  const labels = {
    ...template.metadata.labels,
    [revisionKey]: revision,
    'statefulset.kubernetes.io/pod-name': name,
    'apps.kubernetes.io/pod-index': String(ordinal),
  };
  const { annotations } = template.metadata;
  const volumes = volumesOf(set, ordinal);
  return {
    metadata: {
      name,
      generateName: `${set.metadata.name}-`,
      labels,
      ...(annotations === undefined ? {} : { annotations }),
      ownerReferences: [controllerReference(statefulSets, set)],
    },
    spec: {
      ...template.spec,
      ...(volumes.length === 0 ? {} : { volumes }),
      hostname: name,
      ...(serviceName === undefined || serviceName === '' ? {} : { subdomain: serviceName }),
    },
  };
}

function ordinalOf({ metadata }: StatefulSet, pod: Pod): number | undefined {
  const prefix = `${metadata.name}-`;
  const rest = pod.metadata.name.slice(prefix.length);
  return pod.metadata.name.startsWith(prefix) && /^\d+$/.test(rest) ? Number(rest) : undefined;
}

function isEnded({ metadata, status }: Pod): boolean {
  return metadata.deletionTimestamp === undefined && (status?.phase === 'Succeeded' || status?.phase === 'Failed');
}

function statusOf(set: StatefulSet, all: readonly Pod[], updateRevision: string): object {
  const active = all.filter(isActive);
  const ready = active.filter(isReady).length;
  const countOf = (revision: string): number =>
    active.filter(({ metadata }) => metadata.labels?.[revisionKey] === revision).length;
  const isDone = countOf(updateRevision) === all.length && all.length === set.spec.replicas && ready === all.length;
  const before = set.status?.currentRevision ?? '';
  const currentRevision = before === '' || isDone ? updateRevision : before;
  const counts = {
    readyReplicas: ready,
    currentReplicas: countOf(currentRevision),
    updatedReplicas: countOf(updateRevision),
  };
  return {
    observedGeneration: set.metadata.generation ?? 0,
    replicas: all.length,
    // Zero values are omitted, as Go's omitempty does.
    ...Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0)),
    currentRevision,
    updateRevision,
    collisionCount: 0,
    availableReplicas: ready,
  };
}
