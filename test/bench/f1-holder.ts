// One process that follows a collection, ours or the official client's informer, and prints the heap that it holds for it:
// after a garbage collection, less what was there before the first request. Started by f1-watcher-memory.ts.
import { CustomObjectsApi, KubeConfig, type KubernetesObject, makeInformer } from '@kubernetes/client-node';
import type { WatchedResource } from '../../src/core/watch-list.ts';
import { createClient } from '../../src/kube/client.ts';
import { createRestoration } from '../../src/kube/restoration.ts';
import { waitReally } from '../../src/kube/wait.ts';
import { createForwarder } from '../../src/runtime/forwarder.ts';
import { noCursor } from '../../src/watcher/cursor.ts';
import { createHealth } from '../../src/watcher/health.ts';
import { createWatchLoop } from '../../src/watcher/watch-loop.ts';
import { benchKind } from './metadata-server.ts';

const [who = '', url = '', wanted = '0'] = process.argv.slice(2);
const follow = who === 'ours' ? ours : peer;
const { start, objects } = follow();
const before = heap();
start();
while (objects() < Number(wanted)) await waitReally(0.2, new AbortController().signal);
process.stdout.write(`${heap() - before}\n`);
process.exit(0);

type Followed = { readonly start: () => void; readonly objects: () => number };

/** The watcher's loop, store and forwarder; a queue that accepts everything. The kind is a primary and owned, as costly as any. */
function ours(): Followed {
  const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  const now = () => Date.now();
  const { signal } = new AbortController();
  const loopParts = { log: silent, now, wait: waitReally, random: Math.random };
  const forwarder = createForwarder({
    ...loopParts,
    send: async (_, entries) => entries.map(() => ({ accepted: true, messageId: '' })),
    meter: { accepted: () => {}, coalesced: () => {}, refused: () => {}, paced: () => {} },
    bulkPerSecond: 1_000_000,
    signal,
  });
  const { group, version } = benchKind;
  const machine = { group, version, plural: 'machines', kind: 'Machine', namespaced: true };
  const resource: WatchedResource = {
    ...benchKind,
    subscribers: [
      { controller: 'parts', as: 'primary', primary: benchKind, predicate: 'generation' },
      { controller: 'maker', as: 'owned', primary: machine, predicate: 'any' },
    ],
  };
  const loop = createWatchLoop(
    {
      ...loopParts,
      client: createClient({ server: new URL(url) }),
      forwarder,
      cursor: noCursor,
      health: createHealth(now).loop('parts'),
      nonce: () => 'bench',
      restoration: createRestoration(),
      sweep: () => {},
    },
    { resource, cluster: 'bench' },
  );
  return {
    start: () => void loop.run(signal),
    objects: () => (forwarder.waiting() === 0 && loop.accepted() !== undefined ? loop.objects() : 0),
  };
}

/** The official client's informer over the same objects: it keeps what it is sent. */
function peer(): Followed {
  const config = new KubeConfig();
  config.loadFromOptions({
    clusters: [{ name: 'bench', server: url, skipTLSVerify: true }],
    users: [{ name: 'bench' }],
    contexts: [{ name: 'bench', cluster: 'bench', user: 'bench' }],
    currentContext: 'bench',
  });
  const api = config.makeApiClient(CustomObjectsApi);
  const { group, version, plural } = benchKind;
  const path = `/apis/${group}/${version}/${plural}`;
  const informer = makeInformer<KubernetesObject>(config, path, () =>
    api.listClusterCustomObject({ group, version, plural }),
  );
  return { start: () => void informer.start(), objects: () => informer.list().length };
}

function heap(): number {
  // Twice: what a first collection makes unreachable, a second one frees.
  globalThis.gc?.();
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}
