// What a fleet costs in time when nothing changes: periodic reconciles, lists of the resync, reads of the clusters
// table; and what unreachable clusters take from the others. The plan of the resync and the circuit breaker are the
// product's.
import { formatReconcileKey } from '../../src/core/key.ts';
import { createBreaker } from '../../src/reconciling/breaker.ts';
import { resyncDueAt } from '../../src/resync/plan.ts';

const runIntervalSeconds = 600;
const periodSeconds = 36_000;

/** The periodic reconciles of a fleet, in a second. */
export type Periodic = { readonly mean: number; readonly peak: number };

/** Plans the periodic reconciles of one cluster's objects for a whole period, and returns those of its busiest second. */
export function busiestSecond(objects: number): number {
  const bySecond = new Map<number, number>();
  for (let object = 0; object < objects; object += 1) {
    const key = formatReconcileKey({
      cluster: 'cluster-0',
      controller: 'simulated',
      group: 'scale.example.com',
      resource: 'things',
      namespace: 'default',
      name: `thing-${object}`,
    });
    for (let runSeconds = 0; runSeconds < periodSeconds; runSeconds += runIntervalSeconds) {
      const dueAt = resyncDueAt(key, { runSeconds, runIntervalSeconds, periodSeconds, nowSeconds: runSeconds });
      if (dueAt === undefined) continue;
      bySecond.set(dueAt, (bySecond.get(dueAt) ?? 0) + 1);
      break;
    }
  }
  return Math.max(...bySecond.values());
}

/** Returns the periodic reconciles of a fleet, from those of one cluster in its busiest second. */
export function periodicReconciles(clusters: number, objects: number, busiest: number): Periodic {
  const mean = (clusters * objects) / periodSeconds;
  // Every cluster has its own seconds, so their peaks do not fall together.
  const peak = mean + (busiest - mean / clusters) * Math.sqrt(clusters);
  return { mean, peak };
}

/** The time in which a resync run lists every cluster, in seconds. */
export function resyncRunSeconds(
  clusters: number,
  objects: number,
  {
    concurrency,
    coreSecondsPerObject,
    coresPerFunction,
  }: {
    readonly concurrency: number;
    readonly coreSecondsPerObject: number;
    readonly coresPerFunction: number;
  },
): number {
  return (clusters * objects * coreSecondsPerObject) / (concurrency * coresPerFunction);
}

/**
 * The share of the healthy clusters' pace that an instance keeps while a share of the clusters does not answer, with the
 * circuit breaker or without it. Its batches have keys of clusters in turn; a key of an unreachable one takes its whole
 * time-out.
 */
export function paceWithUnreachable(
  clusters: number,
  share: number,
  {
    batchMs,
    timeoutMs,
    breaker: hasBreaker,
  }: { readonly batchMs: number; readonly timeoutMs: number; readonly breaker: boolean },
): number {
  let nowMs = 0;
  const breaker = createBreaker(() => nowMs, { random: () => 0.5 });
  const unreachable = Math.round(clusters * share);
  const batches = 10_000;
  const responseMs = 20;
  let healthy = 0;
  let next = 0;
  for (let batch = 0; batch < batches; batch += 1) {
    const keys = Array.from({ length: 10 }, () => {
      // A fixed walk that meets every cluster.
      next = (next + 7_919) % clusters;
      return next;
    });
    const calls = keys.flatMap((cluster) => {
      const name = `cluster-${cluster}`;
      if (cluster >= unreachable) return [{ name, isDown: false, limitMs: undefined, durationMs: batchMs }];
      if (hasBreaker && breaker.state(name) !== 'closed') return [];
      const limitMs = hasBreaker ? breaker.firstResponseTimeoutMs(name) : undefined;
      return [{ name, isDown: true, limitMs, durationMs: Math.min(limitMs ?? timeoutMs, timeoutMs) }];
    });
    nowMs += Math.max(batchMs, ...calls.map(({ durationMs }) => durationMs));
    for (const { name, isDown, limitMs, durationMs } of calls) {
      if (!isDown) breaker.recordSuccess(name, { responseMs, durationMs });
      else if (limitMs === undefined) breaker.recordFailure(name, { durationMs });
      else breaker.recordTimeout(name, { durationMs });
    }
    healthy += calls.filter(({ isDown }) => !isDown).length;
  }
  const ideal = (batches * 10 * (1 - share)) / (batches * batchMs);
  return healthy / nowMs / ideal;
}
