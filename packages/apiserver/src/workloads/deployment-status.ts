// The status of a Deployment: sums over the statuses of its ReplicaSets, never over pods (deployment/sync.go,
// progress.go).
import type { Deployment, ReplicaSet } from './objects.ts';
import { rollingUpdateLimits } from './rollout.ts';

type ConditionValue = { readonly status: 'True' | 'False'; readonly reason: string; readonly message: string };

/** Creates the status. `current` is the name of the ReplicaSet of the present template. */
export function deploymentStatus(
  deployment: Deployment,
  current: string | undefined,
  sets: readonly ReplicaSet[],
  now: () => Date,
): object {
  const sum = (field: 'replicas' | 'readyReplicas' | 'availableReplicas'): number =>
    sets.reduce((total, { status }) => total + (status?.[field] ?? 0), 0);
  const newest = sets.find(({ metadata }) => metadata.name === current);
  const wanted = sets.reduce((total, { spec }) => total + spec.replicas, 0);
  const counts = {
    replicas: sum('replicas'),
    updatedReplicas: newest?.status?.replicas ?? 0,
    readyReplicas: sum('readyReplicas'),
    availableReplicas: sum('availableReplicas'),
    unavailableReplicas: Math.max(0, wanted - sum('availableReplicas')),
  };
  const { replicas, maxUnavailable } = rollingUpdateLimits(deployment);
  const available: ConditionValue =
    counts.availableReplicas >= replicas - maxUnavailable
      ? { status: 'True', reason: 'MinimumReplicasAvailable', message: 'Deployment has minimum availability.' }
      : {
          status: 'False',
          reason: 'MinimumReplicasUnavailable',
          message: 'Deployment does not have minimum availability.',
        };
  const before = deployment.status?.conditions ?? [];
  const time = now().toISOString().replace(/\.\d+/, '');
  const condition = (type: string, value: ConditionValue | undefined): readonly object[] => {
    const was = before.find((one) => one.type === type);
    if (value === undefined) return was === undefined ? [] : [was];
    if (was?.status === value.status && was.reason === value.reason && was.message === value.message) return [was];
    const lastTransitionTime = was?.status === value.status ? was.lastTransitionTime : time;
    return [{ type, ...value, lastUpdateTime: time, lastTransitionTime }];
  };
  return {
    observedGeneration: deployment.metadata.generation ?? 0,
    // Zero values are omitted, as Go's omitempty does.
    ...Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0)),
    terminatingReplicas: 0,
    conditions: [...condition('Available', available), ...condition('Progressing', progress())],
  };

  /** Returns undefined to keep the condition. A completed rollout stays completed until the template changes. */
  function progress(): ConditionValue | undefined {
    if (current === undefined) return undefined;
    const { updatedReplicas, availableReplicas } = counts;
    const reason = before.find(({ type }) => type === 'Progressing')?.reason;
    const done = `ReplicaSet "${current}" has successfully progressed.`;
    const isDone = updatedReplicas === replicas && counts.replicas === replicas && availableReplicas >= replicas;
    if (isDone) return { status: 'True', reason: 'NewReplicaSetAvailable', message: done };
    if (reason === 'NewReplicaSetAvailable' && updatedReplicas === counts.replicas && updatedReplicas > 0)
      return undefined;
    return { status: 'True', reason: 'ReplicaSetUpdated', message: `ReplicaSet "${current}" is progressing.` };
  }
}
