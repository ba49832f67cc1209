// Assembles the watcher of one cluster: one watch loop for each collection of the watch list, one forwarder for all of
// them, the watch checkpoint and the health. Nothing in it is shared with the watcher of another cluster, except the
// function that sends to SQS. The way of a change starts in forwarding/watch-loop.ts.
import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { WatchCheckpoint } from '../checkpoint/checkpoint.ts';
import { unlessAborted } from '../core/async.ts';
import { toError } from '../core/errors.ts';
import { collectionName } from '../core/key.ts';
import type { Log } from '../core/log.ts';
import { monotonicNow, sleep } from '../core/time.ts';
import type { WatchList } from '../core/watch-list.ts';
import { createForwarder } from '../forwarding/forwarder.ts';
import { createHealth, type Health } from '../forwarding/health.ts';
import type { RateLimit } from '../forwarding/rate-limiter.ts';
import { createWatchLoops } from '../forwarding/watch-loops.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { createRestoreDetection } from '../kube/watch/restore-detection.ts';
import type { Send } from '../sqs/sender.ts';
import type { ClusterMetrics } from './metrics.ts';

/** The dependencies of the watcher of one cluster. */
export type ClusterWatcherDeps = {
  readonly watchList: WatchList;
  readonly client: KubeClient;
  readonly send: Send;
  readonly checkpoint: WatchCheckpoint;
  readonly metrics: ClusterMetrics;
  readonly log: Log;
  /** Converts a time of `monotonicNow` to the clock of SQS. Default: they are the same. */
  readonly toSqsTime?: (at: number) => number;
  /** Called once, when every served kind is watched. */
  readonly onWatching: (watching: Watching) => void;
};

/** The number of watched kinds, and the kinds that the API server does not serve yet. */
export type Watching = { readonly kinds: number; readonly notServed?: readonly string[] };

/** Options of the watcher of one cluster. */
export type ClusterWatcherOptions = {
  /** The cluster's name in the clusters table. */
  readonly cluster: string;
  /** The only namespaces to watch. Absent: those of the watch list, or all. */
  readonly namespaces?: readonly string[] | undefined;
  /** Identifies the queues in the watch checkpoint. */
  readonly queues?: string | undefined;
  /** Low-priority keys a second for each controller. */
  readonly lowPriorityPerSecond: number;
  /** The rate limit for the changes of each controller; absent: no limit. */
  readonly rateLimit?: RateLimit | undefined;
};

/** A running watcher of one cluster. */
export type ClusterWatcher = {
  readonly health: Health;
  /**
   * Stops watching, sends queued keys, writes the watch checkpoint, closes the client. Resolves with the number of keys
   * that were not sent. `drainSeconds` bounds the first two. A watch that does not end is left behind with closed
   * connections, so that another watcher can take its place.
   */
  stop(options: { readonly drainSeconds: number }): Promise<number>;
};

/** The time that a watch has to end. It does so at once, unless a request ignores its signal. */
const endSeconds = 2;
/** How soon the watch checkpoint says that a watch fails, and that it does not any more. */
const newsMilliseconds = 1_000;
/** How often readiness is checked until every kind is watched. */
const readySeconds = 0.1;

/** Starts the watcher of one cluster. An API server that does not respond is not an error: the loops retry. */
export function startClusterWatcher(deps: ClusterWatcherDeps, options: ClusterWatcherOptions): ClusterWatcher {
  const { watchList, client, send, checkpoint, metrics, log } = deps;
  const { cluster, namespaces, queues, lowPriorityPerSecond, rateLimit } = options;
  const now = monotonicNow;
  const watching = new AbortController();
  const sending = new AbortController();
  const random = Math.random;
  const wait = sleep;
  let isNewsDue = false;
  /** Whether the checkpoint says that a watch fails. */
  let isFailingWritten = false;
  const health = createHealth(now, () => {
    if (isNewsDue) return;
    isNewsDue = true;
    setTimeout(() => {
      isNewsDue = false;
      const isFailing = health.failingMs() !== undefined;
      // Of many watches that are cut at once, the first to fail and the last to open are news. As installed, a cluster
      // has no watcher yet.
      if (watching.signal.aborted || isFailing === isFailingWritten || health.lastSeenAt() === undefined) return;
      isFailingWritten = isFailing;
      void checkpoint.flush();
    }, newsMilliseconds).unref();
  });
  const forwarder = createForwarder({
    send,
    log,
    now,
    wait,
    random,
    lowPriorityPerSecond,
    rateLimit,
    signal: sending.signal,
    rateLimits: watchList.rateLimits,
    toSqsTime: deps.toSqsTime,
    clusterUid: checkpoint.clusterUid,
    // After everything that this turn of the event loop has read: one chunk of a stream contains many watch events.
    arrived: async () => await setImmediate(),
    metrics: {
      ...metrics.forward,
      accepted: (...message) => {
        metrics.forward.accepted(...message);
        checkpoint.sent();
      },
    },
  });
  const restoreDetection = createRestoreDetection(checkpoint.verify);
  const loops = createWatchLoops(
    { client, forwarder, checkpoint, restoreDetection, health, log, now, wait, random, nonce: randomUUID },
    watchList,
    { cluster, namespaces, queues },
  );
  metrics.observe({
    health,
    queueDepth: forwarder.queueDepth,
    objects: () => objectsByKind(loops),
  });
  const running = [
    ...loops.map(({ loop }) => loop.run(watching.signal)),
    checkpoint.run({
      lastSeenAgeMs: () => ageOf(health.lastSeenAt(), forwarder.refusedSince()),
      failingMs: () => {
        const failingMs = health.failingMs();
        isFailingWritten = failingMs !== undefined;
        return failingMs;
      },
      onRestored: restoreDetection.report,
      signal: watching.signal,
    }),
  ];
  void reportWhenReady(health, deps.onWatching, watching.signal);

  return {
    health,
    stop: async ({ drainSeconds }) => {
      const deadline = AbortSignal.timeout(drainSeconds * 1000);
      watching.abort();
      const ended = unlessAborted(Promise.all(running), AbortSignal.timeout(endSeconds * 1000));
      await ended.catch((thrown: unknown) => log.error('watch did not end', { error: toError(thrown).message }));
      const left = await forwarder.drain({ signal: deadline });
      await checkpoint.flush();
      sending.abort();
      client.close();
      metrics.remove();
      return left;
    },
  };
}

/**
 * Returns how long ago every kind had an event while no queue refused its keys: a watcher that cannot send is down too.
 * By the monotonic clock, because the system clock may be wrong, or be set meanwhile.
 */
function ageOf(seenAt: number | undefined, refusedSince = Number.POSITIVE_INFINITY): number | undefined {
  return seenAt === undefined ? undefined : monotonicNow() - Math.min(seenAt, refusedSince);
}

/** Counts the known objects of each kind, in all namespaces. */
function objectsByKind(loops: ReturnType<typeof createWatchLoops>): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { resource, loop } of loops) {
    const kind = collectionName(resource);
    counts.set(kind, (counts.get(kind) ?? 0) + loop.objects());
  }
  return counts;
}

async function reportWhenReady(
  health: Health,
  onWatching: ClusterWatcherDeps['onWatching'],
  signal: AbortSignal,
): Promise<void> {
  while (!health.ready()) {
    if (signal.aborted) return;
    await sleep(readySeconds, signal).catch(() => undefined);
  }
  const kinds = health.report();
  const notServed = kinds.filter(({ served }) => served === false).map(({ kind }) => kind);
  // Of a kind that is watched in some namespaces, each is `kind/namespace`.
  const served = new Set(kinds.filter((one) => one.served !== false).map(({ kind }) => kind.split('/')[0]));
  onWatching({ kinds: served.size, ...(notServed.length === 0 ? {} : { notServed }) });
}
