// A watcher of one cluster: the watcher itself, and its probes and metrics over HTTP.
import type { Health } from '../forwarding/health.ts';
import {
  type ClusterWatcher,
  type ClusterWatcherDeps,
  type ClusterWatcherOptions,
  startClusterWatcher,
  type Watching,
} from './cluster-watcher.ts';
import { serveProbes } from './http.ts';
import { createMetrics } from './metrics.ts';

/** Options of a watcher. */
export type WatcherOptions = ClusterWatcherOptions & {
  /** The address of the probes; absent: all addresses. */
  readonly host: string | undefined;
  readonly port: number;
};

/** A running watcher. */
export type Watcher = {
  readonly port: number;
  readonly health: Health;
  /**
   * Stops watching, sends queued keys, writes the watch checkpoint. Resolves with the number of keys that were not
   * sent.
   */
  stop(options: { readonly drainSeconds: number }): Promise<number>;
};

/** Starts a watcher. Rejects if its port is not available. */
export async function startWatcher(
  {
    hasQueues = () => true,
    ...deps
  }: Omit<ClusterWatcherDeps, 'metrics' | 'onWatching'> & {
    /** Whether SQS has let this process send. Until then it is not ready. */
    readonly hasQueues?: () => boolean;
  },
  { host, port, ...options }: WatcherOptions,
): Promise<Watcher> {
  const metrics = createMetrics();
  let watcher: ClusterWatcher | undefined;
  const probes = {
    alive: () => watcher?.health.alive() ?? true,
    ready: () => hasQueues() && (watcher?.health.ready() ?? false),
    report: () => ({ kinds: watcher?.health.report() ?? [] }),
  };
  const server = await serveProbes({ probes, metrics }, { host, port });
  const onWatching = (watching: Watching) => deps.log.info('watching', { port: server.port, ...watching });
  const started = startClusterWatcher({ ...deps, metrics: metrics.of(options.cluster), onWatching }, options);
  watcher = started;
  return {
    port: server.port,
    health: started.health,
    stop: async (drain) => {
      const left = await started.stop(drain);
      await server.close();
      return left;
    },
  };
}
