// What the cases of restarted watchers are made of, for any API server: objects, real watcher processes with their cursor in the
// cluster, and the queues they send to.
import { readFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { existingKind } from '../../src/core/kind.ts';
import { applyObject } from '../../src/kube/apply/apply.ts';
import { createClient, type KubeClient } from '../../src/kube/client/client.ts';
import type { Connection } from '../../src/kube/connection.ts';
import { type KubeObject, parseObject } from '../../src/kube/client/object.ts';
import { objectPath } from '../../src/kube/client/path.ts';
import { type Message, parseMessage } from '../../src/queue/message.ts';
import { readCursorObject, writeCursorObject } from '../../src/runtime/cursor-object.ts';
import { startTestQueues, type TestQueues } from '../sqs/fauxqs.ts';
import { established } from '../support/established.ts';
import { type MoodyProxy, startMoodyProxy } from './fault-proxy.ts';
import { startWatcherProcess, type WatcherProcess } from './watcher-process.ts';

const tanks = existingKind<object>({ group: 'plant.example.com', version: 'v1', kind: 'WaterTank' });
const ingredients = existingKind<object>({ group: 'kitchen.example.com', version: 'v1', kind: 'Ingredient' });
const dinners = existingKind<object>({ group: 'kitchen.example.com', version: 'v1', kind: 'Dinner' });
const namespaces = existingKind<object>({ group: '', version: 'v1', kind: 'Namespace', scope: 'Cluster' });
const configMaps = existingKind<object>({ group: '', version: 'v1', kind: 'ConfigMap' });
const definitions = existingKind<object>({
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  scope: 'Cluster',
});
export const queueNames = ['water-tank.fifo', 'ingredient.fifo', 'dinner.fifo', 'timers'];
const generated = (file: string) =>
  readFile(new URL(`../../infra/kubernetes/generated/${file}`, import.meta.url), 'utf8');

/** A server under test, which may be able to forget its past. */
export type RestartServer = {
  readonly connection: Connection;
  readonly kubeconfig: string;
  /** Makes the server forget all versions until now. */
  readonly forget?: () => Promise<void>;
};

/** Sets up one server, one namespace for each case, and queues. To be called where cases are declared. */
export function createStage(connect: () => RestartServer) {
  let client: KubeClient;
  let queues: TestQueues;
  let proxy: MoodyProxy;
  let namespace = '';
  let count = 0;
  const running: WatcherProcess[] = [];

  beforeAll(async () => {
    client = createClient(connect().connection);
    queues = await startTestQueues();
    proxy = await startMoodyProxy(queues.endpoint);
    await queues.create(...queueNames);
    for (const name of [tanks, ingredients, dinners].map(({ plural, group }) => `${plural}.${group}`)) {
      const definition = parseObject(parse(await generated(`crd-${name}.yaml`)));
      await applyObject(client, definitions, definition, { fieldManager: 'test' });
      await established(client, name);
    }
    const shipped = parseAllDocuments(await generated('rbac.yaml')).map((document) => parseObject(document.toJS()));
    for (const [kind, resource] of [
      ['Namespace', namespaces],
      ['ConfigMap', configMaps],
    ] as const) {
      for (const object of shipped.filter((one) => one.kind === kind)) {
        await applyObject(client, resource, object, { fieldManager: 'test' });
      }
    }
  });
  afterAll(async () => {
    client.close();
    await proxy.stop();
    await queues.stop();
  });
  beforeEach(async () => {
    count += 1;
    namespace = `restart-${process.pid}-${count}`;
    const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } };
    await applyObject(client, namespaces, object, { fieldManager: 'test' });
  });
  afterEach(async () => {
    proxy.refuse(false);
    for (const watcher of running.splice(0)) {
      watcher.kill('SIGKILL');
      await watcher.ended;
    }
    for (const name of queueNames) await queues.drain(name);
  });

  const apply = async (kind: typeof tanks, metadata: { readonly name: string }, spec: object): Promise<KubeObject> => {
    const object = { apiVersion: kind.apiVersion, kind: kind.kind, metadata: { ...metadata, namespace }, spec };
    return await applyObject(client, kind, object, { fieldManager: 'user' });
  };
  const take = async (queue: string, waitSeconds = 0): Promise<readonly Message[]> =>
    (await queues.drain(queue, { waitSeconds })).map(({ Body = '' }) => parseMessage(Body));

  return {
    refuse: (now: boolean) => proxy.refuse(now),
    tank: async (name: string, targetLevel = 1) => await apply(tanks, { name }, { targetLevel, capacity: 100 }),
    dinner: async (name: string) =>
      await apply(dinners, { name }, { ingredients: [{ name: 'rice', item: 'rice', amount: 1, unit: 'g' }] }),
    /** A child that a dinner controls. */
    ingredient: async (name: string, { metadata: { name: owner, uid = '' } }: KubeObject) => {
      const reference = { apiVersion: dinners.apiVersion, kind: 'Dinner', name: owner, uid, controller: true };
      const metadata = { name, ownerReferences: [reference] };
      return await apply(ingredients, metadata, { item: 'rice', amount: 1, unit: 'g' });
    },
    remove: async (kind: 'tank' | 'ingredient', name: string) =>
      await client.request({
        method: 'DELETE',
        path: objectPath(kind === 'tank' ? tanks : ingredients, { namespace, name }),
      }),
    /** Starts a watcher of this case's namespace and resolves when it watches everything. */
    start: async (environment: Readonly<Record<string, string>> = {}) => {
      const watcher = startWatcherProcess({
        KUBECONFIG: connect().kubeconfig,
        QUEUE_URL_PREFIX: queues.urlPrefix,
        AWS_ENDPOINT_URL: proxy.endpoint,
        WATCH_NAMESPACE: namespace,
        CURSOR_SECONDS: '0.1',
        ...environment,
      });
      running.push(watcher);
      await watcher.said('watching');
      return watcher;
    },
    /** Takes messages until each of these objects has had one, then whatever else is there. */
    until: async (queue: string, ...names: readonly string[]): Promise<readonly Message[]> => {
      const all: Message[] = [];
      const missing = () => names.filter((name) => !all.some((message) => message.name === name));
      for (let tries = 0; missing().length > 0; tries += 1) {
        if (tries === 15) throw new Error(`never came: ${missing().join()}; came: ${namesOf(all).join()}`);
        all.push(...(await take(queue, 2)));
      }
      return [...all, ...(await take(queue))];
    },
    take,
    cursor: async () => await readCursorObject(client),
    plant: async (text: string) => {
      const resourceVersion = (await readCursorObject(client))?.resourceVersion ?? '';
      await writeCursorObject(client, { text, resourceVersion });
    },
    forget: async () => await connect().forget?.(),
  };
}

/** The names of objects that messages are for, each once. */
export const namesOf = (messages: readonly Message[]): readonly string[] =>
  [...new Set(messages.map(({ name }) => name))].sort();
