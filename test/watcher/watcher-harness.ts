// The harness of tests that kill watchers: an embedded API server with pots, which a controller `dish` reconciles, and
// lids, which it owns, and a fake SQS that accepts, stalls or rejects on demand and records what it accepted when. Pots
// are ConfigMaps and lids are Secrets, so the checkpoint's own ConfigMap is among the watched objects.

import { setImmediate as turn } from 'node:timers/promises';
import { type ApiServer, startApiServer } from '@outrigger/apiserver';
import type { Kind } from '../../src/api/kind.ts';
import { checkpointName, controllerLabel, ownerAnnotation, systemNamespace } from '../../src/core/names.ts';
import type { WatchList } from '../../src/core/watch-list.ts';
import type { RateLimit } from '../../src/forwarding/rate-limiter.ts';
import { applyObject } from '../../src/kube/apply/apply.ts';
import { createClient } from '../../src/kube/client/client.ts';
import { isNotFound } from '../../src/kube/client/errors.ts';
import type { KubeObject } from '../../src/kube/client/object.ts';
import { objectPath } from '../../src/kube/client/path.ts';
import { getObject } from '../../src/kube/client/read.ts';
import { ConfigMap, Namespace, Secret } from '../../src/kubernetes.ts';
import { parseMessage } from '../../src/sqs/message.ts';
import type { Send } from '../../src/sqs/sender.ts';
import { type ChaosProxy, startChaosProxy } from '../../tools/chaos/chaos-proxy.ts';
import type { StreamFault } from '../../tools/chaos/streams.ts';
import { type KillableWatcher, startKillableWatcher } from './killable-watcher.ts';

const collection = ({ group, version, plural, kind, namespaced }: Kind) => ({
  group,
  version,
  plural,
  kind,
  namespaced,
});
const primary = collection(ConfigMap);
const watchList: WatchList = {
  version: 1,
  resources: [
    { ...primary, subscribers: [{ controller: 'dish', as: 'primary', primary, predicate: 'resourceVersion' }] },
    { ...collection(Secret), subscribers: [{ controller: 'dish', as: 'owned', primary, predicate: 'any' }] },
  ],
};

/** How the fake SQS handles messages. */
type SqsMode = 'accept' | 'stall' | 'reject';

/** A change of a pot or its lid. The pot's key must be accepted after `order`. */
type Change = { readonly pot: string; readonly order: number };

/** How a request fails: the server does not receive it, its response is lost, or it responds with a status. */
export type WatcherFault =
  | 'reset'
  | 'drop-response'
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>> };

const statusText = (code: number) => JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code });

export type WatcherFixture = Awaited<ReturnType<typeof openWatcherFixture>>;

/** Opens a fixture; the caller closes it. */
export async function openWatcherFixture() {
  let server: ApiServer = await startApiServer();
  // Watchers connect through the proxy, which injects faults. The test's own client connects directly.
  const proxy: ChaosProxy = await startChaosProxy({ url: server.url });
  const client = createClient({ server: new URL(server.url) });
  const apply = async (kind: Kind, object: KubeObject) =>
    await applyObject(client, kind, object, { fieldManager: 'user' });
  const install = async () => {
    await apply(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: systemNamespace } });
    const checkpoint = { name: checkpointName, namespace: systemNamespace };
    await apply(ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata: checkpoint });
  };
  await install();

  let order = 0;
  const changes: Change[] = [];
  const acceptances: { readonly queue: string; readonly pot: string; readonly order: number }[] = [];
  const running = new Set<KillableWatcher>();
  let ignoredCheckpoint = false;
  let mode: SqsMode = 'accept';
  let modeChanged = Promise.withResolvers<void>();
  const send: Send = async (queue, entries) => {
    while (mode === 'stall') await modeChanged.promise;
    if (mode === 'reject') return entries.map(() => ({ accepted: false, reason: 'rejected' }));
    for (const { body } of entries) {
      order += 1;
      acceptances.push({ queue, pot: parseMessage(body).name, order });
    }
    return entries.map(() => ({ accepted: true, messageId: 'm' }));
  };
  const recordChange = (pot: string) => {
    order += 1;
    changes.push({ pot, order });
  };
  const ownerOf = async (lid: string): Promise<string | undefined> =>
    (await getObject(client, Secret, { namespace: 'default', name: lid }))?.metadata.annotations?.[
      ownerAnnotation
    ]?.split('/')[1];
  const exists = async (pot: string) =>
    (await getObject(client, ConfigMap, { namespace: 'default', name: pot })) !== undefined;
  const remove = async (kind: Kind, name: string) => {
    try {
      await client.request({ method: 'DELETE', path: objectPath(kind, { namespace: 'default', name }) });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  };
  const putPot = async (name: string) => {
    recordChange(name);
    return await apply(ConfigMap, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, namespace: 'default' },
      data: { order: `${order}` },
    });
  };
  const putLid = async (name: string, owner: string) => {
    const before = await ownerOf(name);
    for (const pot of new Set([before ?? owner, owner])) recordChange(pot);
    const metadata = {
      name,
      namespace: 'default',
      labels: { [controllerLabel]: 'dish' },
      annotations: { [ownerAnnotation]: `default/${owner}`, order: `${order}` },
    };
    return await apply(Secret, { apiVersion: 'v1', kind: 'Secret', metadata });
  };
  const start = (rateLimit?: RateLimit) => {
    const watcher = startKillableWatcher({ server: new URL(proxy.url), send, watchList, rateLimit });
    running.add(watcher);
    return watcher;
  };
  const kill = (watcher: KillableWatcher) => {
    watcher.kill();
    ignoredCheckpoint ||= watcher.ignoredCheckpoint();
    running.delete(watcher);
  };

  const failRequests = (requests: number, fault: WatcherFault) => {
    let left = requests;
    proxy.rule(() => {
      left -= 1;
      if (left < 0) return undefined;
      return typeof fault === 'string'
        ? { type: fault }
        : { type: 'respond', ...fault, body: statusText(fault.status) };
    });
  };
  return {
    get server() {
      return server;
    },
    client,
    /**
     * Replaces the server by one with other objects at the same address, whose versions are ahead: `create` creates
     * them before a watcher can connect. With `sameCluster`, it has the identity of the cluster before.
     */
    replaceServer: async (create: () => Promise<void>, { sameCluster = false } = {}) => {
      const identity = await getObject(client, Namespace, { name: 'kube-system' });
      failRequests(Number.POSITIVE_INFINITY, 'reset');
      const port = Number(new URL(server.url).port);
      await server.close();
      server = await startApiServer({ port });
      await install();
      await create();
      proxy.rule(({ url }) =>
        sameCluster && url.startsWith('/api/v1/namespaces/kube-system')
          ? { type: 'respond', status: 200, body: JSON.stringify(identity) }
          : undefined,
      );
    },
    putPot,
    putLid,
    start,
    kill,
    removePot: async (name: string) => {
      if (await exists(name)) recordChange(name);
      await remove(ConfigMap, name);
    },
    removeLid: async (name: string) => {
      const owner = await ownerOf(name);
      if (owner !== undefined) recordChange(owner);
      await remove(Secret, name);
    },
    sqs: (value: SqsMode) => {
      mode = value;
      modeChanged.resolve();
      modeChanged = Promise.withResolvers();
    },
    /** Injects a fault into the open watches. */
    breakStreams: (fault: StreamFault) => void proxy.breakStreams(fault),
    /** Makes the next requests of the watchers fail. */
    failRequests,
    /** Whether a watcher that was killed could not read the checkpoint, so it listed what exists. */
    ignoredCheckpoint: () => ignoredCheckpoint,
    /** Resolves when the low watermarks of this watcher include every change until now. */
    caughtUp: async (watcher: KillableWatcher) => {
      const last = [await putPot('last'), await putLid('last', 'last')];
      const isPast = ([plural, { metadata }]: readonly [string, KubeObject]) =>
        Number(watcher.accepted().get(plural) ?? 0) >= Number(metadata.resourceVersion);
      const markers = last.map((object, index) => [index === 0 ? ConfigMap.plural : Secret.plural, object] as const);
      while (!markers.every(isPast)) await turn();
    },
    /** Changes after which no key of their pot was accepted. `ofGone`: also of pots that were deleted. */
    lost: async ({ ofGone }: { readonly ofGone: boolean }): Promise<readonly Change[]> => {
      const last = new Map(acceptances.map(({ pot, order: at }) => [pot, at]));
      const open = changes.filter(({ pot, order: at }) => (last.get(pot) ?? 0) < at);
      if (ofGone) return open;
      const existing = await Promise.all(open.map(async ({ pot }) => await exists(pot)));
      return open.filter((_, index) => existing[index] === true);
    },
    close: async () => {
      for (const watcher of running) watcher.kill();
      modeChanged.resolve();
      client.close();
      await proxy.close();
      await server.close();
    },
  };
}
