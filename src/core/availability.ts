// What a Deployment says of itself, as a condition of its owner. Built-in workloads speak of Available where kinds of ours speak
// of Ready (aggregate.ts), and say in their status whose generation it is of. Pure.
import type { Condition } from './result.ts';

/** As much of a workload as its availability is read from. A V1Deployment fits. */
export type Workload = {
  readonly metadata?: { readonly name?: string; readonly generation?: number; readonly deletionTimestamp?: unknown };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason?: string;
      readonly message?: string;
    }[];
  };
};

/** Tells whether a workload's status is of what its spec says now. Until it is, nothing in it may be believed. */
export function isCurrent(workload: Workload | undefined): boolean {
  const { metadata, status } = workload ?? {};
  return status?.observedGeneration !== undefined && status.observedGeneration >= (metadata?.generation ?? 0);
}

/** As much of a StatefulSet as its readiness is read from. A V1StatefulSet fits. */
export type Replicated = Workload & {
  readonly spec?: { readonly replicas?: number };
  readonly status?: { readonly readyReplicas?: number };
};

/**
 * Tells whether a StatefulSet has all the ready replicas that it wants: where a Deployment says Available, it only counts. One on
 * which nobody has reported has none.
 */
export function readyReplicasOf(set: Replicated | undefined): Condition {
  const { metadata, spec, status } = set ?? {};
  const [wanted, ready] = [spec?.replicas ?? 0, status?.readyReplicas ?? 0];
  const readiness =
    ready >= wanted ? { status: 'True', reason: 'AllReady' } : { status: 'False', reason: 'NotAllReady' };
  return availabilityOf({
    ...(metadata === undefined ? {} : { metadata }),
    status: {
      observedGeneration: status?.observedGeneration ?? metadata?.generation ?? 0,
      conditions: [{ type: 'Available', ...readiness, message: `${ready} of ${wanted} replicas are ready` }],
    },
  });
}

/** Tells how available a workload is: Unknown while there is none, or nothing is reported of what is wanted now, or it goes. */
export function availabilityOf(workload: Workload | undefined): Condition {
  const { metadata, status } = workload ?? {};
  const unknown = (reason: string, message: string): Condition => ({
    status: 'Unknown',
    reason,
    message: `${metadata?.name ?? 'none yet'}: ${message}`,
  });
  if (status?.observedGeneration === undefined) return unknown('NotReported', 'nothing reported yet');
  if (!isCurrent(workload)) return unknown('OutOfDate', 'its status is of an older generation');
  if (metadata?.deletionTimestamp !== undefined) return unknown('Deleting', 'it is being deleted');
  const available = status.conditions?.find(({ type }) => type === 'Available');
  if (available?.status !== 'True' && available?.status !== 'False') {
    return unknown(available?.reason ?? 'NotReported', available?.message ?? 'its availability is not reported yet');
  }
  const { reason = 'NoReason', message = '' } = available;
  return { status: available.status, reason, message: `${metadata?.name}: ${message}` };
}
