// A cursor's place: its ConfigMap, as it is shipped, on an embedded API server of each test's own, and cursors whose time a test moves.
import { afterEach, beforeEach } from 'vitest';
import { existingKind } from '../../src/core/kind.ts';
import { cursorName, systemNamespace } from '../../src/core/names.ts';
import { applyObject } from '../../src/kube/apply/apply.ts';
import { createClient, type KubeClient } from '../../src/kube/client/client.ts';
import { objectPath } from '../../src/kube/client/path.ts';
import { type ApiServer, startApiServer } from '../../src/apiserver/server.ts';
import { formatCursor, parseCursor } from '../../src/runtime/cursor-document.ts';
import { readClusterUid, readCursorObject, writeCursorObject } from '../../src/runtime/cursor-object.ts';
import { createCursor } from '../../src/watcher/cursor.ts';
import { createWitness } from '../support/recorder.ts';

const configMap = existingKind<object>({ group: '', version: 'v1', kind: 'ConfigMap' });
const namespaces = existingKind<object>({ group: '', version: 'v1', kind: 'Namespace', scope: 'Cluster' });
const place = { namespace: systemNamespace, name: cursorName };

/** What every clock of the stage says. */
export const nowMs = Date.parse('2026-11-21T12:00:00Z');

/** Starts an API server with the shipped ConfigMap before each test of a file, and gives what a test needs of it. */
export function cursorStage() {
  let server: ApiServer;
  let client: KubeClient;
  let over: AbortController;
  const ship = () =>
    applyObject(client, configMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata: place }, { fieldManager: 'user' });
  const furnish = async () => {
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: systemNamespace } };
    await applyObject(client, namespaces, namespace, { fieldManager: 'user' });
    await ship();
  };
  beforeEach(async () => {
    server = await startApiServer();
    client = createClient({ server: new URL(server.url) });
    over = new AbortController();
    await furnish();
  });
  afterEach(async () => {
    over.abort();
    client.close();
    await server.close();
  });

  const stored = async () => {
    const reading = parseCursor((await readCursorObject(client))?.text);
    if (reading.type !== 'read') throw new Error(`the cursor is ${reading.type}`);
    return reading.document;
  };

  return {
    get client() {
      return client;
    },
    /** The requests that the server has had. */
    requests: () => server.requests(),
    /** Puts the ConfigMap there as it is shipped. */
    ship,
    unship: () => client.request({ method: 'DELETE', path: objectPath(configMap, place) }),
    /** Puts another server, which knows nothing but what is shipped, in the place of this one. */
    replace: async () => {
      const port = Number(new URL(server.url).port);
      await server.close();
      server = await startApiServer({ port });
      await furnish();
    },
    stored,
    versions: async () =>
      Object.fromEntries([...(await stored()).entries].map(([name, { version }]) => [name, version])),
    /** Writes a text into the ConfigMap. */
    plant: async (text: string) => {
      const object = await readCursorObject(client);
      await writeCursorObject(client, { text, resourceVersion: object?.resourceVersion ?? '' });
    },
    /** The text of a cursor with these versions, of this cluster unless said otherwise. */
    textOf: async (versions: Readonly<Record<string, string>>, { cluster = '' } = {}) =>
      formatCursor({
        cluster: cluster === '' ? ((await readClusterUid(client)) ?? '') : cluster,
        entries: new Map(Object.entries(versions).map(([name, version]) => [name, { version, atMs: nowMs }])),
      }),
    writes: () => server.requests().filter(({ query }) => query.fieldManager === 'outrigger-watcher'),

    /** A cursor whose time a test moves. */
    cursor: ({ through = client }: { readonly through?: KubeClient } = {}) => {
      const { log, lines } = createWitness();
      const rests: { readonly seconds: number; readonly end: () => void }[] = [];
      let resting = Promise.withResolvers<void>();
      const cursor = createCursor({
        client: through,
        log,
        now: () => nowMs,
        wait: (seconds, signal) =>
          new Promise((resolve, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason), { once: true });
            rests.push({ seconds, end: resolve });
            resting.resolve();
            resting = Promise.withResolvers();
          }),
      });
      return {
        ...cursor,
        rests,
        start: (name: string) => cursor.start(name, over),
        run: (framesAt: () => number | undefined = () => nowMs) => void cursor.run({ framesAt, signal: over.signal }),
        /** Lets the time to the next look pass, and what follows happen. */
        rest: async () => {
          const next = rests.length === 0 ? resting.promise : Promise.resolve();
          await next;
          const after = resting.promise;
          rests.splice(0).at(-1)?.end();
          await after;
        },
        warnings: () =>
          lines.filter(({ level }) => level === 'warn').map(({ message, fields }) => ({ message, ...fields })),
      };
    },
  };
}
