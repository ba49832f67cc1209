// f3: the time until 10,000 objects are done that each need an external service with a response time of 200 ms.
// Outrigger and the peers, with their own settings and with equal concurrency, each on a control plane of its own.

import { compare } from './compare.ts';
import { type ContestOptions, type Entrant, measureContestants } from './contest.ts';
import { startMeasuringClient } from './measuring-client.ts';
import type { Contestant } from './peers/contestant.ts';
import type { Row } from './row.ts';
import { openBenchSetup, putObjects } from './setup.ts';
import { startContestant } from './start-contestant.ts';

const collection = { plural: 'slows', namespace: 'default' } as const;
const defaultObjects = 10_000;
/**
 * A peer with few workers needs the same time for each round of them, however many objects there are: 10,000 would take
 * up to an hour, so it has fewer objects, and its time is multiplied. All others have every object.
 */
const reducedObjects = new Map([
  ['controller-runtime (default)', 500],
  ['controller-runtime (best)', 2_000],
  ['sample-controller (default)', 500],
  ['sample-controller (best)', 2_000],
  ['kopf (default)', 500],
]);
/** The concurrency of a deployment: ten batches of ten. */
const equalConcurrency = 100;

/** Measures; the first contestant is Outrigger. */
export async function f3(
  contestants: readonly Contestant[],
  { objects = defaultObjects, ...options }: ContestOptions & { readonly objects?: number },
): Promise<readonly Row[]> {
  const [ours, ...peers] = contestants;
  if (ours === undefined) throw new Error('f3: no contestants');
  const countOf = (name: string) => Math.min(reducedObjects.get(name) ?? objects, objects);
  const withEqualConcurrency = peers.flatMap((peer): readonly Contestant[] =>
    peer.settings.includes('best')
      ? [{ ...peer, name: `${peer.name}, ${equalConcurrency} at a time`, settings: ['best'] }]
      : [],
  );
  const isOurs = ({ name }: { readonly name: string }) => name.startsWith(ours.name);
  const hasEqualConcurrency = ({ name }: { readonly name: string }) =>
    withEqualConcurrency.some((one) => one.name === name);
  const measure = (entrant: Entrant) =>
    hasEqualConcurrency(entrant) ? drain(entrant, objects, equalConcurrency) : drain(entrant, countOf(entrant.name));
  const outcomes = await measureContestants([...contestants, ...withEqualConcurrency], 'slow', measure, options);
  const own = outcomes
    .filter((outcome) => !hasEqualConcurrency(outcome))
    .map((outcome) => {
      const count = countOf(outcome.name);
      if (count === objects) return outcome;
      const runs = outcome.runs.map((seconds) => (seconds * objects) / count);
      return { ...outcome, name: `${outcome.name}, ${count} objects scaled`, runs };
    });
  const equalOutcomes = outcomes.filter((outcome) => isOurs(outcome) || hasEqualConcurrency(outcome));
  const what = `drain ${objects} objects of 200 ms each`;
  const about = { figure: 'f3', unit: 's' };
  return [
    compare(
      {
        ...about,
        what: `${what}, own settings`,
        goals: [{ than: 'controller-runtime (default)', times: 1 / 50 }],
      },
      own,
      (seconds) => seconds,
    ),
    compare(
      {
        ...about,
        what: `${what}, ${equalConcurrency} at a time`,
        goals: withEqualConcurrency.map(({ name }) => ({ than: name, times: 1 })),
      },
      equalOutcomes,
      (seconds) => seconds,
    ),
  ];
}

/** Drains a number of objects. Returns seconds. */
export async function drain({ program, setting }: Entrant, count: number, concurrency?: number): Promise<number> {
  await using cleanup = new AsyncDisposableStack();
  const setup = await openBenchSetup(cleanup);
  const aborter = new AbortController();
  cleanup.defer(() => aborter.abort());
  const environment = { kubeconfig: setup.plane.kubeconfig(), outsideUrl: setup.outsideUrl };
  const concurrencyOption = concurrency === undefined ? {} : { concurrency };
  const running = cleanup.use(
    await startContestant(program, { job: 'slow', setting, ...environment, ...concurrencyOption }),
  );
  const client = await startMeasuringClient(setup.api, collection, aborter.signal);
  const startedAt = performance.now();
  const done = client.until(1, count).then(() => (performance.now() - startedAt) / 1000);
  await putObjects(setup, collection, { count, prefix: 'slow', observed: false });
  return await Promise.race([done, running.died]);
}
