// How many pods each ReplicaSet of a Deployment gets next: pure arithmetic of a rolling update, one step at a time
// (deployment/rolling.go and recreate.go). The next look, when the step shows in a status, decides the next one.
import type { Deployment } from '../../simulators/workloads/objects.ts';

/** A ReplicaSet as the arithmetic sees it: what it is told to have, and what of that is available. */
export type SetSize = { readonly wanted: number; readonly available: number };
/** What a Deployment allows while it rolls. */
export type Bounds = { readonly replicas: number; readonly maxSurge: number; readonly maxUnavailable: number };

/** Reads a Deployment's bounds: shares of its replicas, surge rounded up, unavailable rounded down, never both zero. */
export function boundsOf({ spec }: Deployment): Bounds {
  const { replicas, strategy } = spec;
  if (strategy.type !== 'RollingUpdate') return { replicas, maxSurge: 0, maxUnavailable: 0 };
  const share = (given: number | string = 0, round: (value: number) => number): number =>
    typeof given === 'number' ? given : round((Number.parseInt(given, 10) * replicas) / 100);
  const maxSurge = share(strategy.rollingUpdate?.maxSurge, Math.ceil);
  const unavailable = share(strategy.rollingUpdate?.maxUnavailable, Math.floor);
  return { replicas, maxSurge, maxUnavailable: Math.min(replicas, maxSurge + unavailable === 0 ? 1 : unavailable) };
}

/** The new ReplicaSet's next size in a rolling update, beside old ones. */
export function growNew({ replicas, maxSurge }: Bounds, current: SetSize, old: readonly SetSize[]): number {
  if (current.wanted >= replicas) return replicas;
  const room = replicas + maxSurge - total([current, ...old], 'wanted');
  return current.wanted + Math.min(Math.max(room, 0), replicas - current.wanted);
}

/** The old ReplicaSets' next sizes in a rolling update, oldest first: first what is not available goes, then as much as may. */
export function shrinkOld({ replicas, maxUnavailable }: Bounds, current: SetSize, old: readonly SetSize[]): number[] {
  const all = [current, ...old];
  const least = replicas - maxUnavailable;
  let sick = Math.max(0, total(all, 'wanted') - least - (current.wanted - current.available));
  const healthy = old.map(({ wanted, available }) => {
    const less = Math.min(sick, Math.max(0, wanted - available));
    sick -= less;
    return wanted - less;
  });
  // What was just taken away for being sick was not available; only what is may be counted on.
  let spare = Math.max(0, total(all, 'available') - least);
  return healthy.map((wanted) => {
    const less = Math.min(spare, wanted);
    spare -= less;
    return wanted - less;
  });
}

function total(sets: readonly SetSize[], of: keyof SetSize): number {
  return sets.reduce((sum, set) => sum + set[of], 0);
}
