// The two followers of f1. Each runs in a process of its own, started with --expose-gc, and prints what it came to.
import { KubeConfig, type KubernetesObject, makeInformer } from '@kubernetes/client-node';
import * as z from 'zod';
import type { Log } from '../../src/core/context.ts';
import type { WatchedResource } from '../../src/core/watch-list.ts';
import { createClient } from '../../src/kube/client.ts';
import { waitReally } from '../../src/kube/wait.ts';
import { createForwarder } from '../../src/runtime/forwarder.ts';
import { noCursor } from '../../src/watcher/cursor.ts';
import { createHealth } from '../../src/watcher/health.ts';
import { createWatchLoop } from '../../src/watcher/watch-loop.ts';

const group = 'bench.example.com';
const version = 'v1';
/** Enough for all code to have run. */
const warmCount = 1_000;
const drainMilliseconds = 120_000;

/** What a follower keeps: how many objects it knows, and how many keys still wait to be sent. */
type Kept = { readonly objects: () => number; readonly waiting: () => number };

/** Follows with the watcher's loop, store and forwarder; the queue accepts everything. */
export async function followWithOurs(url: string, count: number): Promise<void> {
  const client = createClient({ server: new URL(url) });
  const { signal } = new AbortController();
  const now = () => performance.timeOrigin + performance.now();
  const nothing = () => undefined;
  const log: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing };
  const forwarder = createForwarder({
    send: async (_, entries) => entries.map(() => ({ accepted: true, messageId: '' })),
    meter: { accepted: nothing, coalesced: nothing, refused: nothing },
    ...{ log, now, wait: waitReally, random: Math.random, bulkPerSecond: 1_000, signal },
  });
  const health = createHealth(now);
  await compare(count, async (size) => {
    const resource = things(size);
    const listed = Promise.withResolvers<void>();
    const loop = createWatchLoop(
      {
        ...{ client, forwarder, cursor: noCursor, now, wait: waitReally, random: Math.random },
        health: health.loop(resource.plural),
        log: { ...log, info: (message) => message === 'listed' && listed.resolve() },
        nonce: () => `bench-${size}`,
        sweep: nothing,
      },
      { resource, cluster: 'bench' },
    );
    void loop.run(signal);
    await listed.promise;
    await forwarder.drain({ signal: AbortSignal.timeout(drainMilliseconds) });
    return { objects: loop.objects, waiting: forwarder.waiting };
  });
}

/** Follows with the official client's informer, which lists in pages of the same size. */
export async function followWithInformer(url: string, count: number): Promise<void> {
  const config = new KubeConfig();
  config.loadFromClusterAndUser({ name: 'bench', server: url, skipTLSVerify: true }, { name: 'bench' });
  await compare(count, async (size) => {
    const path = `/apis/${group}/${version}/${things(size).plural}`;
    const informer = makeInformer(config, path, async () => await listAll(`${url}${path}`));
    await informer.start();
    return { objects: () => informer.list().length, waiting: () => 0 };
  });
}

/** Follows a small collection, then the one to be measured; prints how much heap that one is. */
async function compare(count: number, follow: (size: number) => Promise<Kept>): Promise<void> {
  const small = await follow(warmCount);
  const before = await heapBytes();
  const large = await follow(count);
  const after = await heapBytes();
  const kept = small.waiting() + large.waiting();
  process.stdout.write(JSON.stringify({ bytes: after - before, objects: large.objects(), kept }), () =>
    process.exit(0),
  );
}

/** Heap in use once nothing more can be collected: weak references and finalizers take more than one round. */
async function heapBytes(): Promise<number> {
  for (let round = 0; round < 5; round += 1) {
    await waitReally(0.05, new AbortController().signal);
    globalThis.gc?.();
  }
  return process.memoryUsage().heapUsed;
}

const page = z.object({
  metadata: z.object({ resourceVersion: z.string(), continue: z.string().optional() }),
  items: z.array(z.custom<KubernetesObject>((item) => typeof item === 'object' && item !== null)),
});

async function listAll(url: string) {
  const items: KubernetesObject[] = [];
  let token = '';
  for (;;) {
    const answer = await fetch(`${url}?limit=500${token === '' ? '' : `&continue=${token}`}`);
    const { metadata, items: more } = page.parse(await answer.json());
    items.push(...more);
    token = metadata.continue ?? '';
    if (token === '') return { apiVersion: `${group}/${version}`, kind: 'ThingList', metadata, items };
  }
}

/** A kind that one controller reconciles and another owns: as much as has to be kept of any. */
function things(size: number): WatchedResource {
  const thing = { group, version, plural: `things${size}`, kind: 'Thing', namespaced: true };
  const order = { group, version, plural: 'orders', kind: 'Order', namespaced: true };
  return {
    ...thing,
    subscribers: [
      { controller: 'thing', as: 'primary', primary: thing, predicate: 'generation' },
      { controller: 'order', as: 'owned', primary: order, predicate: 'any' },
    ],
  };
}
