// f3: 10,000 objects that each need a world outside that takes 200 ms, all there at once: how long until the last is done. Ours beside the
// peers, at everybody's settings and at equal concurrency, each on a control plane of its own.
import { openArena, stampObjects } from './arena.ts';
import { compare } from '../../bench/compare.ts';
import { type ContestOptions, compete, type Entrant } from '../../bench/contest.ts';
import { startJudge } from '../../bench/measuring-client.ts';
import type { Contestant } from './peers/contestant.ts';
import type { Row } from '../../bench/row.ts';
import { startContestant } from '../../bench/start-contestant.ts';

const judged = { plural: 'slows', namespace: 'default' } as const;
const usualObjects = 10_000;
/**
 * Who has a few workers needs as long for each round of them, however many objects there are: 10,000 would take them up to the better part
 * of an hour, so they have fewer, and what they take is scaled. All others have every object.
 */
const fewer = new Map([
  ['controller-runtime (default)', 500],
  ['controller-runtime (best)', 2_000],
  ['sample-controller (default)', 500],
  ['sample-controller (best)', 2_000],
  ['kopf (default)', 500],
]);
/** As many as ours has in hand when it is deployed: ten batches of ten. */
const equal = 100;

/** Measures; the first contestant is ours. */
export async function f3(
  contestants: readonly Contestant[],
  { objects = usualObjects, ...options }: ContestOptions & { readonly objects?: number },
): Promise<readonly Row[]> {
  const [ours, ...peers] = contestants;
  if (ours === undefined) throw new Error('f3: nobody to measure');
  const countOf = (name: string) => Math.min(fewer.get(name) ?? objects, objects);
  const alike = peers.flatMap((peer): readonly Contestant[] =>
    peer.settings.includes('best') ? [{ ...peer, name: `${peer.name}, ${equal} at a time`, settings: ['best'] }] : [],
  );
  const isOurs = ({ name }: { readonly name: string }) => name.startsWith(ours.name);
  const isAlike = ({ name }: { readonly name: string }) => alike.some((one) => one.name === name);
  const measure = (entrant: Entrant) =>
    isAlike(entrant) ? drain(entrant, objects, equal) : drain(entrant, countOf(entrant.name));
  const outcomes = await compete([...contestants, ...alike], 'slow', measure, options);
  const own = outcomes
    .filter((outcome) => !isAlike(outcome))
    .map((outcome) => {
      const count = countOf(outcome.name);
      if (count === objects) return outcome;
      const runs = outcome.runs.map((seconds) => (seconds * objects) / count);
      return { ...outcome, name: `${outcome.name}, ${count} objects scaled`, runs };
    });
  const equals = outcomes.filter((outcome) => isOurs(outcome) || isAlike(outcome));
  const what = `drain ${objects} objects of 200 ms each`;
  const about = { figure: 'f3', unit: 's' };
  return [
    compare(
      {
        ...about,
        what: `${what}, everybody's own settings`,
        goals: [{ than: 'controller-runtime (default)', times: 1 / 50 }],
      },
      own,
      (seconds) => seconds,
    ),
    compare(
      { ...about, what: `${what}, ${equal} at a time`, goals: alike.map(({ name }) => ({ than: name, times: 1 })) },
      equals,
      (seconds) => seconds,
    ),
  ];
}

/** Returns seconds. */
async function drain({ program, setting }: Entrant, count: number, concurrency?: number): Promise<number> {
  await using parts = new AsyncDisposableStack();
  const arena = await openArena(parts);
  const stop = new AbortController();
  parts.defer(() => stop.abort());
  const place = { kubeconfig: arena.plane.kubeconfig(), outsideUrl: arena.outsideUrl };
  const atOnce = concurrency === undefined ? {} : { concurrency };
  const running = parts.use(await startContestant(program, { job: 'slow', setting, ...place, ...atOnce }));
  const judge = await startJudge(arena.api, judged, stop.signal);
  const begun = performance.now();
  const done = judge.until(1, count).then(() => (performance.now() - begun) / 1000);
  await stampObjects(arena, judged, { count, prefix: 'slow', observed: false });
  return await Promise.race([done, running.died]);
}
