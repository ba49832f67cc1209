// Watches every cluster of the clusters table, and follows the table: a cluster that is added, changed, decommissioned
// or removed is taken up within a minute, without a restart. Each cluster is supervised by itself.
//
// Guarantees: a failure of one cluster (its entry, its credentials, its API server) changes nothing for another one.
// While the table cannot be read, the clusters that are known stay watched. A cluster whose entry changed continues
// from its watch checkpoint. Assumption: the API servers can be reached from here.
import { type ClusterLookup, connectTo } from '../clusters/connect.ts';
import { unlessAborted } from '../core/async.ts';
import { toError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import { redact } from '../core/redact.ts';
import type { Wait } from '../core/time.ts';
import type { KubeClient } from '../kube/client/client.ts';
import type { ClusterWatcher } from './cluster-watcher.ts';
import type { Probes } from './http.ts';
import { isOnShard, type Shard } from './shards.ts';

/** The dependencies of a fleet. */
export type FleetDeps = {
  /** Lists the names of the clusters in the table. Rejects if the table cannot be read. */
  readonly list: () => Promise<readonly string[]>;
  /** Finds a cluster. Returns the same client until the cluster's entry changes. */
  readonly find: (name: string) => Promise<ClusterLookup>;
  /** Starts the watcher of one cluster. */
  readonly start: (name: string, client: KubeClient) => ClusterWatcher;
  readonly log: Log;
  /** Milliseconds. */
  readonly now: () => number;
  readonly wait: Wait;
  /** In [0, 1), for jitter. */
  readonly random: () => number;
};

/** Options of a fleet. */
export type FleetOptions = {
  readonly shard?: Shard;
  /** How often the table is read. */
  readonly followSeconds?: number;
};

/** A fleet of watchers. */
export type Fleet = {
  readonly probes: Probes;
  /** Follows the table until the signal aborts. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
  /** Stops every watcher. Resolves with the number of keys that were not sent. */
  stop(options: { readonly drainSeconds: number }): Promise<number>;
};

/** One cluster of the fleet. */
type Member = {
  running: { readonly client: KubeClient; readonly watcher: ClusterWatcher } | undefined;
  /** Why its entry cannot be used. */
  error: string | undefined;
  /** The step in progress. A cluster is never stopped and started at once. */
  step: Promise<void> | undefined;
};

/**
 * How long a read of the table is used. With both jitters, and the time until the next look at it, that is less than a
 * minute. The functions use it for longer, because there are more of them.
 */
export const tableRefreshSeconds = 25;
/** The deadline of reading a cluster's entry and its credentials. */
const findSeconds = 15;
/** The time to send the queued keys of a cluster that is stopped while the others go on. */
const memberDrainSeconds = 10;

/** Creates a fleet. No cluster is watched before `run`. */
export function createFleet(
  { list, find, start, log, now, wait, random }: FleetDeps,
  { shard = { index: 0, count: 1 }, followSeconds = 20 }: FleetOptions = {},
): Fleet {
  const members = new Map<string, Member>();
  let isTableRead = false;
  let tableError: string | undefined;
  let followedAt = now();

  async function follow(signal: AbortSignal): Promise<void> {
    // While the table cannot be read, the known clusters are supervised.
    const names = (await readNames(signal)) ?? [...members.keys()];
    for (const name of names) if (!members.has(name)) members.set(name, emptyMember());
    for (const [name, member] of members) {
      if (member.step !== undefined) continue;
      const step = names.includes(name) ? check(name, member, signal) : remove(name, member, 'removed from the table');
      member.step = step.finally(() => {
        member.step = undefined;
      });
    }
    // A cluster that is slow to find or to stop does not delay the next round of the others.
    await Promise.race([
      Promise.all([...members.values()].map(({ step }) => step)),
      wait(findSeconds, signal).catch(() => undefined),
    ]);
  }

  async function readNames(signal: AbortSignal): Promise<readonly string[] | undefined> {
    try {
      const deadline = wait(findSeconds, signal).then(() => {
        throw new Error(`no response within ${findSeconds} s`);
      });
      const names = (await Promise.race([list(), deadline])).filter((name) => isOnShard(name, shard));
      isTableRead = true;
      tableError = undefined;
      return names;
    } catch (thrown) {
      if (signal.aborted) return undefined;
      const error = redact(toError(thrown).message);
      if (error !== tableError) log.warn('clusters table not read, retrying', { error });
      tableError = error;
      return undefined;
    }
  }

  async function check(name: string, member: Member, signal: AbortSignal): Promise<void> {
    try {
      const bounded = AbortSignal.any([signal, AbortSignal.timeout(findSeconds * 1000)]);
      const lookup = await unlessAborted(find(name), bounded);
      member.error = undefined;
      // A paused cluster is watched: its changes are known when it is resumed.
      const client = await unlessAborted(connectTo(lookup), bounded);
      if (client === undefined) {
        const why = lookup.type === 'unknown' ? 'removed from the table' : 'is being decommissioned';
        await stopWatcher(name, member, why);
        return;
      }
      const { running } = member;
      const isDead = running !== undefined && !running.watcher.health.alive();
      if (running?.client === client && !isDead) return;
      if (running !== undefined) await stopWatcher(name, member, isDead ? 'stopped responding' : 'entry changed');
      if (signal.aborted) return;
      member.running = { client, watcher: start(name, client) };
      log.info('cluster watched', { cluster: name });
    } catch (thrown) {
      if (signal.aborted) return;
      // A cluster that is watched stays watched: its entry may be repaired before its credentials expire.
      const error = redact(toError(thrown).message);
      if (error !== member.error) log.warn('cluster not available, retrying', { cluster: name, error });
      member.error = error;
    }
  }

  async function remove(name: string, member: Member, why: string): Promise<void> {
    await stopWatcher(name, member, why);
    members.delete(name);
  }

  async function stopWatcher(name: string, member: Member, reason: string): Promise<void> {
    const { running } = member;
    if (running === undefined) return;
    member.running = undefined;
    const keys = await running.watcher.stop({ drainSeconds: memberDrainSeconds });
    log.info('cluster no longer watched', { cluster: name, reason, ...(keys > 0 ? { unsentKeys: keys } : {}) });
  }

  const healthOf = ({ running }: Member) => running?.watcher.health;
  return {
    probes: {
      alive: () => now() - followedAt <= 10 * followSeconds * 1000,
      // One cluster that is down does not make the watcher unready: the others would lose their watcher too.
      ready: () =>
        isTableRead && (members.size === 0 || [...members.values()].some((member) => healthOf(member)?.ready())),
      report: () => ({
        ...(tableError === undefined ? {} : { table: { error: tableError } }),
        clusters: Object.fromEntries(
          [...members].map(([name, member]) => [
            name,
            { ready: healthOf(member)?.ready() ?? false, error: member.error, kinds: healthOf(member)?.report() ?? [] },
          ]),
        ),
      }),
    },
    run: async (signal) => {
      while (!signal.aborted) {
        followedAt = now();
        await follow(signal).catch((error: unknown) =>
          log.error('fleet step failed', { error: toError(error).message }),
        );
        await wait(followSeconds * (0.8 + 0.4 * random()), signal).catch(() => undefined);
      }
    },
    stop: async ({ drainSeconds }) => {
      const left = await Promise.all(
        [...members.values()].map(async (member) => {
          await member.step;
          return (await member.running?.watcher.stop({ drainSeconds })) ?? 0;
        }),
      );
      members.clear();
      return left.reduce((sum, keys) => sum + keys, 0);
    },
  };
}

function emptyMember(): Member {
  return { running: undefined, error: undefined, step: undefined };
}
