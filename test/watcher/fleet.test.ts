// The fleet watcher on several embedded API servers: it follows the clusters table, and a cluster that is down or wrong
// changes nothing for the others. What is asserted is what a fake SQS accepted, and what the probes report.
import { createServer } from 'node:http';
import { type ApiServer, startApiServer } from '@outrigger/apiserver';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createWatchCheckpoint, noCheckpoint } from '../../src/checkpoint/checkpoint.ts';
import { readCheckpoint, writeCheckpoint } from '../../src/checkpoint/config-map.ts';
import { entryNameOf, formatCheckpoint } from '../../src/checkpoint/document.ts';
import { createClusters } from '../../src/clusters/connect.ts';
import { createClusterRegistry } from '../../src/clusters/registry/registry.ts';
import { checkpointName, systemNamespace } from '../../src/core/names.ts';
import { monotonicNow, sleep, type Wait } from '../../src/core/time.ts';
import type { WatchList } from '../../src/core/watch-list.ts';
import { createHealth } from '../../src/forwarding/health.ts';
import { applyObject } from '../../src/kube/apply/apply.ts';
import { createClient, type KubeClient } from '../../src/kube/client/client.ts';
import { readClusterUid } from '../../src/kube/client/cluster-uid.ts';
import { createListLimiter } from '../../src/kube/client/limit-lists.ts';
import type { KubeObject } from '../../src/kube/client/object.ts';
import { ConfigMap, Namespace } from '../../src/kubernetes.ts';
import { parseMessage } from '../../src/sqs/message.ts';
import type { Send } from '../../src/sqs/sender.ts';
import { startClusterWatcher } from '../../src/watcher/cluster-watcher.ts';
import { createFleet, type Fleet, tableRefreshSeconds } from '../../src/watcher/fleet.ts';
import { createMetrics } from '../../src/watcher/metrics.ts';
import { listenOnLoopback } from '../support/listen.ts';
import { createRecorder } from '../support/recorder.ts';

const { group, version, plural, kind, namespaced } = ConfigMap;
const primary = { group, version, plural, kind, namespaced };
const watchList: WatchList = {
  version: 1,
  resources: [
    { ...primary, subscribers: [{ controller: 'dish', as: 'primary', primary, predicate: 'resourceVersion' }] },
  ],
};
const { log } = createRecorder();

let parts: AsyncDisposableStack;
let table: Map<string, object>;
/** What SQS accepted: `cluster/name`. */
let accepted: string[];

beforeEach(() => {
  parts = new AsyncDisposableStack();
  table = new Map();
  accepted = [];
});
afterEach(async () => await parts.disposeAsync());

const send: Send = async (_, entries) => {
  for (const { body } of entries) {
    const { cluster, name } = parseMessage(body);
    accepted.push(`${cluster}/${name}`);
  }
  return entries.map(() => ({ accepted: true, messageId: 'm' }));
};

type Cluster = {
  readonly server: ApiServer;
  readonly put: (name: string) => Promise<void>;
  /** Reads the text of the watch checkpoint. */
  readonly checkpoint: () => Promise<string>;
  /** Writes a checkpoint whose only entry, with this name, has the present version. */
  readonly writeFormer: (name: string) => Promise<void>;
};

/** Starts an API server with the checkpoint's ConfigMap. */
async function startCluster(): Promise<Cluster> {
  const server = await startApiServer();
  parts.defer(async () => await server.close());
  const client = createClient({ server: new URL(server.url) });
  parts.defer(() => client.close());
  const apply = async (
    kind: typeof ConfigMap | typeof Namespace,
    metadata: KubeObject['metadata'],
    more: object = {},
  ) =>
    await applyObject(client, kind, { apiVersion: 'v1', kind: kind.kind, metadata, ...more }, { fieldManager: 'user' });
  await apply(Namespace, { name: systemNamespace });
  await apply(ConfigMap, { name: checkpointName, namespace: systemNamespace });
  const put = async (name: string) =>
    void (await apply(ConfigMap, { name, namespace: 'default' }, { data: { at: `${Math.random()}` } }));
  return {
    server,
    put,
    checkpoint: async () => (await readCheckpoint(client))?.text ?? '',
    writeFormer: async (name) => {
      const [found, uid] = [await readCheckpoint(client), (await readClusterUid(client)) ?? ''];
      const write = async (text: string, resourceVersion: string) =>
        (await writeCheckpoint(client, { text, resourceVersion })).resourceVersion;
      const version = await write('', found?.resourceVersion ?? '');
      const entries = new Map([[name, { version, confirmedAtMs: Date.now() }]]);
      await write(formatCheckpoint({ cluster: uid, entries }), version);
    },
  };
}

const entryOf = ({ server }: Cluster) => ({ server: server.url, access: { type: 'none' } });

function start(
  name: string,
  client: KubeClient,
  metrics = createMetrics(),
  more: Partial<Parameters<typeof startClusterWatcher>[0]> = {},
) {
  return startClusterWatcher(
    {
      watchList,
      client,
      send,
      log,
      metrics: metrics.of(name),
      onWatching: () => undefined,
      checkpoint: createWatchCheckpoint({ client, log, now: monotonicNow, wait: sleep }, { writeSeconds: 0.1 }),
      ...more,
    },
    { cluster: name, queues: 'queues', lowPriorityPerSecond: 100 },
  );
}

function startFleet(): { readonly fleet: Fleet; readonly page: () => Promise<string>; stop(): Promise<void> } {
  const registry = createClusterRegistry(
    {
      refreshSeconds: 0,
      read: async () => ({ type: 'table', entries: new Map(table) }),
    },
    { now: () => new Date() },
  );
  const clusters = createClusters(registry, { now: () => new Date() });
  const metrics = createMetrics();
  const lists = createListLimiter();
  const fleet = createFleet(
    {
      list: registry.list,
      find: clusters.find,
      start: (name, client) => start(name, lists.limit(client), metrics),
      log,
      now: monotonicNow,
      wait: sleep,
      random: Math.random,
    },
    { followSeconds: 0.05 },
  );
  const following = new AbortController();
  const running = fleet.run(following.signal);
  let stopping: Promise<void> | undefined;
  const stop = async () => {
    stopping ??= (async () => {
      following.abort();
      await running;
      await fleet.stop({ drainSeconds: 1 });
      clusters.close();
    })();
    await stopping;
  };
  parts.defer(stop);
  return { fleet, page: metrics.page, stop };
}

const untilAccepted = async (...keys: readonly string[]) =>
  await expect.poll(() => accepted, { timeout: 20_000 }).toEqual(expect.arrayContaining([...keys]));
const untilReady = async (fleet: Fleet, ...names: readonly string[]) =>
  await expect.poll(() => readyClusters(fleet), { timeout: 20_000 }).toEqual(expect.arrayContaining([...names]));
function readyClusters(fleet: Fleet): readonly string[] {
  const { clusters } = fleet.probes.report() as { clusters: Record<string, { ready: boolean }> };
  return Object.entries(clusters).flatMap(([name, { ready }]) => (ready ? [name] : []));
}

it('a cluster that is added or paused is watched, and one that is removed or decommissioned is not, without a restart', async () => {
  const [one, two, three] = await Promise.all([startCluster(), startCluster(), startCluster()]);
  table.set('one', { ...entryOf(one), paused: true }).set('two', entryOf(two));
  const { fleet, page } = startFleet();
  await untilReady(fleet, 'one', 'two');

  table.set('three', entryOf(three)).delete('one');
  table.set('two', { ...entryOf(two), decommissioning: true });
  await expect.poll(() => readyClusters(fleet), { timeout: 20_000 }).toEqual(['three']);
  await Promise.all([one.put('a'), two.put('b')]);
  await three.put('c');
  await untilAccepted('three/c');
  expect(accepted.filter((key) => !key.startsWith('three/'))).toEqual([]);
  expect(await page()).not.toMatch(/outrigger_watcher_objects\{cluster="(one|two)"/);
});

it.each([
  ['under a second name as well', ['one', 'two']],
  ['under a new name', ['two']],
])('a cluster %s starts without a version, and every key is sent under that name', async (_, names) => {
  const cluster = await startCluster();
  await Promise.all([cluster.put('a'), cluster.put('b')]);
  table.set('one', entryOf(cluster));
  const { fleet } = startFleet();
  await untilAccepted('one/a', 'one/b');
  await untilReady(fleet, 'one');
  // A version is written only after SQS has accepted the keys before it.
  await expect
    .poll(async () => (await cluster.checkpoint()).includes('resourceVersion'), { timeout: 20_000 })
    .toBe(true);
  table = new Map(names.map((name) => [name, entryOf(cluster)]));
  await untilAccepted('two/a', 'two/b');
});

it('the clusters table is read at least once a minute, with any jitter', async () => {
  const [following, reads] = [new AbortController(), [] as number[]];
  let nowMs = 0;
  const read = async () => {
    reads.push(nowMs);
    return { type: 'table', entries: new Map() } as const;
  };
  const now = () => new Date(nowMs);
  const registry = createClusterRegistry({ refreshSeconds: tableRefreshSeconds, read }, { now, random: () => 1 });
  const wait = async (seconds: number) => {
    // The deadlines of reads, which end before.
    if (seconds < 16) return await new Promise<void>(() => undefined);
    nowMs += seconds * 1000;
    if (nowMs > 3_600_000) following.abort();
  };
  const find = async () => await Promise.reject(new Error('no cluster'));
  // The second look is just before a read of the longest period is due, and the third one as late as possible.
  const looks = [0.29, 0.29, 1];
  const random = () => {
    looks.push(looks.shift() ?? 0);
    return looks.at(-1) ?? 0;
  };
  const deps = { list: registry.list, find, start, log, now: () => nowMs, wait, random };
  await createFleet(deps).run(following.signal);
  const gaps = reads.slice(1).map((at, index) => at - (reads[index] ?? 0));
  expect(gaps.length).toBeGreaterThan(30);
  expect(Math.max(...gaps)).toBeLessThanOrEqual(60_000);
});

it('a watcher continues from the entries of version 0.1, which have no name of the cluster', async () => {
  const cluster = await startCluster();
  await cluster.put('before');
  const [resource] = watchList.resources;
  if (resource === undefined) return expect.unreachable('nothing is watched');
  await cluster.writeFormer(entryNameOf(resource, { queues: 'queues' }));
  await cluster.put('after');
  table.set('one', entryOf(cluster));
  const { fleet } = startFleet();
  await untilReady(fleet, 'one');
  await untilAccepted('one/after');
  expect(accepted).not.toContain('one/before');
});

it('a cluster that does not respond, and an entry that is wrong, change nothing for the others', async () => {
  const hole = createServer(() => undefined);
  const port = await listenOnLoopback(hole);
  const good = await startCluster();
  for (let number = 0; number < 20; number += 1) {
    table.set(`hole-${number}`, { server: `http://127.0.0.1:${port}`, access: { type: 'none' } });
  }
  table.set('wrong', { server: 'ftp://nowhere', access: { type: 'none' } }).set('good', entryOf(good));
  const { fleet } = startFleet();
  await untilReady(fleet, 'good');
  await good.put('a');
  await untilAccepted('good/a');
  expect(fleet.probes.ready()).toBe(true);
  expect(fleet.probes.report()).toMatchObject({ clusters: { wrong: { ready: false, error: expect.any(String) } } });
  // Otherwise the last write of each checkpoint would wait for its time limit.
  hole.close();
  hole.closeAllConnections();
});

it('the messages of a watcher have the uid of its cluster, and keep to the rate limit that their controller declares', async () => {
  const one = await startCluster();
  const [client, metrics, uids] = [createClient({ server: new URL(one.server.url) }), createMetrics(), new Set()];
  const watcher = start('one', client, metrics, {
    watchList: { ...watchList, rateLimits: { dish: { perSecond: 10, burst: 1 } } },
    send: async (queue, entries, options) => {
      for (const { body } of entries) uids.add(parseMessage(body).clusterUid);
      return await send(queue, entries, options);
    },
  });
  parts.defer(async () => void (await watcher.stop({ drainSeconds: 1 })));
  await expect.poll(watcher.health.ready).toBe(true);
  await Promise.all(['a', 'b', 'c'].map(one.put));
  await untilAccepted('one/a', 'one/b', 'one/c');
  expect(await metrics.page()).toMatch(/rate_limited_total\{cluster="one",controller="dish"\} [1-9]/);
  expect(uids).toEqual(new Set([await readClusterUid(client)]));
});

it('the watch checkpoint is written at its next time if a message was sent since the last write', async () => {
  const one = await startCluster();
  const [client, metrics] = [createClient({ server: new URL(one.server.url) }), createMetrics()];
  const waits: (() => void)[] = [];
  const wait: Wait = async (_, signal) =>
    await new Promise((resolve) => {
      waits.push(resolve);
      signal.addEventListener('abort', () => resolve());
    });
  const checkpoint = createWatchCheckpoint({ client, log, now: monotonicNow, wait });
  const watcher = start('one', client, metrics, { checkpoint });
  parts.defer(async () => void (await watcher.stop({ drainSeconds: 1 })));
  const written: string[] = [];
  for (const name of ['a', 'b']) {
    await one.put(name);
    await untilAccepted(`one/${name}`);
    await expect.poll(metrics.page).toMatch(/queue_depth\{cluster="one"\} 0/);
    waits.pop()?.();
    await expect.poll(() => waits).toHaveLength(1);
    written.push(await one.checkpoint());
  }
  expect(written[0]).toContain('resourceVersion');
  expect(written[1]).not.toBe(written[0]);
});

it('every key is sent again when a write of the watch checkpoint shows that the cluster was restored', async () => {
  const one = await startCluster();
  await one.put('a');
  const written = Promise.withResolvers<() => void>();
  const run = async ({ onRestored }: Parameters<typeof noCheckpoint.run>[0]) => written.resolve(onRestored);
  const client = createClient({ server: new URL(one.server.url) });
  const watcher = start('one', client, createMetrics(), { checkpoint: { ...noCheckpoint, run } });
  parts.defer(async () => void (await watcher.stop({ drainSeconds: 1 })));
  await untilAccepted('one/a');
  accepted = [];
  (await written.promise)();
  await untilAccepted('one/a');
});

it('a cluster whose entry becomes wrong stays watched, and one whose entry has another address is watched there', async () => {
  const [one, other] = await Promise.all([startCluster(), startCluster()]);
  table.set('a', entryOf(one));
  const { fleet } = startFleet();
  await untilReady(fleet, 'a');
  const error = () => (fleet.probes.report() as { clusters: { a: { error?: string } } }).clusters.a.error;
  table.set('a', { server: 'ftp://nowhere', access: { type: 'none' } });
  await expect.poll(error).toContain('cluster "a": server');
  await one.put('before');
  await untilAccepted('a/before');
  table.set('a', entryOf(other));
  await other.put('after');
  await untilAccepted('a/after');
  expect(error()).toBeUndefined();
});

it('a fleet is ready with an empty table or while one of its clusters is, and alive while it follows the table', async () => {
  const ready = new Set<string>();
  let [nowMs, names, next] = [0, [] as string[], Promise.withResolvers<void>()];
  const client = createClient({ server: new URL('http://127.0.0.1:1') });
  const { probes, run } = createFleet({
    list: async () => names,
    find: async () => ({ type: 'client', client }),
    start: (name) => ({ health: { ...createHealth(monotonicNow), ready: () => ready.has(name) }, stop: async () => 0 }),
    // Only the pause between two looks at the table ends.
    wait: async (seconds) => await (seconds < 16 ? new Promise<void>(() => undefined) : next.promise),
    log,
    now: () => nowMs,
    random: () => 0.5,
  });
  const following = new AbortController();
  parts.defer(() => following.abort());
  expect(probes.ready()).toBe(false);
  void run(following.signal);
  await expect.poll(probes.ready).toBe(true);
  names = ['one', 'two'];
  next.resolve();
  next = Promise.withResolvers();
  await expect.poll(probes.report).toMatchObject({ clusters: { one: { ready: false }, two: { ready: false } } });
  expect(probes.ready()).toBe(false);
  ready.add('two');
  expect(probes.ready()).toBe(true);
  nowMs = 200_000;
  expect(probes.alive()).toBe(true);
  nowMs = 200_001;
  expect(probes.alive()).toBe(false);
});

it.each([
  ['cannot be read', () => Promise.reject(new Error('the table is down')), 'the table is down'],
  ['is read without a response', () => new Promise<never>(() => undefined), 'no response within 15 s'],
])('while the table %s, its clusters stay watched, also one whose watcher died, and the error is reported', async (_, fails, error) => {
  let lists = 0;
  let [running, started] = [0, 0];
  const client = createClient({ server: new URL('http://127.0.0.1:1') });
  const fleet = createFleet(
    {
      list: async () => {
        lists += 1;
        return lists === 1 ? ['one'] : await fails();
      },
      find: async () => ({ type: 'client', client }),
      start: () => {
        running += 1;
        started += 1;
        const isFirst = started === 1;
        const stop = async () => {
          running -= 1;
          return 0;
        };
        return { health: { ...createHealth(monotonicNow), alive: () => !isFirst || lists < 2 }, stop };
      },
      log,
      now: monotonicNow,
      wait: async () => await sleep(0.01, new AbortController().signal),
      random: Math.random,
    },
    { followSeconds: 0.05 },
  );
  const following = new AbortController();
  void fleet.run(following.signal);
  parts.defer(() => following.abort());
  await expect.poll(() => [running, started]).toEqual([1, 2]);
  expect(fleet.probes.report()).toMatchObject({ table: { error } });
});

it('a fleet watcher takes over from a watcher of the cluster, and back, and sends nothing that was sent', async () => {
  const one = await startCluster();
  await Promise.all(Array.from({ length: 50 }, (_, number) => one.put(`object-${number}`)));
  const inCluster = start('one', createClient({ server: new URL(one.server.url) }));
  await expect.poll(() => new Set(accepted).size, { timeout: 20_000 }).toBeGreaterThanOrEqual(50);
  await inCluster.stop({ drainSeconds: 1 });

  const before = accepted.length;
  table.set('one', entryOf(one));
  const { fleet, stop } = startFleet();
  await untilReady(fleet, 'one');
  await one.put('from-fleet');
  await untilAccepted('one/from-fleet');
  await stop();
  const again = start('one', createClient({ server: new URL(one.server.url) }));
  parts.defer(async () => void (await again.stop({ drainSeconds: 1 })));
  await one.put('from-cluster');
  await untilAccepted('one/from-cluster');
  expect(accepted.slice(before)).toEqual(['one/from-fleet', 'one/from-cluster']);
});

it('a watcher whose watches do not end when they are stopped is stopped nevertheless', async () => {
  const cluster = await startCluster();
  const client = createClient({ server: new URL(cluster.server.url) });
  const never = () => new Promise<never>(() => undefined);
  const watcher = start('hung', { ...client, stream: never });
  expect(await watcher.stop({ drainSeconds: 1 })).toBe(0);
});
