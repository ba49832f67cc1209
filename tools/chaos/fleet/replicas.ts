// The replicas of the fleet watcher, and watchers of single clusters: processes of the bundle that is deployed, and what
// their probes report.
import path from 'node:path';
import { startWatchers, type WatcherEvent, type Watchers } from '@outrigger/cli/dev/watchers';
import * as z from 'zod';
import { forEachConcurrently } from '../../../src/core/async.ts';
import type { Fleet } from '../../../test/fleet/fleet.ts';
import { writeKubeconfig } from '../../control-plane/kubeconfig.ts';
import { until } from '../until.ts';
import { createWatcherPool, type WatcherPool } from '../watcher-pool.ts';
import type { FleetCluster } from './clusters.ts';

/** The running watchers. */
export type Replicas = {
  readonly pool: WatcherPool;
  /** Returns the clusters that every replica watches. */
  watched(): Promise<readonly string[]>;
  /** Resolves when every replica watches exactly these clusters, besides those of `except`. */
  untilWatched(names: readonly string[], except?: readonly string[]): Promise<void>;
  /** How many replicas have been started, and how many of them came to watch a cluster. */
  starts(): { readonly started: number; readonly watching: number };
  /**
   * Starts a watcher in each of these clusters, and resolves when all watch. The result stops them.
   */
  startInClusters(clusters: readonly FleetCluster[]): Promise<() => Promise<void>>;
};

const file = new URL('../../../dist/watcher/index.mjs', import.meta.url).pathname;
/** Starts of many watches at once, and an entry of the table that is read a minute later. */
const watchedSeconds = 180;
/** Watchers in the clusters that start or drain at a time. */
const inClustersAtOnce = 4;
/** What a replica logs when its probes are served. */
const startedEntry = z.looseObject({ message: z.literal('fleet watcher started'), port: z.number() });
const report = z.looseObject({ clusters: z.record(z.string(), z.looseObject({ ready: z.boolean() })) });

/** Creates the replicas; none is started. `cleanup` stops them. */
export function createReplicas(
  cleanup: AsyncDisposableStack,
  { fleetEnvironment, memberEnvironment, folder }: Fleet,
  {
    environment,
    onLine,
  }: { readonly environment: Readonly<Record<string, string>>; readonly onLine: (line: string) => void },
): Replicas {
  const ports = new Map<number, number>();
  const watching = new Set<number>();
  let started = 0;
  const pool = createWatcherPool({
    file,
    environment: { ...fleetEnvironment, ...environment },
    onEvent: (event) => {
      if (event.type === 'started') started += 1;
      if (event.type === 'watching') watching.add(event.pid);
      if (event.type !== 'line') return;
      onLine(event.text);
      const entry = startedEntry.safeParse(parseJson(event.text));
      if (entry.success) ports.set(event.pid, entry.data.port);
    },
  });
  cleanup.defer(() => pool.close());

  async function watchedBy(pid: number): Promise<readonly string[]> {
    const port = ports.get(pid);
    if (port === undefined) return [];
    const body = await fetch(`http://127.0.0.1:${port}/readyz`, { signal: AbortSignal.timeout(10_000) })
      .then((response) => response.json())
      .catch(() => undefined);
    const parsed = report.safeParse(body);
    return parsed.success
      ? Object.entries(parsed.data.clusters).flatMap(([name, { ready }]) => (ready ? [name] : []))
      : [];
  }
  async function watched(): Promise<readonly string[]> {
    const [first = [], ...others] = await Promise.all(pool.pids().map(watchedBy));
    return first.filter((name) => others.every((names) => names.includes(name))).sort();
  }
  return {
    pool,
    watched,
    untilWatched: async (names, except = []) => {
      const expected = names
        .filter((name) => !except.includes(name))
        .sort()
        .join();
      await until(
        async () => (await watched()).filter((name) => !except.includes(name)).join() === expected,
        watchedSeconds,
        'the replicas do not watch the clusters of the table',
      );
    },
    starts: () => ({ started, watching: watching.size }),
    startInClusters: async (clusters) => {
      const running: Watchers[] = [];
      const stop = async () => await forEachConcurrently(inClustersAtOnce, running, (watcher) => watcher.stop());
      cleanup.defer(stop);
      await forEachConcurrently(inClustersAtOnce, clusters, async ({ name, server: { url, ...access } }) => {
        const kubeconfigFile = path.join(folder, `kubeconfig-${name}`);
        await writeKubeconfig(kubeconfigFile, url, access);
        let isWatching = false;
        const start = {
          file,
          environment: { ...memberEnvironment, ...environment, CLUSTER: name, KUBECONFIG: kubeconfigFile },
          onEvent: (event: WatcherEvent) => {
            if (event.type === 'watching') isWatching = true;
            if (event.type === 'line') onLine(event.text);
          },
        };
        running.push(startWatchers(start, 1));
        await until(() => isWatching, watchedSeconds, `the watcher in ${name} does not watch`);
      });
      return stop;
    },
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
