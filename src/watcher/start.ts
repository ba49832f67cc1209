// The watcher, put together: one loop for each collection of the watch list, one forwarder for all, probes beside them.
import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { Log } from '../core/context.ts';
import type { WatchList } from '../core/watch-list.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { waitReally } from '../core/time.ts';
import type { Send } from '../sqs/sender.ts';
import { createForwarder } from '../runtime/forwarder.ts';
import type { Pace } from '../runtime/token-bucket.ts';
import { steadyNow } from './clock.ts';
import type { Cursor } from './cursor.ts';
import { createHealth, type Health } from './health.ts';
import { type ProbeServer, serveProbes } from './http.ts';
import { createLoops, kindOf } from './loops.ts';
import { createMetrics } from './metrics.ts';

/** What a watcher is made of. */
export type WatcherParts = {
  readonly watchList: WatchList;
  readonly client: KubeClient;
  readonly send: Send;
  readonly cursor: Cursor;
  readonly log: Log;
};

/** Where and how it runs. */
export type WatcherOptions = {
  /** This cluster's name in the clusters table. */
  readonly cluster: string;
  readonly namespace?: string | undefined;
  /** Tells its queues from others, for the cursor. */
  readonly queues?: string | undefined;
  readonly bulkPerSecond: number;
  /** Of each controller's changes; absent: none. */
  readonly pace?: Pace | undefined;
  /** Absent: every address. */
  readonly host: string | undefined;
  readonly port: number;
};

/** A watcher that runs. */
export type Watcher = {
  readonly port: number;
  readonly health: Health;
  /** Stops watching, sends what waits, writes the cursor. Resolves with the number of keys that could not be sent. */
  stop(options: { readonly drainSeconds: number }): Promise<number>;
};

/** How often readiness is looked at for the line that says so. */
const readySeconds = 0.1;

/** Starts a watcher. Rejects when its port cannot be had. */
export async function startWatcher(parts: WatcherParts, options: WatcherOptions): Promise<Watcher> {
  const { watchList, client, send, cursor, log } = parts;
  const { cluster, namespace, queues, bulkPerSecond, pace } = options;
  const now = steadyNow;
  const watching = new AbortController();
  const sending = new AbortController();
  const random = Math.random;
  const wait = waitReally;
  const metrics = createMetrics();
  const health = createHealth(now);
  const forwarder = createForwarder({
    ...{ send, log, now, wait, random, bulkPerSecond, pace, signal: sending.signal },
    // After all that this turn of the event loop has read: a chunk of a stream holds many frames.
    arrived: async () => await setImmediate(),
    meter: {
      ...metrics.meter,
      accepted: (...message) => {
        metrics.meter.accepted(...message);
        cursor.sent();
      },
    },
  });
  const loops = createLoops(
    { client, forwarder, cursor, health, log, now, wait, random, nonce: randomUUID },
    watchList,
    { cluster, namespace, queues },
  );
  metrics.observe({
    health,
    waiting: forwarder.waiting,
    objects: () => [...loops].map(([resource, loop]) => [kindOf(resource), loop.objects()] as const),
  });
  const server = await serveProbes({ health, metrics }, options);
  const running = [
    ...[...loops.values()].map((loop) => loop.run(watching.signal)),
    cursor.run({ framesAt: health.framesAt, signal: watching.signal }),
  ];
  void announce(server, health, log, watching.signal);

  return {
    port: server.port,
    health,
    stop: async ({ drainSeconds }) => {
      watching.abort();
      await Promise.all(running);
      const left = await forwarder.drain({ signal: AbortSignal.timeout(drainSeconds * 1000) });
      await cursor.flush();
      sending.abort();
      client.close();
      await server.close();
      return left;
    },
  };
}

/** Says once that everything is being watched. */
async function announce({ port }: ProbeServer, health: Health, log: Log, signal: AbortSignal): Promise<void> {
  while (!health.ready()) {
    if (signal.aborted) return;
    await waitReally(readySeconds, signal).catch(() => undefined);
  }
  log.info('watching', { port, kinds: health.report().filter(({ served }) => served === true).length });
}
