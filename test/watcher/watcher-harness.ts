// A world for watchers that die: pots, which a controller `dish` reconciles, and lids, which it owns, on an embedded API server of
// their own; queues that accept, stall or refuse as they are told and remember what they accepted when. Pots are ConfigMaps,
// so that the cursor's own object is among what is watched.
import { setImmediate as turn } from 'node:timers/promises';
import { existingKind } from '../../src/core/kind.ts';
import type { WatchList } from '../../src/core/watch-list.ts';
import {
  controllerLabel,
  controllerQueue,
  cursorName,
  ownerAnnotation,
  systemNamespace,
  timersQueue,
} from '../../src/core/names.ts';
import { applyObject } from '../../src/kube/apply/apply.ts';
import { createClient } from '../../src/kube/client/client.ts';
import { isNotFound } from '../../src/kube/client/errors.ts';
import type { KubeObject } from '../../src/kube/client/object.ts';
import { objectPath } from '../../src/kube/client/path.ts';
import { getObject } from '../../src/kube/client/read.ts';
import { type ApiServer, startApiServer } from '../../src/apiserver/server.ts';
import { parseMessage } from '../../src/queue/message.ts';
import type { Send } from '../../src/sqs/sender.ts';
import type { Pace } from '../../src/runtime/token-bucket.ts';
import { type ChaosProxy, startChaosProxy } from '../chaos/chaos-proxy.ts';
import type { StreamFault } from '../../tools/chaos/streams.ts';
import { type MortalWatcher, startMortalWatcher } from './killable-watcher.ts';

const pots = existingKind<object>({ group: '', version: 'v1', kind: 'ConfigMap' });
const lids = existingKind<object>({ group: '', version: 'v1', kind: 'Secret' });
const namespaces = existingKind<object>({ group: '', version: 'v1', kind: 'Namespace', scope: 'Cluster' });
const collection = ({ group, version, plural, kind, namespaced }: typeof pots) => ({
  ...{ group, version, plural, kind, namespaced },
});
const primary = collection(pots);
const watchList: WatchList = {
  version: 1,
  resources: [
    { ...primary, subscribers: [{ controller: 'dish', as: 'primary', primary, predicate: 'resourceVersion' }] },
    { ...collection(lids), subscribers: [{ controller: 'dish', as: 'owned', primary, predicate: 'any' }] },
  ],
};

/** What SQS does with what it is sent. */
type Mood = 'accept' | 'stall' | 'refuse';

/** Something happened to a pot or its lid, so that the pot's key must be accepted after `order`. */
type Change = { readonly pot: string; readonly order: number };

/** How a request goes wrong: the server says so, never hears of it, or is not heard. */
export type Trouble =
  | 'reset'
  | 'swallow'
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>> };

const statusText = (code: number) => JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code });

export type Kitchen = Awaited<ReturnType<typeof openKitchen>>;

/** Opens a kitchen; the caller closes it. */
export async function openKitchen() {
  const server: ApiServer = await startApiServer();
  // What breaks between a watcher and the server breaks here; users have a way of their own.
  const proxy: ChaosProxy = await startChaosProxy({ url: server.url });
  const client = createClient({ server: new URL(server.url) });
  const apply = async (kind: typeof pots, object: KubeObject) =>
    await applyObject(client, kind, object, { fieldManager: 'user' });
  await apply(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: systemNamespace } });
  const cursor = { name: cursorName, namespace: systemNamespace };
  await apply(pots, { apiVersion: 'v1', kind: 'ConfigMap', metadata: cursor });

  let order = 0;
  const changes: Change[] = [];
  const acceptances: { readonly queue: string; readonly pot: string; readonly order: number }[] = [];
  const running = new Set<MortalWatcher>();
  let mood: Mood = 'accept';
  let moodChanged = Promise.withResolvers<void>();
  const send: Send = async (queue, entries) => {
    while (mood === 'stall') await moodChanged.promise;
    if (mood === 'refuse') return entries.map(() => ({ accepted: false, reason: 'refused' }));
    for (const { body } of entries) {
      order += 1;
      acceptances.push({ queue, pot: parseMessage(body).name, order });
    }
    return entries.map(() => ({ accepted: true, messageId: 'm' }));
  };
  const happens = (pot: string) => {
    order += 1;
    changes.push({ pot, order });
  };
  const ownerOf = async (lid: string): Promise<string | undefined> =>
    (await getObject(client, lids, { namespace: 'default', name: lid }))?.metadata.annotations?.[
      ownerAnnotation
    ]?.split('/')[1];
  const isThere = async (pot: string) =>
    (await getObject(client, pots, { namespace: 'default', name: pot })) !== undefined;
  const remove = async (kind: typeof pots, name: string) => {
    try {
      await client.request({ method: 'DELETE', path: objectPath(kind, { namespace: 'default', name }) });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  };
  const putPot = async (name: string) => {
    happens(name);
    return await apply(pots, {
      ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' } },
      data: { order: `${order}` },
    });
  };
  const putLid = async (name: string, owner: string) => {
    const before = await ownerOf(name);
    for (const pot of new Set([before ?? owner, owner])) happens(pot);
    const metadata = {
      ...{ name, namespace: 'default' },
      labels: { [controllerLabel]: 'dish' },
      annotations: { [ownerAnnotation]: `default/${owner}`, order: `${order}` },
    };
    return await apply(lids, { apiVersion: 'v1', kind: 'Secret', metadata });
  };
  const start = (pace?: Pace) => {
    const watcher = startMortalWatcher({ server: new URL(proxy.url), send, watchList, pace });
    running.add(watcher);
    return watcher;
  };
  const kill = (watcher: MortalWatcher) => {
    watcher.kill();
    running.delete(watcher);
  };

  return {
    server,
    client,
    putPot,
    putLid,
    start,
    kill,
    removePot: async (name: string) => {
      if (await isThere(name)) happens(name);
      await remove(pots, name);
    },
    removeLid: async (name: string) => {
      const owner = await ownerOf(name);
      if (owner !== undefined) happens(owner);
      await remove(lids, name);
    },
    sqs: (now: Mood) => {
      mood = now;
      moodChanged.resolve();
      moodChanged = Promise.withResolvers();
    },
    /** Does something to the watches that are open. */
    breakStreams: (fault: StreamFault) => void proxy.breakStreams(fault),
    /** Spoils the watchers' next requests, whatever they ask for. */
    spoil: (requests: number, how: Trouble) => {
      let left = requests;
      proxy.rule(() => {
        left -= 1;
        if (left < 0) return undefined;
        return typeof how === 'string' ? { type: how } : { type: 'answer', ...how, body: statusText(how.status) };
      });
    },
    /** Resolves when everything that has happened until now is accepted, by what this watcher knows. */
    caughtUp: async (watcher: MortalWatcher) => {
      const last = [await putPot('last'), await putLid('last', 'last')];
      const isPast = ([plural, { metadata }]: readonly [string, KubeObject]) =>
        Number(watcher.accepted().get(plural) ?? 0) >= Number(metadata.resourceVersion);
      const markers = last.map((object, index) => [index === 0 ? pots.plural : lids.plural, object] as const);
      while (!markers.every(isPast)) await turn();
    },
    /** Names of the pots whose keys SQS has accepted since the last call: of changes, and of what came in bulk. */
    accepted: (() => {
      let noticed = 0;
      return () => {
        const fresh = acceptances.slice(noticed).filter(({ pot }) => pot !== 'last');
        noticed = acceptances.length;
        const on = (name: string) =>
          [...new Set(fresh.filter(({ queue }) => queue === name).map(({ pot }) => pot))].sort();
        return { changes: on(controllerQueue('dish')), bulk: on(timersQueue) };
      };
    })(),
    /** Changes after which no key of their pot was accepted. `ofGone`: also of pots that are not there any more. */
    lost: async ({ ofGone }: { readonly ofGone: boolean }): Promise<readonly Change[]> => {
      const last = new Map(acceptances.map(({ pot, order: at }) => [pot, at]));
      const open = changes.filter(({ pot, order: at }) => (last.get(pot) ?? 0) < at);
      if (ofGone) return open;
      const there = await Promise.all(open.map(async ({ pot }) => await isThere(pot)));
      return open.filter((_, index) => there[index] === true);
    },
    close: async () => {
      for (const watcher of running) watcher.kill();
      moodChanged.resolve();
      client.close();
      await proxy.close();
      await server.close();
    },
  };
}
