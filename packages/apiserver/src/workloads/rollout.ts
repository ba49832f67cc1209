// The next size of each ReplicaSet of a Deployment: pure arithmetic of a rolling update, one step at a time
// (deployment/rolling.go and recreate.go). The next step is computed when the result of this one is in the status.
import type { Deployment } from './objects.ts';

/** The size of a ReplicaSet: its desired and its available replicas. */
export type SetSize = { readonly desired: number; readonly available: number };
/** The limits of a Deployment's rolling update. */
export type RollingUpdateLimits = {
  readonly replicas: number;
  readonly maxSurge: number;
  readonly maxUnavailable: number;
};

/**
 * Reads the limits of a Deployment: percentages of its replicas, maxSurge rounded up, maxUnavailable rounded down,
 * never both zero.
 */
export function rollingUpdateLimits({ spec }: Deployment): RollingUpdateLimits {
  const { replicas, strategy } = spec;
  if (strategy.type !== 'RollingUpdate') return { replicas, maxSurge: 0, maxUnavailable: 0 };
  const share = (given: number | string = 0, round: (value: number) => number): number =>
    typeof given === 'number' ? given : round((Number.parseInt(given, 10) * replicas) / 100);
  const maxSurge = share(strategy.rollingUpdate?.maxSurge, Math.ceil);
  const unavailable = share(strategy.rollingUpdate?.maxUnavailable, Math.floor);
  return { replicas, maxSurge, maxUnavailable: Math.min(replicas, maxSurge + unavailable === 0 ? 1 : unavailable) };
}

/** Returns the next size of the new ReplicaSet in a rolling update. */
export function scaleUpNew(
  { replicas, maxSurge }: RollingUpdateLimits,
  current: SetSize,
  old: readonly SetSize[],
): number {
  if (current.desired >= replicas) return replicas;
  const room = replicas + maxSurge - total([current, ...old], 'desired');
  return current.desired + Math.min(Math.max(room, 0), replicas - current.desired);
}

/**
 * Returns the next sizes of the old ReplicaSets in a rolling update, oldest first. Unavailable pods are removed first.
 */
export function scaleDownOld(
  { replicas, maxUnavailable }: RollingUpdateLimits,
  current: SetSize,
  old: readonly SetSize[],
): number[] {
  const all = [current, ...old];
  const minAvailable = replicas - maxUnavailable;
  let unhealthyToRemove = Math.max(0, total(all, 'desired') - minAvailable - (current.desired - current.available));
  const afterCleanup = old.map(({ desired, available }) => {
    const removed = Math.min(unhealthyToRemove, Math.max(0, desired - available));
    unhealthyToRemove -= removed;
    return desired - removed;
  });
  // The pods removed above were not available, so they do not reduce the number of available pods.
  let removable = Math.max(0, total(all, 'available') - minAvailable);
  return afterCleanup.map((size) => {
    const removed = Math.min(removable, size);
    removable -= removed;
    return size - removed;
  });
}

function total(sets: readonly SetSize[], of: keyof SetSize): number {
  return sets.reduce((sum, set) => sum + set[of], 0);
}
