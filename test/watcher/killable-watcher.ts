// A watcher inside a test's own process that can be killed: from one moment to the next nothing of it reaches the API server or
// the queues any more, as after kill -9. Its clock is the test's: no wait takes time, silence is never waited for.
import { randomUUID } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import type { WatchList } from '../../src/core/watch-list.ts';
import { createClient, type KubeClient } from '../../src/kube/client/client.ts';
import type { Wait } from '../../src/core/time.ts';
import type { Send } from '../../src/sqs/sender.ts';
import { createForwarder } from '../../src/runtime/forwarder.ts';
import type { Pace } from '../../src/runtime/token-bucket.ts';
import { createCursor } from '../../src/watcher/cursor.ts';
import { createHealth } from '../../src/watcher/health.ts';
import { createLoops } from '../../src/watcher/loops.ts';
import { createWitness, type Witness } from '../support/recorder.ts';

/** A watcher that runs. */
export type MortalWatcher = {
  /** The versions up to which it knows everything to be accepted, by plural; what it does not know is missing. */
  accepted(): ReadonlyMap<string, string>;
  writeCursor(): Promise<void>;
  kill(): void;
  /** Resolves with its lines of `listed` once every kind was listed. */
  listed(): Promise<readonly object[]>;
  readonly lines: Witness['lines'];
};

/** No wait of a watcher that works is as long as a silence is. */
const silenceSeconds = 70;

/** Starts a watcher. */
export function startMortalWatcher({
  server,
  send,
  watchList,
  pace,
}: {
  readonly server: URL;
  readonly send: Send;
  readonly watchList: WatchList;
  readonly pace?: Pace | undefined;
}): MortalWatcher {
  const life = new AbortController();
  const { signal } = life;
  let nowMs = Date.parse('2026-11-21T12:00:00Z');
  const now = () => nowMs;
  const wait: Wait = async (seconds, until) => {
    const ends = AbortSignal.any([until, signal]);
    if (seconds >= silenceSeconds) await aborted(ends);
    nowMs += seconds * 1000;
    await turn(undefined, { signal: ends });
  };
  const alive = createClient({ server });
  const client: KubeClient = {
    ...alive,
    request: async (request) => {
      signal.throwIfAborted();
      const answer = await alive.request(request);
      signal.throwIfAborted();
      return answer;
    },
  };
  const { log, lines } = createWitness();
  const random = () => 0.5;
  const cursor = createCursor({ client, log, now, wait: async (_, until) => await aborted(until) });
  const forwarder = createForwarder({
    ...{ log, now, wait, random, signal, bulkPerSecond: 1000, pace },
    send: async (queue, entries, options) => {
      if (signal.aborted) return await new Promise(() => undefined);
      return await send(queue, entries, options);
    },
    meter: {
      accepted: () => cursor.sent(),
      coalesced: () => undefined,
      refused: () => undefined,
      paced: () => undefined,
    },
  });
  const parts = { client, forwarder, cursor, log, now, wait, random, nonce: randomUUID, health: createHealth(now) };
  const loops = createLoops(parts, watchList, { cluster: 'c' });
  const running = [...loops.values()].map((loop) => loop.run(signal));
  void Promise.all(running).finally(() => alive.close());
  const listed = () => lines.filter(({ message }) => message === 'listed').map(({ fields }) => fields);
  return {
    accepted: () =>
      new Map(
        [...loops].flatMap(([{ plural }, loop]) => {
          const version = loop.accepted();
          return version === undefined ? [] : [[plural, version] as const];
        }),
      ),
    writeCursor: async () => {
      if (!signal.aborted) await cursor.flush();
    },
    kill: () => life.abort(),
    listed: async () => {
      while (new Set(listed().map((line) => ('kind' in line ? line.kind : ''))).size < loops.size) await turn();
      return listed();
    },
    lines,
  };
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
