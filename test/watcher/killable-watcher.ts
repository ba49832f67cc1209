// A watcher inside the test process that can be killed, as with kill -9: from then on it sends nothing to the API
// server or the queues. It runs on a fake clock: waits take no time, and the idle timeout of a watch never ends.
import { randomUUID } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { createWatchCheckpoint } from '../../src/checkpoint/checkpoint.ts';
import type { Wait } from '../../src/core/time.ts';
import type { WatchList } from '../../src/core/watch-list.ts';
import { createForwarder } from '../../src/forwarding/forwarder.ts';
import { createHealth } from '../../src/forwarding/health.ts';
import type { RateLimit } from '../../src/forwarding/rate-limiter.ts';
import { createWatchLoops } from '../../src/forwarding/watch-loops.ts';
import { createClient, type KubeClient } from '../../src/kube/client/client.ts';
import { createRestoreDetection } from '../../src/kube/watch/restore-detection.ts';
import type { Send } from '../../src/sqs/sender.ts';
import { createRecorder } from '../support/recorder.ts';

/** A running watcher. */
export type KillableWatcher = {
  /** The low watermarks by plural. Kinds whose low watermark is unknown are missing. */
  accepted(): ReadonlyMap<string, string>;
  writeCheckpoint(): Promise<void>;
  /** Whether it started without the checkpoint because it could not be read: it has listed what exists. */
  ignoredCheckpoint(): boolean;
  kill(): void;
};

/** Waits from here on never end. The idle timeout of a watch is 70 s, less the moments since its last event. */
const idleTimeoutSeconds = 60;

/** Starts a watcher. */
export function startKillableWatcher({
  server,
  send,
  watchList,
  rateLimit,
}: {
  readonly server: URL;
  readonly send: Send;
  readonly watchList: WatchList;
  readonly rateLimit?: RateLimit | undefined;
}): KillableWatcher {
  const lifetime = new AbortController();
  const { signal } = lifetime;
  let nowMs = Date.parse('2026-11-21T12:00:00Z');
  const now = () => nowMs;
  const wait: Wait = async (seconds, until) => {
    const ends = AbortSignal.any([until, signal]);
    if (seconds >= idleTimeoutSeconds) await aborted(ends);
    nowMs += seconds * 1000;
    await turn(undefined, { signal: ends });
  };
  const liveClient = createClient({ server });
  const client: KubeClient = {
    ...liveClient,
    request: async (request) => {
      signal.throwIfAborted();
      const response = await liveClient.request(request);
      signal.throwIfAborted();
      return response;
    },
  };
  const { log, lines } = createRecorder();
  const random = () => 0.5;
  const checkpoint = createWatchCheckpoint({ client, log, now, wait: async (_, until) => await aborted(until) });
  const forwarder = createForwarder({
    log,
    now,
    wait,
    random,
    signal,
    lowPriorityPerSecond: 1000,
    rateLimit,
    send: async (queue, entries, options) => {
      if (signal.aborted) return await new Promise(() => undefined);
      return await send(queue, entries, options);
    },
    metrics: {
      accepted: () => checkpoint.sent(),
      coalesced: () => undefined,
      rejected: () => undefined,
      rateLimited: () => undefined,
    },
  });
  const health = createHealth(now);
  const restoreDetection = createRestoreDetection(checkpoint.verify);
  const deps = { client, forwarder, checkpoint, restoreDetection, log, now, wait, random, nonce: randomUUID, health };
  const loops = createWatchLoops(deps, watchList, { cluster: 'c' });
  const running = [
    ...loops.map(({ loop }) => loop.run(signal)),
    // Its waits never end: the test writes the checkpoint.
    checkpoint.run({ lastSeenAgeMs: () => 0, onRestored: restoreDetection.report, signal }),
  ];
  void Promise.all(running).finally(() => liveClient.close());
  return {
    accepted: () =>
      new Map(
        loops.flatMap(({ resource: { plural }, loop }) => {
          const version = loop.lowWatermark();
          return version === undefined ? [] : [[plural, version] as const];
        }),
      ),
    writeCheckpoint: async () => {
      if (!signal.aborted) await checkpoint.flush();
    },
    ignoredCheckpoint: () => lines.some(({ message }) => message.startsWith('watch checkpoint ignored')),
    kill: () => lifetime.abort(),
  };
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
