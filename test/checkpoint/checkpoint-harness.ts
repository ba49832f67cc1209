// The harness of the checkpoint's tests: an embedded API server for each test, with the ConfigMap as the manifests
// install it, and checkpoints whose waits the test ends.

import { type ApiServer, startApiServer } from '@outrigger/apiserver';
import { afterEach, beforeEach } from 'vitest';
import { createWatchCheckpoint } from '../../src/checkpoint/checkpoint.ts';
import { readCheckpoint, writeCheckpoint } from '../../src/checkpoint/config-map.ts';
import { formatCheckpoint, parseCheckpoint } from '../../src/checkpoint/document.ts';
import { checkpointName, systemNamespace } from '../../src/core/names.ts';
import { applyObject } from '../../src/kube/apply/apply.ts';
import { createClient, type KubeClient } from '../../src/kube/client/client.ts';
import { readClusterUid } from '../../src/kube/client/cluster-uid.ts';
import { objectPath } from '../../src/kube/client/path.ts';
import { ConfigMap, Namespace } from '../../src/kubernetes.ts';
import { createRecorder } from '../support/recorder.ts';

const key = { namespace: systemNamespace, name: checkpointName };

/** The time of every clock of the fixture, of the API server too. */
export const nowMs = Date.parse('2026-11-21T12:00:00Z');

/** Starts an API server with the installed ConfigMap before each test of a file. */
export function checkpointFixture() {
  let server: ApiServer;
  let client: KubeClient;
  let ended: AbortController;
  const installConfigMap = () =>
    applyObject(client, ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata: key }, { fieldManager: 'user' });
  const install = async () => {
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: systemNamespace } };
    await applyObject(client, Namespace, namespace, { fieldManager: 'user' });
    await installConfigMap();
  };
  beforeEach(async () => {
    server = await startApiServer({ now: () => new Date(nowMs) });
    client = createClient({ server: new URL(server.url) });
    ended = new AbortController();
    await install();
  });
  afterEach(async () => {
    ended.abort();
    client.close();
    await server.close();
  });

  const stored = async () => {
    const parsed = parseCheckpoint((await readCheckpoint(client))?.text);
    if (parsed.type !== 'read') throw new Error(`the checkpoint is ${parsed.type}`);
    return parsed.document;
  };

  return {
    get client() {
      return client;
    },
    /** The requests that the server received. */
    requests: () => server.requests(),
    /** Applies the ConfigMap, as the manifests do. */
    installConfigMap,
    deleteConfigMap: () => client.request({ method: 'DELETE', path: objectPath(ConfigMap, key) }),
    /** Replaces the server by another one on the same port, with only the installed objects. */
    replaceServer: async () => {
      const port = Number(new URL(server.url).port);
      await server.close();
      server = await startApiServer({ port });
      await install();
    },
    stored,
    versions: async () =>
      Object.fromEntries([...(await stored()).entries].map(([name, { version }]) => [name, version])),
    /** Writes a text into the ConfigMap, and returns its new version. */
    writeText: async (text: string) => {
      const object = await readCheckpoint(client);
      return (await writeCheckpoint(client, { text, resourceVersion: object?.resourceVersion ?? '' })).resourceVersion;
    },
    /** The text of a checkpoint with these versions, by default of this cluster. */
    textOf: async (versions: Readonly<Record<string, string>>, { cluster = '' } = {}) =>
      formatCheckpoint({
        cluster: cluster === '' ? ((await readClusterUid(client)) ?? '') : cluster,
        entries: new Map(Object.entries(versions).map(([name, version]) => [name, { version, confirmedAtMs: nowMs }])),
      }),
    writes: () => server.requests().filter(({ query }) => query.fieldManager === 'outrigger-watcher'),

    /** Creates a checkpoint whose waits the test ends. */
    createCheckpoint: ({
      through = client,
      senderId,
      now = () => nowMs,
    }: {
      readonly through?: KubeClient;
      readonly senderId?: string;
      readonly now?: () => number;
    } = {}) => {
      const { log, lines } = createRecorder();
      const waits: { readonly seconds: number; readonly end: () => void }[] = [];
      let waiting = Promise.withResolvers<void>();
      const checkpoint = createWatchCheckpoint({
        client: through,
        log,
        senderId: () => senderId,
        now,
        wait: (seconds, signal) =>
          new Promise((resolve, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason), { once: true });
            waits.push({ seconds, end: resolve });
            waiting.resolve();
            waiting = Promise.withResolvers();
          }),
      });
      let restores = 0;
      return {
        ...checkpoint,
        waits,
        /** How often the watches were told of a restore. */
        restores: () => restores,
        start: (name: string, former?: string) =>
          checkpoint.start(name, { signal: ended.signal, ...(former === undefined ? {} : { former }) }),
        run: (lastSeenAgeMs: () => number | undefined = () => 0) =>
          void checkpoint.run({
            lastSeenAgeMs,
            onRestored: () => {
              restores += 1;
            },
            signal: ended.signal,
          }),
        /** Ends the current wait, and resolves at the next one. */
        endWait: async () => {
          const next = waits.length === 0 ? waiting.promise : Promise.resolve();
          await next;
          const after = waiting.promise;
          waits.splice(0).at(-1)?.end();
          await after;
        },
        warnings: () =>
          lines.filter(({ level }) => level === 'warn').map(({ message, fields }) => ({ message, ...fields })),
      };
    },
  };
}
