// f2: the time from an edit to the status that observes it, at 1, 10 and 100 edits a second and in a burst of 1,000,
// for Outrigger and every peer, each on a control plane of its own. This process is the measuring client; contestants
// are other processes.
import { setTimeout as wait } from 'node:timers/promises';
import { compare, type Goal } from './compare.ts';
import { type ContestOptions, type Entrant, measureContestants } from './contest.ts';
import type { Contestant } from './peers/contestant.ts';
import { openPings } from './pings.ts';
import type { Row } from './row.ts';
import { quantile } from './spread.ts';

/**
 * So many that none is edited twice within two seconds: Outrigger delays a key that was sent less than a second ago.
 */
const defaultObjects = 1_000;
const untouchedMilliseconds = 2_000;
const stages = [
  { perSecond: 1, count: 15 },
  { perSecond: 10, count: 100 },
  { perSecond: 100, count: 600 },
];
const burst = 'a burst';
const shares = { p50: 0.5, p99: 0.99 };

/** Latencies in milliseconds by stage. */
type Latencies = Readonly<Record<string, readonly number[]>>;

/**
 * Measures; the first contestant is Outrigger. With fewer objects it is only a trial: some are edited again before
 * their status.
 */
export async function f2(
  contestants: readonly Contestant[],
  { objects = defaultObjects, ...options }: ContestOptions & { readonly objects?: number },
): Promise<readonly Row[]> {
  const outcomes = await measureContestants(contestants, 'ping', (entrant) => measure(entrant, objects), options);
  return [...stages.map(nameOf), burst].flatMap((stage) =>
    Object.entries(shares).map(([share, part]) => {
      const about = {
        figure: 'f2',
        what: `edit to status, ${stage === burst ? `${burst} of ${objects}` : stage}, ${share}`,
        unit: 'ms',
        goals: goalsOf(stage, share),
      };
      return compare(about, outcomes, (latencies: Latencies) => quantile(latencies[stage] ?? [], part));
    }),
  );
}

/**
 * Ahead of peers in languages like ours, and at most twice the Go peers, which have their cache in the same process.
 */
function goalsOf(stage: string, share: string): readonly Goal[] {
  const goals = ['kopf', 'Pepr'].map((than) => ({ than, times: 1 }));
  if (share === 'p50') return [{ than: 'controller-runtime', times: 2 }, ...goals];
  return stage === burst ? [{ than: 'controller-runtime', times: 1 }, ...goals] : goals;
}

async function measure(entrant: Entrant, objects: number): Promise<Latencies> {
  await using cleanup = new AsyncDisposableStack();
  const { running, client, names, create } = await openPings(cleanup, entrant, objects);
  const work = async () => {
    await create();
    const latencies: Record<string, readonly number[]> = {};
    let next = 0;
    for (const stage of stages) {
      await wait(untouchedMilliseconds);
      // Each stage continues where the one before ended, so the edits are spread over all objects.
      latencies[nameOf(stage)] = await client.edit([...names.slice(next), ...names.slice(0, next)], stage);
      next = (next + stage.count) % names.length;
    }
    await wait(untouchedMilliseconds);
    return { ...latencies, [burst]: await client.burst(names) };
  };
  return await Promise.race([work(), running.died]);
}

function nameOf({ perSecond }: (typeof stages)[number]): string {
  return `${perSecond}/s`;
}
