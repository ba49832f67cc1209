// Deployment → ReplicaSets: one for each template it has had; the newest one has the pods (deployment_controller.go).
// While the Deployment is being deleted, only its status is updated.
import { isDeepStrictEqual } from 'node:util';
import { claim, controllerReference } from './claim.ts';
import type { WorkloadCluster } from './cluster.ts';
import { deploymentStatus } from './deployment-status.ts';
import { type Deployment, deployments, type ReplicaSet, replicaSets, type WorkloadKey } from './objects.ts';
import { rollingUpdateLimits, type SetSize, scaleDownOld, scaleUpNew } from './rollout.ts';
import { templateHash } from './template-hash.ts';

const hashLabel = 'pod-template-hash';
const revisionKey = 'deployment.kubernetes.io/revision';
const desiredAnnotation = 'deployment.kubernetes.io/desired-replicas';
const maximumAnnotation = 'deployment.kubernetes.io/max-replicas';
/** Annotations that are not copied to ReplicaSets (deployment_util.go). */
const notCopied = [
  'kubectl.kubernetes.io/last-applied-configuration',
  revisionKey,
  desiredAnnotation,
  maximumAnnotation,
];

/**
 * Reconciles a Deployment. Caveats: a scale-down during a rollout is not proportional, and a rollout has no progress
 * deadline.
 */
export async function reconcileDeployment(cluster: WorkloadCluster, key: WorkloadKey, now: () => Date): Promise<void> {
  const deployment = await cluster.get(deployments, key);
  if (deployment === undefined) return;
  const { selector } = deployment.spec;
  const claimed = await claim(cluster, replicaSets, { kind: deployments, object: deployment, selector });
  const sets = [...claimed].sort((a, b) => revisionOf(a) - revisionOf(b));
  let current = sets.find((set) => isDeepStrictEqual(plainTemplate(set), deployment.spec.template));
  let annotations = deployment.metadata.annotations;
  const mayAct = deployment.metadata.deletionTimestamp === undefined;
  if (mayAct && deployment.spec.paused !== true) {
    const others = sets.filter((set) => set !== current);
    const highest = Math.max(0, ...others.map(revisionOf));
    const revision = Math.max(highest + 1, current === undefined ? 0 : revisionOf(current));
    const revisionAnnotation = { [revisionKey]: String(revision) };
    current =
      current === undefined
        ? await createSet(cluster, deployment, others, revisionAnnotation)
        : await cluster.replace(replicaSets, current, annotated(current, deployment, revisionAnnotation));
    annotations = { ...annotations, ...revisionAnnotation };
  }
  const old = sets.filter(({ metadata }) => metadata.uid !== current?.metadata.uid);
  const updatedSets = mayAct ? await resize(cluster, deployment, current, old) : sets;
  // kube-controller-manager writes the revision together with the status: an annotation does not change the generation
  // there.
  await cluster.replaceStatus(deployments, deployment, {
    ...deployment,
    metadata: { ...deployment.metadata, ...(annotations === undefined ? {} : { annotations }) },
    status: deploymentStatus(deployment, current?.metadata.name, updatedSets, now),
  });
  if (mayAct) await cleanupDeployment(cluster, deployment, old);
}

async function createSet(
  cluster: WorkloadCluster,
  deployment: Deployment,
  others: readonly ReplicaSet[],
  revisionAnnotation: Readonly<Record<string, string>>,
): Promise<ReplicaSet> {
  const { metadata, spec } = deployment;
  const hash = templateHash(spec.template);
  const labels = { ...spec.template.metadata.labels, [hashLabel]: hash };
  const replicas =
    spec.strategy.type === 'RollingUpdate'
      ? scaleUpNew(rollingUpdateLimits(deployment), sizeOf(undefined), others.map(sizeOf))
      : 0;
  const newSet = {
    metadata: {
      name: `${metadata.name}-${hash}`,
      labels,
      annotations: annotationsFor(deployment, revisionAnnotation),
      ownerReferences: [controllerReference(deployments, deployment)],
    },
    spec: {
      replicas,
      selector: { ...spec.selector, matchLabels: { ...spec.selector.matchLabels, [hashLabel]: hash } },
      template: { ...spec.template, metadata: { ...spec.template.metadata, labels } },
    },
  };
  return cluster.create(replicaSets, metadata.namespace, newSet);
}

/** Takes one step towards the desired sizes, and returns the sets after it. */
async function resize(
  cluster: WorkloadCluster,
  deployment: Deployment,
  current: ReplicaSet | undefined,
  old: readonly ReplicaSet[],
): Promise<readonly ReplicaSet[]> {
  const { spec } = deployment;
  const scale = (set: ReplicaSet, replicas: number): Promise<ReplicaSet> =>
    set.spec.replicas === replicas
      ? Promise.resolve(set)
      : cluster.replace(replicaSets, set, {
          ...annotated(set, deployment, {}),
          spec: { ...set.spec, replicas },
        });
  const newest = current ?? old.at(-1);
  if (newest === undefined) return [];
  const rest = old.filter((set) => set !== newest);
  // No rollout is in progress: only the size can differ.
  if (spec.paused === true || rest.every((set) => set.spec.replicas === 0 && (set.status?.replicas ?? 0) === 0)) {
    return [...rest, await scale(newest, spec.replicas)];
  }
  const olds = rest.map(sizeOf);
  if (spec.strategy.type === 'Recreate') {
    const scaledDown = await Promise.all(rest.map((set) => scale(set, 0)));
    return [...scaledDown, newest];
  }
  const limits = rollingUpdateLimits(deployment);
  const scaledUp = await scale(newest, scaleUpNew(limits, sizeOf(newest), olds));
  if (scaledUp !== newest) return [...rest, scaledUp];
  const sizes = scaleDownOld(limits, sizeOf(newest), olds);
  return [...(await Promise.all(rest.map((set, index) => scale(set, sizes[index] ?? 0)))), newest];
}

/** Removes the oldest sets without pods beyond revisionHistoryLimit (Kubernetes' cleanupDeployment). */
async function cleanupDeployment(
  cluster: WorkloadCluster,
  { spec }: Deployment,
  old: readonly ReplicaSet[],
): Promise<void> {
  const idle = old.filter((set) => set.spec.replicas === 0 && (set.status?.replicas ?? 0) === 0);
  for (const set of idle.slice(0, Math.max(0, old.length - spec.revisionHistoryLimit))) {
    await cluster.remove(replicaSets, set);
  }
}

function annotated(set: ReplicaSet, deployment: Deployment, more: Readonly<Record<string, string>>): ReplicaSet {
  const annotations = { ...set.metadata.annotations, ...annotationsFor(deployment, more) };
  return { ...set, metadata: { ...set.metadata, annotations } };
}

function annotationsFor(deployment: Deployment, more: Readonly<Record<string, string>>): Record<string, string> {
  const copied = Object.entries(deployment.metadata.annotations ?? {}).filter(([name]) => !notCopied.includes(name));
  const { replicas, maxSurge } = rollingUpdateLimits(deployment);
  return {
    ...Object.fromEntries(copied),
    [desiredAnnotation]: String(replicas),
    [maximumAnnotation]: String(replicas + maxSurge),
    ...more,
  };
}

function plainTemplate({ spec: { template } }: ReplicaSet): object {
  const { [hashLabel]: _, ...labels } = template.metadata.labels ?? {};
  return { ...template, metadata: { ...template.metadata, labels } };
}

function revisionOf({ metadata }: ReplicaSet): number {
  return Number(metadata.annotations?.[revisionKey] ?? 0);
}

function sizeOf(set: ReplicaSet | undefined): SetSize {
  return { desired: set?.spec.replicas ?? 0, available: set?.status?.availableReplicas ?? 0 };
}
