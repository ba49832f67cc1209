// The watcher's loops in a statement's own process: what it forwards is on the queues, and can be waited for.

import { afterEach, expect, vi } from 'vitest';
import type { ControllerDefinition } from '../../src/api/definition.ts';
import type { Kind } from '../../src/api/kind.ts';
import { noCheckpoint } from '../../src/checkpoint/checkpoint.ts';
import { registry } from '../../src/controllers/registry.ts';
import type { Log } from '../../src/core/log.ts';
import { sleep, type Wait } from '../../src/core/time.ts';
import { createForwarder } from '../../src/forwarding/forwarder.ts';
import { createHealth } from '../../src/forwarding/health.ts';
import { createWatchLoop } from '../../src/forwarding/watch-loop.ts';
import { watchListOf } from '../../src/generate/watch-list.ts';
import type { KubeClient } from '../../src/kube/client/client.ts';
import type { Connection } from '../../src/kube/client/connection.ts';
import { createRestoreDetection } from '../../src/kube/watch/restore-detection.ts';
import { parseMessage } from '../../src/sqs/message.ts';
import type { Send } from '../../src/sqs/sender.ts';
import { type System, useSystem } from './harness.ts';

/** A watcher that runs. */
export type Watch = {
  /** Bodies that SQS accepted from it so far, oldest first. */
  readonly forwarded: readonly string[];
  /** Whether every kind is watched. What is created before is in a list, and children in a list wake no owner here. */
  ready(): boolean;
  /** Resolves when it has forwarded more than it had at the last call. Rejects after 30 s of nothing. */
  next(): Promise<void>;
  /** Sends what was seen and waits because its key was sent a moment ago. */
  flush(): Promise<void>;
  stop(): Promise<void>;
};

/** The watcher's time runs faster than real time, because it waits a second before it sends a key that it has just sent. */
const timeScale = 20;
const watcherNow = () => Math.round(performance.now() * timeScale);
const watcherWait: Wait = async (seconds, signal) => await sleep(seconds / timeScale, signal);

const silent: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/**
 * Starts to watch one namespace; everything that is there is forwarded first.
 * @param options `controllers`: the controllers to watch for; the samples if absent
 */
export function startWatch(
  client: KubeClient,
  namespace: string,
  send: Send,
  { controllers = registry }: { readonly controllers?: readonly ControllerDefinition[] } = {},
): Watch {
  const ending = new AbortController();
  const forwarded: string[] = [];
  let noticed = 0;
  let notify = () => {};
  const noting: Send = async (queue, entries, options) => {
    const sent = await send(queue, entries, options);
    for (const [index, { body }] of entries.entries()) if (sent[index]?.accepted === true) forwarded.push(body);
    notify();
    return sent;
  };
  const surroundings = { log: silent, now: watcherNow, wait: watcherWait, random: Math.random };
  const forwarder = createForwarder({
    ...surroundings,
    send: noting,
    metrics: { accepted: () => {}, coalesced: () => {}, rejected: () => {}, rateLimited: () => {} },
    lowPriorityPerSecond: 100,
    signal: ending.signal,
  });
  const health = createHealth(watcherNow);
  const running = watchListOf(controllers).resources.map(async (resource) => {
    const parts = {
      ...surroundings,
      client,
      forwarder,
      checkpoint: noCheckpoint,
      health: health.loop(resource.plural),
      nonce: () => crypto.randomUUID(),
      restoreDetection: createRestoreDetection(),
      requeueOwners: () => {},
    };
    await createWatchLoop(parts, { resource, cluster: 'test', namespace }).run(ending.signal);
  });
  return {
    forwarded,
    ready: () => health.lastSeenAt() !== undefined,
    next: async () => {
      if (forwarded.length === noticed) {
        await new Promise<void>((resolve, reject) => {
          const over = AbortSignal.timeout(30_000);
          over.addEventListener('abort', () => reject(new Error('the watcher forwarded nothing for 30 s')));
          notify = resolve;
        });
      }
      noticed = forwarded.length;
    },
    flush: async () => void (await forwarder.drain({ signal: ending.signal })),
    stop: async () => {
      ending.abort();
      await Promise.allSettled(running);
    },
  };
}

/** A system with a watcher. */
export type WatchedSystem = {
  readonly system: System;
  /** The watcher. The first call in a test starts it. */
  watch(): Watch;
  /** Delivers, from one forwarded key to the next, until the condition holds. Starts the watcher. */
  until(holds: () => Promise<boolean>): Promise<void>;
  /** Forwards and delivers all events of an object, so that later keys come from new events. */
  seen(kind: Kind, name: string): Promise<void>;
};

/** Gives each test of a file a system, and a watcher as soon as it is used. */
export function useWatchedSystem(connect: () => Connection): WatchedSystem {
  const system = useSystem(connect);
  let current: Watch | undefined;
  afterEach(async () => {
    await current?.stop();
    current = undefined;
  });
  const watch = (): Watch => {
    current ??= startWatch(system.client, system.namespace, system.send);
    return current;
  };
  return {
    system,
    watch,
    until: async (holds) => {
      await vi.waitFor(() => expect(watch().ready()).toBe(true), { timeout: 30_000 });
      for (;;) {
        system.clock.ms = Math.max(system.clock.ms, Date.now());
        await system.deliver();
        if (await holds()) return;
        await watch().next();
      }
    },
    seen: async (kind, name) => {
      const { metadata } = await system.patch(kind, name, { metadata: { labels: { seen: 'yes' } } });
      const isForwarded = (body: string): boolean => {
        const { cause } = parseMessage(body);
        return cause.type === 'change' && cause.resourceVersion === metadata.resourceVersion;
      };
      while (!watch().forwarded.some(isForwarded)) await watch().next();
      await system.deliver();
    },
  };
}
