// The users of a fleet: changes at a rate, spread over clusters at random, and their latencies.
import { setTimeout as wait } from 'node:timers/promises';
import { p99 } from '../latencies.ts';
import type { SeededRandom } from '../random.ts';
import { until } from '../until.ts';
import type { FleetCluster } from './clusters.ts';

/** How fast users make changes. */
export type EditRate = { readonly perSecond: number; readonly random: SeededRandom };

/** The longest latency that is measured. */
const latencySeconds = 120;
/**
 * More concurrent writes to the objects of one cluster are a fault of their own: kube-apiserver refuses them with a 504,
 * or deletes an object in spite of a finalizer that was added meanwhile.
 */
const mostInFlight = 10;

/** Makes random changes in these clusters until the signal aborts. Resolves when the API servers have accepted them. */
export async function editAtRate(
  clusters: readonly FleetCluster[],
  rate: EditRate,
  signal: AbortSignal,
): Promise<number> {
  return await callAtRate(rate, signal, async () => await rate.random.pick(clusters).editor.edit(1));
}

/**
 * Makes changes in a cluster until the signal aborts, one after the other: one that has no response is repeated, and
 * repetitions of many changes would be a load of their own.
 */
export async function editInTurn({ editor }: FleetCluster, perSecond: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await editor.edit(1);
    await wait(1000 / perSecond, undefined, { signal }).catch(() => undefined);
  }
}

/**
 * Measures the time from a change to its status in these clusters. Resolves with its 99th percentile in milliseconds,
 * when every change has its status.
 */
export async function measureP99(
  clusters: readonly FleetCluster[],
  { seconds, ...rate }: EditRate & { readonly seconds: number },
): Promise<number> {
  // A deleted object has no status of its last generation, ever.
  const pending = () => clusters.reduce((sum, { latencies }) => sum + latencies.pendingCount(), 0);
  const before = pending();
  for (const { latencies } of clusters) latencies.take();
  await callAtRate(rate, AbortSignal.timeout(seconds * 1000), async () => {
    const { editor, objects } = rate.random.pick(clusters);
    await editor.put(`portion-${rate.random.below(objects)}`, 'rice');
  });
  await until(() => pending() <= before, latencySeconds, 'changes of other clusters have no status');
  return p99(clusters.flatMap(({ latencies }) => latencies.take()));
}

/**
 * Calls at a rate until the signal aborts, without waiting for the end of a call unless many are in flight. Resolves
 * when all have ended.
 */
async function callAtRate({ perSecond }: EditRate, signal: AbortSignal, call: () => Promise<void>): Promise<number> {
  const begun = performance.now();
  const inFlight = new Set<Promise<void>>();
  let count = 0;
  while (!signal.aborted) {
    const called = call().finally(() => inFlight.delete(called));
    inFlight.add(called);
    count += 1;
    if (inFlight.size >= mostInFlight) await Promise.race(inFlight);
    const dueAt = begun + (count * 1000) / perSecond;
    await wait(Math.max(0, dueAt - performance.now()), undefined, { signal }).catch(() => undefined);
  }
  await Promise.all(inFlight);
  return count;
}
