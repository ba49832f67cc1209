// The harness of the watch loop's tests: the embedded API server, a client that writes to it, and a loop with a
// forwarder whose queue is an array.

import { type ApiServer, startApiServer } from '@outrigger/apiserver';
import { afterEach, beforeEach } from 'vitest';
import { noCheckpoint } from '../../src/checkpoint/checkpoint.ts';
import { controllerLabel, ownerAnnotation } from '../../src/core/names.ts';
import type { Wait } from '../../src/core/time.ts';
import type { Subscriber, WatchedResource } from '../../src/core/watch-list.ts';
import { createForwarder } from '../../src/forwarding/forwarder.ts';
import { createHealth } from '../../src/forwarding/health.ts';
import { createWatchLoop } from '../../src/forwarding/watch-loop.ts';
import { applyObject } from '../../src/kube/apply/apply.ts';
import { createClient, type KubeClient } from '../../src/kube/client/client.ts';
import { objectPath } from '../../src/kube/client/path.ts';
import { listPages } from '../../src/kube/client/read.ts';
import { createRestoreDetection } from '../../src/kube/watch/restore-detection.ts';
import { ConfigMap } from '../../src/kubernetes.ts';
import { type Message, parseMessage } from '../../src/sqs/message.ts';
import { createRecorder } from '../support/recorder.ts';

const names = { group: '', version: 'v1', plural: 'configmaps', kind: 'ConfigMap', namespaced: true };
/** A kind that the server does not have. */
const dish = { group: 'kitchen.test', version: 'v1', plural: 'dishes', kind: 'Dish', namespaced: true };
/** A subscriber whose primary is the kind itself. */
export const primary: Subscriber = { controller: 'pot', as: 'primary', primary: names, predicate: 'resourceVersion' };
const owned: Subscriber = { controller: 'dish', as: 'owned', primary: dish, predicate: 'any' };
/** ConfigMaps, as primaries. */
export const pots: WatchedResource = { ...names, subscribers: [primary] };
/** ConfigMaps, as children of dishes. */
export const parts: WatchedResource = { ...names, subscribers: [owned] };

/** The metadata of a child that our controller created. */
export const childOf = (owner: string) => ({
  labels: { [controllerLabel]: 'dish' },
  annotations: { [ownerAnnotation]: `default/${owner}` },
});

/** Starts a server for each test of a file. */
export function watchLoopFixture() {
  let server: ApiServer;
  let user: KubeClient;
  let ended: AbortController;
  beforeEach(async () => {
    server = await startApiServer();
    user = createClient({ server: new URL(server.url) });
    ended = new AbortController();
  });
  afterEach(async () => {
    ended.abort();
    user.close();
    await server.close();
  });

  const put = async (name: string, value = '1', metadata: object = {}) =>
    await applyObject(
      user,
      ConfigMap,
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default', ...metadata }, data: { value } },
      { fieldManager: 'user' },
    );
  const remove = async (name: string) =>
    await user.request({ method: 'DELETE', path: objectPath(ConfigMap, { namespace: 'default', name }) });
  const versionNow = async () => {
    for await (const page of listPages(user, ConfigMap)) return page.resourceVersion;
    throw new Error('no page');
  };
  /** Starts a loop for a resource, and records what it sends and accepts. */
  function follow(
    resource: WatchedResource,
    { start, breakOnce = false }: { start?: string | (() => Promise<string>); breakOnce?: boolean } = {},
  ) {
    const sent: { readonly queue: string; readonly message: Message; readonly id: string | undefined }[] = [];
    const accepted: string[] = [];
    const dropped: string[] = [];
    const requeued: string[] = [];
    const recorder = createRecorder();
    let rejecting: boolean | string = false;
    let gate: PromiseWithResolvers<void> | undefined;
    let changed = Promise.withResolvers<void>();
    const notify = () => {
      changed.resolve();
      changed = Promise.withResolvers();
    };
    // The idle timeout of a watch never ends. All other waits end when the test calls endWaits.
    const waits: { readonly seconds: number; readonly end: () => void }[] = [];
    const wait: Wait = (seconds, signal) =>
      new Promise((resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason), { once: true });
        if (seconds < 60) waits.push({ seconds, end: resolve });
        notify();
      });
    const client = createClient({ server: new URL(server.url) });
    ended.signal.addEventListener('abort', () => client.close());
    let listedBytes = 0;
    const gated: KubeClient = {
      ...client,
      stream: async (request) => {
        await gate?.promise;
        return await client.stream(request);
      },
      request: async (request) => {
        await gate?.promise;
        const response = await client.request(request);
        listedBytes += JSON.stringify(response.body).length;
        return response;
      },
    };
    const health = createHealth(() => 0);
    const forwarder = createForwarder({
      send: async (queue, entries) => {
        if (rejecting === true || rejecting === queue)
          return entries.map(() => ({ accepted: false, reason: 'unavailable' }));
        sent.push(...entries.map(({ body, deduplicationId: id }) => ({ queue, message: parseMessage(body), id })));
        return entries.map(() => ({ accepted: true, messageId: '' }));
      },
      log: recorder.log,
      metrics: { accepted: notify, coalesced: notify, rejected: notify, rateLimited: notify },
      now: () => Date.now(),
      wait,
      random: () => 0.5,
      lowPriorityPerSecond: 100,
      signal: ended.signal,
    });
    let nonce = 0;
    const loop = createWatchLoop(
      {
        client: gated,
        forwarder,
        checkpoint: {
          ...noCheckpoint,
          start: async () => (typeof start === 'function' ? await start() : start),
          accepted: (_, version) => {
            accepted.push(version);
            notify();
          },
          drop: (name) => void dropped.push(name),
        },
        health: health.loop('configmaps'),
        log: {
          ...recorder.log,
          info: (...line) => {
            recorder.log.info(...line);
            notify();
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
        restoreDetection: createRestoreDetection(),
        requeueOwners: (controllers) => void requeued.push(...controllers),
      },
      { resource, cluster: 'c' },
    );
    void loop.run(ended.signal);
    const until = async (condition: () => boolean) => {
      while (!condition()) await changed.promise;
    };
    const on = (queue: string) => sent.filter((one) => one.queue === queue).map(({ message: { name } }) => name);
    const ids = (queue: string) => sent.filter((one) => one.queue === queue).map(({ id }) => id);
    return {
      loop,
      sent,
      accepted,
      dropped,
      requeued,
      waits,
      health,
      on,
      ids,
      until,
      /** The size of the lists that the loop has received, as JSON. */
      listedBytes: () => listedBytes,
      lists: () => recorder.lines.filter(({ message }) => message === 'collection listed').map(({ fields }) => fields),
      /** Makes SQS, or one queue of it, reject every key. */
      reject: (value: boolean | string) => {
        rejecting = value;
      },
      /** Breaks the streams and blocks all requests until `unblock`. */
      block: () => {
        gate = Promise.withResolvers();
        server.breakStreams();
      },
      unblock: () => {
        gate?.resolve();
        gate = undefined;
      },
      endWaits: () => {
        for (const { end } of waits.splice(0)) end();
      },
      caughtUpWith: async (version: string) => await until(() => Number(loop.lowWatermark()) >= Number(version)),
    };
  }

  return {
    put,
    remove,
    versionNow,
    follow,
    /** The user's client. */
    get user() {
      return user;
    },
    expireWindow: () => server.expireWindow(),
    /** Stops the server. `restart` starts an empty one on the same port. */
    stopServer: async () => {
      const port = Number(new URL(server.url).port);
      await server.close();
      const restart = async () => {
        server = await startApiServer({ port });
      };
      return { restart };
    },
  };
}
