// Deployment → ReplicaSets: one for each template it ever had, the newest with the pods (deployment_controller.go). While it is
// being deleted only its status is kept.
import { isDeepStrictEqual } from 'node:util';
import type { ObjectKey } from '../../kube/client/object.ts';
import { claim, controllerReference } from './claim.ts';
import type { WorkloadCluster } from './cluster.ts';
import { deploymentStatus } from './deployment-status.ts';
import { type Deployment, deployments, type ReplicaSet, replicaSets } from './objects.ts';
import { boundsOf, growNew, type SetSize, shrinkOld } from '../../local/workloads/rollout.ts';
import { templateHash } from './template-hash.ts';

const HASH = 'pod-template-hash';
const REVISION = 'deployment.kubernetes.io/revision';
const DESIRED = 'deployment.kubernetes.io/desired-replicas';
const MAXIMUM = 'deployment.kubernetes.io/max-replicas';
/** Annotations that stay with the Deployment (deployment_util.go). */
const NOT_COPIED = ['kubectl.kubernetes.io/last-applied-configuration', REVISION, DESIRED, MAXIMUM];

/** Makes a Deployment so. Caveats: a scale in mid-rollout is not spread in proportion, and no rollout runs out of time. */
export async function reconcileDeployment(cluster: WorkloadCluster, key: ObjectKey, now: () => Date): Promise<void> {
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
    const noted = { [REVISION]: String(revision) };
    current =
      current === undefined
        ? await createSet(cluster, deployment, others, noted)
        : await cluster.replace(replicaSets, current, annotated(current, deployment, noted));
    annotations = { ...annotations, ...noted };
  }
  const old = sets.filter(({ metadata }) => metadata.uid !== current?.metadata.uid);
  const after = mayAct ? await resize(cluster, deployment, current, old) : sets;
  // By way of the status, where an annotation raises no generation: that is how kube-controller-manager notes the revision.
  await cluster.replaceStatus(deployments, deployment, {
    ...deployment,
    metadata: { ...deployment.metadata, ...(annotations === undefined ? {} : { annotations }) },
    status: deploymentStatus(deployment, current?.metadata.name, after, now),
  });
  if (mayAct) await forget(cluster, deployment, old);
}

async function createSet(
  cluster: WorkloadCluster,
  deployment: Deployment,
  others: readonly ReplicaSet[],
  noted: Readonly<Record<string, string>>,
): Promise<ReplicaSet> {
  const { metadata, spec } = deployment;
  const hash = templateHash(spec.template);
  const labels = { ...spec.template.metadata.labels, [HASH]: hash };
  const replicas =
    spec.strategy.type === 'RollingUpdate' ? growNew(boundsOf(deployment), sizeOf(undefined), others.map(sizeOf)) : 0;
  const fresh = {
    metadata: {
      name: `${metadata.name}-${hash}`,
      labels,
      annotations: annotationsFor(deployment, noted),
      ownerReferences: [controllerReference(deployments, deployment)],
    },
    spec: {
      replicas,
      selector: { ...spec.selector, matchLabels: { ...spec.selector.matchLabels, [HASH]: hash } },
      template: { ...spec.template, metadata: { ...spec.template.metadata, labels } },
    },
  };
  return cluster.create(replicaSets, metadata.namespace, fresh);
}

/** Takes one step towards the wanted sizes, and returns the sets as they are then. */
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
  // Nothing rolls: only the size can be wrong.
  if (spec.paused === true || rest.every((set) => set.spec.replicas === 0 && (set.status?.replicas ?? 0) === 0)) {
    return [...rest, await scale(newest, spec.replicas)];
  }
  const olds = rest.map(sizeOf);
  if (spec.strategy.type === 'Recreate') {
    const emptied = await Promise.all(rest.map((set) => scale(set, 0)));
    return [...emptied, newest];
  }
  const bounds = boundsOf(deployment);
  const grown = await scale(newest, growNew(bounds, sizeOf(newest), olds));
  if (grown !== newest) return [...rest, grown];
  const sizes = shrinkOld(bounds, sizeOf(newest), olds);
  return [...(await Promise.all(rest.map((set, index) => scale(set, sizes[index] ?? 0)))), newest];
}

/** Removes the oldest sets without pods beyond what the Deployment wants to remember. */
async function forget(cluster: WorkloadCluster, { spec }: Deployment, old: readonly ReplicaSet[]): Promise<void> {
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
  const copied = Object.entries(deployment.metadata.annotations ?? {}).filter(([name]) => !NOT_COPIED.includes(name));
  const { replicas, maxSurge } = boundsOf(deployment);
  return {
    ...Object.fromEntries(copied),
    [DESIRED]: String(replicas),
    [MAXIMUM]: String(replicas + maxSurge),
    ...more,
  };
}

function plainTemplate({ spec: { template } }: ReplicaSet): object {
  const { [HASH]: _, ...labels } = template.metadata.labels ?? {};
  return { ...template, metadata: { ...template.metadata, labels } };
}

function revisionOf({ metadata }: ReplicaSet): number {
  return Number(metadata.annotations?.[REVISION] ?? 0);
}

function sizeOf(set: ReplicaSet | undefined): SetSize {
  return { wanted: set?.spec.replicas ?? 0, available: set?.status?.availableReplicas ?? 0 };
}
