// What happens to a fleet while users make changes: faults of one cluster, changes of the clusters table, kills of
// replicas, and the change from watchers in the clusters to a fleet watcher and back.
import { setTimeout as wait } from 'node:timers/promises';
import type { Fleet } from '../../../test/fleet/fleet.ts';
import type { SeededRandom } from '../random.ts';
import { until } from '../until.ts';
import type { FleetCluster } from './clusters.ts';
import type { FleetOptions } from './fleet-chaos.ts';
import type { Replicas } from './replicas.ts';
import { editAtRate, editInTurn, measureP99 } from './users.ts';

/** The inputs of a row. */
export type FleetFixture = {
  readonly fleet: Fleet;
  /** The clusters of the table. The first one has the faults: a real one, if there is one. */
  readonly members: readonly FleetCluster[];
  /** A cluster that is not in the table. */
  readonly spare: FleetCluster;
  readonly replicas: Replicas;
  readonly random: SeededRandom;
  readonly options: FleetOptions;
  /** Resolves with what has not converged; by default of all members. */
  converged(some?: readonly FleetCluster[]): Promise<readonly string[]>;
};

type Report = {
  /** Adds a figure. */
  note(text: string): void;
  /** Fails the row. */
  fail(text: string): void;
};

/** One row. `run` resolves with how often the fault occurred. */
type FleetRow = {
  readonly fault: string;
  readonly how: (options: FleetOptions) => string;
  run(fixture: FleetFixture, report: Report): Promise<number>;
};

const killEverySeconds = 5;
/** Changes of the other clusters each second while their latencies are measured. */
const measuredPerSecond = 10;
const burstPerSecond = 100;
/** The table is read once a minute, and followed every 20 s. */
const tableSeconds = 120;
const faultSeconds = 120;
/** In which a change that a watcher wrongly sends again would be reconciled. */
const quietSeconds = 10;

/**
 * In which each kind has a bookmark: kube-apiserver sends one a minute. A killed watcher has had none, so the checkpoint
 * has an older version of a kind without events; after five minutes etcd is compacted beyond it, and everything is listed
 * and sent, whoever watches next.
 */
const bookmarkSeconds = 75;

/** The rows, in the order in which they run. */
export const fleetRows: readonly FleetRow[] = [
  {
    fault: 'cluster added, then removed',
    how: () => 'its entry is put into the clusters table, is marked as decommissioning, and taken out',
    run: addAndRemove,
  },
  {
    fault: 'API server of one cluster stalled',
    how: () => 'SIGSTOP to its kube-apiserver, then SIGCONT',
    run: faultOfOne(async ({ plane }) => {
      plane.pauseApiServer();
      return async () => plane.resumeApiServer();
    }),
  },
  {
    fault: 'API server of one cluster killed',
    how: () => 'kill -9 to its kube-apiserver, later a new one',
    run: faultOfOne(async ({ plane }) => {
      await plane.kill9ApiServer();
      return async () => await plane.restartApiServer();
    }),
  },
  {
    fault: 'token of one cluster rejected',
    how: () => '401: its entry has another token, then the right one again',
    run: faultOfOne(changedEntry(({ entry }) => ({ ...entry, access: { type: 'token', token: 'rejected' } }))),
  },
  {
    fault: 'wrong authority of one cluster',
    how: () => 'its entry has the authority of another cluster, then its own again',
    run: faultOfOne(changedEntry(({ entry: { server, access } }, other) => ({ server, access, ...other }))),
  },
  {
    fault: 'one of two replicas killed',
    how: ({ killSeconds, perSecond }) =>
      `kill -9 to each in turn, one every ${killEverySeconds} s for ${killSeconds} s, ${perSecond} changes a second`,
    run: killReplicas,
  },
  {
    fault: 'takeover, fleet watcher to watchers in the clusters and back',
    how: () => 'all are stopped, the others start; nothing changes meanwhile, then one object in each cluster',
    run: takeOver,
  },
  {
    fault: 'burst in one cluster',
    how: () => `up to ${burstPerSecond} changes a second in one cluster`,
    run: burst,
  },
];

async function addAndRemove(
  { fleet, members, spare, replicas, converged }: FleetFixture,
  { note, fail }: Report,
): Promise<number> {
  const names = members.map(({ name }) => name);
  const since = performance.now();
  fleet.setEntry(spare.name, spare.entry);
  await replicas.untilWatched([...names, spare.name]);
  note(`watched ${((performance.now() - since) / 1000).toFixed(0)} s after its entry`);
  await spare.editor.edit(20);
  for (const line of await converged([spare])) fail(line);
  await until(async () => (await spare.unreadySamples()).length === 0, tableSeconds, 'the samples are not Ready');
  fleet.setEntry(spare.name, { ...spare.entry, decommissioning: true });
  await replicas.untilWatched(names);
  fleet.setEntry(spare.name);
  const before = fleet.entries.length;
  await spare.editor.edit(10);
  await members[0]?.editor.edit(10);
  for (const line of await converged()) fail(line);
  const reconciles = fleet.entries
    .slice(before)
    .filter(({ cluster, cause }) => cluster === spare.name && cause === 'change');
  if (reconciles.length > 0) fail(`${reconciles.length} reconciles after the cluster was removed`);
  return 2;
}

type Faulty = FleetCluster & { readonly plane: NonNullable<FleetCluster['plane']> };
/** Injects a fault into a cluster; the result removes it. */
type Inject = (faulty: Faulty, fixture: FleetFixture) => Promise<() => Promise<void>>;

/** Measures the others before and during a fault of one cluster, in which changes are made as well. */
function faultOfOne(inject: Inject): FleetRow['run'] {
  return async (fixture, { note }) => {
    const { fleet, members, random, options } = fixture;
    const [first, ...others] = members;
    if (first?.plane === undefined) throw new Error('the faults of one cluster need a real control plane');
    const faulty: Faulty = { ...first, plane: first.plane };
    const rate = { perSecond: measuredPerSecond, random };
    const before = await measureP99(others, { ...rate, seconds: options.measureSeconds });
    const from = fleet.entries.length;
    const postponed = () =>
      fleet.entries.slice(from).filter(({ cluster, outcome }) => cluster === faulty.name && outcome === 'postponed')
        .length;
    const editing = new AbortController();
    const edits = editInTurn(faulty, 5, editing.signal);
    await wait(1_000);
    const heal = await inject(faulty, fixture);
    try {
      await until(() => postponed() > 0, faultSeconds, 'no key of the cluster was postponed');
      const during = await measureP99(others, { ...rate, seconds: options.measureSeconds });
      note(`p99 of the others ${before.toFixed(0)} ms before, ${during.toFixed(0)} ms during the fault`);
    } finally {
      await heal();
      editing.abort();
      await edits;
    }
    return postponed();
  };
}

/** Another entry, which the watcher and the functions have read when the injection is done, and at its end the first. */
function changedEntry(change: (faulty: Faulty, other: { readonly ca?: string }) => object): Inject {
  return async (faulty, { fleet, members, replicas }) => {
    const others = members.flatMap(({ name }) => (name === faulty.name ? [] : [name]));
    // Without another real cluster: no authority at all, so those of the system.
    const ca = members.findLast(({ name, plane }) => name !== faulty.name && plane !== undefined)?.server.ca;
    fleet.setEntry(faulty.name, change(faulty, ca === undefined ? {} : { ca }));
    await until(async () => !(await replicas.watched()).includes(faulty.name), tableSeconds, 'the entry had no effect');
    return async () => {
      fleet.setEntry(faulty.name, faulty.entry);
      await replicas.untilWatched([...others, faulty.name]);
    };
  };
}

async function burst({ members, random, options }: FleetFixture, { note }: Report): Promise<number> {
  const [faulty, ...others] = members;
  if (faulty === undefined) throw new Error('a fleet needs clusters');
  const rate = { perSecond: measuredPerSecond, random, seconds: options.measureSeconds };
  const before = await measureP99(others, rate);
  const over = AbortSignal.timeout(options.measureSeconds * 1000);
  const changes = editAtRate([faulty], { perSecond: burstPerSecond, random }, over);
  const during = await measureP99(others, rate);
  const made = await changes;
  note(`${(made / options.measureSeconds).toFixed(0)} changes a second`);
  note(`p99 of the others ${before.toFixed(0)} ms before, ${during.toFixed(0)} ms during the burst`);
  return made;
}

async function killReplicas({ members, replicas, random, options }: FleetFixture, { note }: Report): Promise<number> {
  const names = members.map(({ name }) => name);
  await replicas.pool.scale({ count: 2 });
  await replicas.untilWatched(names);
  const before = replicas.starts();
  const over = AbortSignal.timeout(options.killSeconds * 1000);
  const edits = editAtRate(members, { perSecond: options.perSecond, random }, over);
  let killed = 0;
  while (!over.aborted) {
    await wait(killEverySeconds * 1000);
    killed += await replicas.pool.kill(1);
  }
  const made = await edits;
  const { started, watching } = replicas.starts();
  note(`${(made / options.killSeconds).toFixed(0)} changes a second`);
  note(
    `${watching - before.watching} of ${started - before.started} new replicas watched clusters before they were killed`,
  );
  return killed;
}

async function takeOver(
  { fleet, members, replicas, converged }: FleetFixture,
  { note, fail }: Report,
): Promise<number> {
  const names = members.map(({ name }) => name);
  /** Reconciles that a watcher caused. Timers of the controllers go on meanwhile. */
  const caused = (from: number) =>
    fleet.entries
      .slice(from)
      .filter(({ outcome, cause }) => outcome !== undefined && (cause === 'change' || cause === 'resync'));
  const changeEach = async () => {
    await Promise.all(members.map(({ editor }) => editor.put('portion-0', 'rice')));
    for (const line of await converged()) fail(line);
    await wait(quietSeconds * 1000);
  };
  const judge = async (what: string, from: number) => {
    await wait(quietSeconds * 1000);
    const found = caused(from);
    note(`${found.length} reconciles caused by the takeover ${what}, in ${members.length} clusters`);
    for (const { key, cause, causedBy, mergedCauses, latencyMs, timestamp } of found) {
      fail(
        `caused by the takeover ${what}: ${JSON.stringify({ key, cause, causedBy, mergedCauses, latencyMs, timestamp })}`,
      );
    }
    await changeEach();
  };
  await replicas.pool.scale({ count: 1 });
  await replicas.untilWatched(names);
  await wait(bookmarkSeconds * 1000);
  await changeEach();

  let from = fleet.entries.length;
  await replicas.pool.scale({ count: 0 });
  const stop = await replicas.startInClusters(members);
  await judge('by watchers in the clusters', from);
  from = fleet.entries.length;
  await stop();
  await replicas.pool.scale({ count: 1 });
  await replicas.untilWatched(names);
  await judge('by the fleet watcher', from);
  return 2;
}
