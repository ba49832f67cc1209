// What the tests of a watch loop stand on: the embedded API server, somebody who writes to it, and a loop with a forwarder whose
// queue is a list.
import { afterEach, beforeEach } from 'vitest';
import { existingKind } from '../../src/core/kind.ts';
import type { Subscriber, WatchedResource } from '../../src/core/watch-list.ts';
import { controllerLabel, ownerAnnotation } from '../../src/core/names.ts';
import { applyObject } from '../../src/kube/apply/apply.ts';
import { createClient, type KubeClient } from '../../src/kube/client/client.ts';
import { objectPath } from '../../src/kube/client/path.ts';
import { listPages } from '../../src/kube/client/read.ts';
import { createRestoration } from '../../src/kube/restoration.ts';
import type { Wait } from '../../src/core/time.ts';
import { type ApiServer, startApiServer } from '../../src/apiserver/server.ts';
import { type Message, parseMessage } from '../../src/queue/message.ts';
import { createForwarder } from '../../src/runtime/forwarder.ts';
import { noCursor } from '../../src/watcher/cursor.ts';
import { createHealth } from '../../src/watcher/health.ts';
import { createWatchLoop } from '../../src/watcher/watch-loop.ts';
import { createWitness } from '../support/recorder.ts';

const configMap = existingKind<object>({ group: '', version: 'v1', kind: 'ConfigMap' });
const names = { group: '', version: 'v1', plural: 'configmaps', kind: 'ConfigMap', namespaced: true };
/** A kind that no server has. */
export const dish = { group: 'kitchen.test', version: 'v1', plural: 'dishes', kind: 'Dish', namespaced: true };
/** A subscriber for the kind itself. */
export const primary: Subscriber = { controller: 'pot', as: 'primary', primary: names, predicate: 'resourceVersion' };
const owned: Subscriber = { controller: 'dish', as: 'owned', primary: dish, predicate: 'any' };
/** ConfigMaps, as primaries. */
export const pots: WatchedResource = { ...names, subscribers: [primary] };
/** ConfigMaps, as children of dishes. */
export const parts: WatchedResource = { ...names, subscribers: [owned] };

/** Metadata of a child that our controller has made. */
export const childOf = (owner: string) => ({
  labels: { [controllerLabel]: 'dish' },
  annotations: { [ownerAnnotation]: `default/${owner}` },
});

/** Starts a server for each test of a file. */
export function watchLoopAround() {
  let server: ApiServer;
  let user: KubeClient;
  let over: AbortController;
  beforeEach(async () => {
    server = await startApiServer();
    user = createClient({ server: new URL(server.url) });
    over = new AbortController();
  });
  afterEach(async () => {
    over.abort();
    user.close();
    await server.close();
  });

  const put = async (name: string, value = '1', metadata: object = {}) =>
    await applyObject(
      user,
      configMap,
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default', ...metadata }, data: { value } },
      { fieldManager: 'user' },
    );
  const remove = async (name: string) =>
    await user.request({ method: 'DELETE', path: objectPath(configMap, { namespace: 'default', name }) });
  const versionNow = async () => {
    for await (const page of listPages(user, configMap)) return page.resourceVersion;
    throw new Error('no page');
  };
  /** Follows a resource with everything at hand that a test looks at. */
  function follow(
    resource: WatchedResource,
    { start, breakOnce = false }: { start?: string | (() => Promise<string>); breakOnce?: boolean } = {},
  ) {
    const sent: { readonly queue: string; readonly message: Message; readonly id: string | undefined }[] = [];
    const accepted: string[] = [];
    const dropped: string[] = [];
    const swept: string[] = [];
    const witness = createWitness();
    let refusing = false;
    let gate: PromiseWithResolvers<void> | undefined;
    let changed = Promise.withResolvers<void>();
    const tell = () => {
      changed.resolve();
      changed = Promise.withResolvers();
    };
    // Silence is never waited for, everything else only until a test says so.
    const waits: { readonly seconds: number; readonly end: () => void }[] = [];
    const wait: Wait = (seconds, signal) =>
      new Promise((resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason), { once: true });
        if (seconds < 70) waits.push({ seconds, end: resolve });
        tell();
      });
    const client = createClient({ server: new URL(server.url) });
    over.signal.addEventListener('abort', () => client.close());
    const gated: KubeClient = {
      ...client,
      stream: async (request) => {
        await gate?.promise;
        return await client.stream(request);
      },
      request: async (request) => {
        await gate?.promise;
        return await client.request(request);
      },
    };
    const health = createHealth(() => 0);
    const forwarder = createForwarder({
      send: async (queue, entries) => {
        if (refusing) return entries.map(() => ({ accepted: false, reason: 'away' }));
        sent.push(...entries.map(({ body, deduplicationId: id }) => ({ queue, message: parseMessage(body), id })));
        return entries.map(() => ({ accepted: true, messageId: '' }));
      },
      log: witness.log,
      meter: { accepted: tell, coalesced: tell, refused: tell, paced: tell },
      now: () => Date.now(),
      wait,
      random: () => 0.5,
      bulkPerSecond: 100,
      signal: over.signal,
    });
    let nonce = 0;
    const loop = createWatchLoop(
      {
        client: gated,
        forwarder,
        cursor: {
          ...noCursor,
          start: async () => (typeof start === 'function' ? await start() : start),
          accepted: (_, version) => {
            accepted.push(version);
            tell();
          },
          drop: (name) => void dropped.push(name),
        },
        health: health.loop('configmaps'),
        log: {
          ...witness.log,
          info: (...line) => {
            witness.log.info(...line);
            tell();
          },
        },
        now: () => Date.now(),
        wait,
        random: () => 0.5,
        nonce: () => {
          nonce += 1;
          if (breakOnce && nonce === 1) throw new Error('broken');
          return `${nonce}`;
        },
        restoration: createRestoration(),
        sweep: (controllers) => void swept.push(...controllers),
      },
      { resource, cluster: 'c' },
    );
    void loop.run(over.signal);
    const until = async (condition: () => boolean) => {
      while (!condition()) await changed.promise;
    };
    const on = (queue: string) => sent.filter((one) => one.queue === queue).map(({ message: { name } }) => name);
    const ids = (queue: string) => sent.filter((one) => one.queue === queue).map(({ id }) => id);
    return {
      ...{ loop, sent, accepted, dropped, swept, waits, health, on, ids, until },
      lists: () => witness.lines.filter(({ message }) => message === 'listed').map(({ fields }) => fields),
      refuse: (now: boolean) => {
        refusing = now;
      },
      /** Cuts the stream and lets nothing through, until `comeBack`. */
      goAway: () => {
        gate = Promise.withResolvers();
        server.breakStreams();
      },
      comeBack: () => {
        gate?.resolve();
        gate = undefined;
      },
      endWaits: () => {
        for (const { end } of waits.splice(0)) end();
      },
      caughtUpWith: async (version: string) => await until(() => Number(loop.accepted()) >= Number(version)),
    };
  }

  return {
    put,
    remove,
    versionNow,
    follow,
    expireWindow: () => server.expireWindow(),
    /** Ends the server. The one that `comeBack` starts in its place remembers nothing. */
    loseServer: async () => {
      const port = Number(new URL(server.url).port);
      await server.close();
      const comeBack = async () => {
        server = await startApiServer({ port });
      };
      return { comeBack };
    },
  };
}
