// What a Deployment says of itself: sums over its ReplicaSets' statuses, never over pods (deployment/sync.go, progress.go).
import type { Deployment, ReplicaSet } from './objects.ts';
import { boundsOf } from '../../local/workloads/rollout.ts';

type Said = { readonly status: 'True' | 'False'; readonly reason: string; readonly message: string };

/** Makes the status. `current` is the name of the ReplicaSet of the present template. */
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
  const { replicas, maxUnavailable } = boundsOf(deployment);
  const available: Said =
    counts.availableReplicas >= replicas - maxUnavailable
      ? { status: 'True', reason: 'MinimumReplicasAvailable', message: 'Deployment has minimum availability.' }
      : {
          status: 'False',
          reason: 'MinimumReplicasUnavailable',
          message: 'Deployment does not have minimum availability.',
        };
  const before = deployment.status?.conditions ?? [];
  const time = now().toISOString().replace(/\.\d+/, '');
  const condition = (type: string, said: Said | undefined): readonly object[] => {
    const was = before.find((one) => one.type === type);
    if (said === undefined) return was === undefined ? [] : [was];
    if (was?.status === said.status && was.reason === said.reason && was.message === said.message) return [was];
    const lastTransitionTime = was?.status === said.status ? was.lastTransitionTime : time;
    return [{ type, ...said, lastUpdateTime: time, lastTransitionTime }];
  };
  return {
    observedGeneration: deployment.metadata.generation ?? 0,
    // Zero is left out, as Go leaves it out.
    ...Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0)),
    terminatingReplicas: 0,
    conditions: [...condition('Available', available), ...condition('Progressing', progress())],
  };

  /** Undefined: as it was said before. A rollout that is done stays done until there is another template. */
  function progress(): Said | undefined {
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
