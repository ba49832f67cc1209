// The fleet watcher at its full size: it watches every cluster of a table, from outside of them. Each row injects a
// fault or an operator's change while users make changes, and is judged by the checkers of all clusters. At the end of
// each row all samples of all clusters have to be Ready.
import { registry } from '../../../src/controllers/registry.ts';
import { openFleet } from '../../../test/fleet/fleet.ts';
import { createSeededRandom } from '../random.ts';
import type { Outcome } from '../row.ts';
import { until } from '../until.ts';
import { type FleetCluster, type FleetSize, startClusters } from './clusters.ts';
import { createReplicas } from './replicas.ts';
import { type FleetFixture, fleetRows } from './rows.ts';

/** The size and the times of a run. */
export type FleetOptions = FleetSize & {
  readonly seed: number;
  /** The changes of all clusters together while replicas are killed. */
  readonly perSecond: number;
  readonly killSeconds: number;
  /** The time of each measurement of the latencies. */
  readonly measureSeconds: number;
  /** Whether a row is to be run. */
  readonly isWanted: (fault: string) => boolean;
  readonly log: (line: string) => void;
  readonly onOutcome?: (outcome: Outcome) => Promise<void>;
  readonly onLine?: (line: string) => void;
};

/** The first row: it is no fault, and is always run. */
export const startRow = 'none: the fleet watcher starts';
const startSeconds = 600;
const samplesSeconds = 300;
const convergeSeconds = 420;
/** A killed watcher is the fault here: functions have the time that a loaded machine needs. */
const functionSeconds = 30;
/** Functions and API servers share two cores, and process some tens of keys a second (see bench/fleet.ts). */
const watcherEnvironment = { RATE_LIMIT_PER_SECOND: '5', RATE_LIMIT_BURST: '20', CHECKPOINT_SECONDS: '30' };

/** Starts the fleet, waits for the samples, and runs the rows one after the other. */
export async function runFleetChaos(options: FleetOptions): Promise<readonly Outcome[]> {
  const { seed, log, isWanted, onOutcome = async () => undefined, onLine = () => undefined } = options;
  await using cleanup = new AsyncDisposableStack();
  const signal = AbortSignal.timeout(startSeconds * 1000);
  const random = createSeededRandom(seed);
  const fleet = cleanup.use(
    await openFleet({ controllers: registry.map(({ name }) => name), timeoutSeconds: functionSeconds, onLine }, signal),
  );
  const size = { ...options, inMemory: options.inMemory + 1 };
  const clusters = await startClusters(cleanup, fleet, random, size, signal);
  log(`${clusters.length} clusters started`);
  const [members, spare] = [clusters.slice(0, -1), clusters.at(-1)];
  if (spare === undefined) throw new Error('no cluster was started');
  for (const { name, entry } of members) fleet.setEntry(name, entry);
  const replicas = createReplicas(cleanup, fleet, { environment: watcherEnvironment, onLine });
  const outcomes: Outcome[] = [];
  const record = async (outcome: Outcome) => {
    log(JSON.stringify(outcome));
    outcomes.push(outcome);
    if (outcome.fault !== startRow || isWanted(startRow)) await onOutcome(outcome);
  };
  const startedAt = performance.now();
  await replicas.pool.scale({ count: 1 });
  await replicas.untilWatched(members.map(({ name }) => name));
  const unready = await untilReady(members);
  await record({
    fault: startRow,
    how: 'until all samples in all clusters are Ready',
    fired: members.length,
    changes: members.length * (members[0]?.sampleCount ?? 0),
    lost: unready,
    concurrent: 0,
    extraWrites: 0,
    convergeSeconds: (performance.now() - startedAt) / 1000,
    notes: [],
  });

  const fixture: FleetFixture = {
    fleet,
    members,
    spare,
    replicas,
    random,
    options,
    converged: async (some = members) => await untilConverged(some),
  };
  for (const row of fleetRows.filter(({ fault }) => isWanted(fault))) await record(await runFleetRow(row, fixture));
  return outcomes;
}

async function runFleetRow({ fault, how, run }: (typeof fleetRows)[number], fixture: FleetFixture): Promise<Outcome> {
  const { fleet, members, spare, options } = fixture;
  const all = [...members, spare];
  fleet.clearVisits();
  for (const { editor } of all) editor.takeChangeCount();
  const notes: string[] = [];
  const failures: string[] = [];
  // A fault that could not be injected fails its own row only.
  const fired = await run(fixture, {
    note: (text) => void notes.push(text),
    fail: (text) => void failures.push(text),
  }).catch((error: unknown) => {
    failures.push(String(error));
    return 0;
  });
  const since = performance.now();
  const lost = [...failures, ...(await untilConverged(members))];
  const seconds = (performance.now() - since) / 1000;
  lost.push(...(await untilReady(members)));
  for (const { body, reason } of await fleet.deadLetters()) lost.push(`dead letter: ${reason} ${body}`);
  const results = all.map(({ checker }) => checker.result([]));
  return {
    fault,
    how: how(options),
    fired,
    lost,
    notes,
    convergeSeconds: seconds,
    changes: all.reduce((sum, { editor }) => sum + editor.takeChangeCount(), 0),
    // Every checker sees the requests of all clusters.
    concurrent: results[0]?.concurrent ?? 0,
    extraWrites: results.reduce((sum, { extraWrites }) => sum + extraWrites, 0),
  };
}

/** Waits for one cluster after the other, because checking all at once would be a load of its own, then checks all. */
async function untilReady(clusters: readonly FleetCluster[]): Promise<readonly string[]> {
  const deadline = performance.now() + samplesSeconds * 1000;
  for (const cluster of clusters) {
    const left = Math.max(1, (deadline - performance.now()) / 1000);
    const isReady = async () => (await cluster.unreadySamples()).length === 0;
    await until(isReady, left, 'samples are not Ready').catch(() => undefined);
  }
  const unready = clusters.map((one) => one.unreadySamples().catch((error: unknown) => [`${one.name}: ${error}`]));
  return (await Promise.all(unready)).flat();
}

/** One cluster after the other, as above. */
async function untilConverged(clusters: readonly FleetCluster[]): Promise<readonly string[]> {
  const deadline = performance.now() + convergeSeconds * 1000;
  const lost: string[] = [];
  for (const { name, checker } of clusters) {
    const found = await checker.untilConverged(Math.max(1, (deadline - performance.now()) / 1000));
    lost.push(...found.map((line) => `${name}: ${line}`));
  }
  return lost;
}
