// f2: from an edit to the status that observes it, at 1, 10 and 100 edits a second and in a burst of 1,000, ours beside every peer, each on a
// control plane of its own. The judge is this process; a contestant, whatever it consists of, is others.
import { setTimeout as wait } from 'node:timers/promises';
import { createObjects, openArena } from '../test/bench/arena.ts';
import { compare, type Goal } from './compare.ts';
import { type ContestOptions, compete, type Entrant } from './contest.ts';
import { startJudge } from './measuring-client.ts';
import type { Contestant } from '../test/bench/peers/contestant.ts';
import { digits } from './populate.ts';
import type { Row } from './row.ts';
import { startContestant } from './start-contestant.ts';
import { quantile } from './spread.ts';

const judged = { plural: 'pings', namespace: 'default' } as const;
/** So many that none is edited twice within two seconds: ours lets a key wait that was sent less than one ago. */
const usualObjects = 1_000;
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

/** Measures; the first contestant is ours. With fewer objects it is a trial: some are edited again while they wait. */
export async function f2(
  contestants: readonly Contestant[],
  { objects = usualObjects, ...options }: ContestOptions & { readonly objects?: number },
): Promise<readonly Row[]> {
  const outcomes = await compete(contestants, 'ping', (entrant) => measure(entrant, objects), options);
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

/** Ahead of those in languages like ours, and no more than twice the Go that is in the same process as its cache. */
function goalsOf(stage: string, share: string): readonly Goal[] {
  const ahead = ['kopf', 'Pepr'].map((than) => ({ than, times: 1 }));
  if (share === 'p50') return [{ than: 'controller-runtime', times: 2 }, ...ahead];
  return stage === burst ? [{ than: 'controller-runtime', times: 1 }, ...ahead] : ahead;
}

async function measure({ program, setting }: Entrant, objects: number): Promise<Latencies> {
  await using parts = new AsyncDisposableStack();
  const arena = await openArena(parts);
  const stop = new AbortController();
  parts.defer(() => stop.abort());
  const place = { kubeconfig: arena.plane.kubeconfig(), outsideUrl: arena.outsideUrl };
  const running = parts.use(await startContestant(program, { job: 'ping', setting, ...place }));
  const judge = await startJudge(arena.api, judged, stop.signal);
  const names = Array.from({ length: objects }, (_, index) => `ping-${digits(index, 6)}`);
  const work = async () => {
    // The first change of each object is what warms everybody up.
    await createObjects(arena, judged, names);
    await judge.until(1, objects);
    const latencies: Record<string, readonly number[]> = {};
    let next = 0;
    for (const stage of stages) {
      await wait(untouchedMilliseconds);
      // Each stage goes on where the one before ended, so that they are spread over all objects.
      latencies[nameOf(stage)] = await judge.edit([...names.slice(next), ...names.slice(0, next)], stage);
      next = (next + stage.count) % names.length;
    }
    await wait(untouchedMilliseconds);
    return { ...latencies, [burst]: await judge.burst(names) };
  };
  return await Promise.race([work(), running.died]);
}

function nameOf({ perSecond }: (typeof stages)[number]): string {
  return `${perSecond}/s`;
}
