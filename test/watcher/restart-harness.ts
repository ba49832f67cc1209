// The harness of watcher processes, for any API server: objects, watchers with the watch checkpoint in the cluster or without
// one, and the queues to which they send, which can be down.

import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { foreignKind } from '../../src/api/foreign-kind.ts';
import type { Kind } from '../../src/api/kind.ts';
import { applyObject } from '../../src/kube/apply/apply.ts';
import { createClient, type KubeClient } from '../../src/kube/client/client.ts';
import type { Connection } from '../../src/kube/client/connection.ts';
import { type KubeObject, parseObject } from '../../src/kube/client/object.ts';
import { objectPath } from '../../src/kube/client/path.ts';
import { ConfigMap, CustomResourceDefinition, Namespace } from '../../src/kubernetes.ts';
import { type Message, parseMessage } from '../../src/sqs/message.ts';
import { type ChaosProxy, startChaosProxy } from '../../tools/chaos/chaos-proxy.ts';
import { startTestQueues, type TestQueues } from '../sqs/fauxqs.ts';
import { untilEstablished } from '../support/established.ts';
import { sampleKinds } from '../support/sample-manifests.ts';
import { startWatcherProcess, type WatcherProcess } from './watcher-process.ts';

const tanks = foreignKind({ group: 'plant.example.com', version: 'v1', kind: 'WaterTank' });
const ingredients = foreignKind({ group: 'kitchen.example.com', version: 'v1', kind: 'Ingredient' });
const dinners = foreignKind({ group: 'kitchen.example.com', version: 'v1', kind: 'Dinner' });
export const queueNames = ['water-tank.fifo', 'ingredient.fifo', 'dinner.fifo', 'timers'];
const generated = (file: string) => sampleKinds.get(file) ?? '';

/** A server under test. */
type RestartServer = { readonly connection: Connection; readonly kubeconfig: string };

/**
 * Sets up a server, a namespace for each case, and queues. Must be called where the cases are declared.
 * @param options `checkpoint: false`: the ConfigMap of the watch checkpoint is not installed, so every start is the first one
 */
export function createRestartFixture(connect: () => RestartServer, { checkpoint = true } = {}) {
  let client: KubeClient;
  let queues: TestQueues;
  /** Between the watcher and SQS. */
  let proxy: ChaosProxy;
  const rejectMessages = (rejecting: boolean) =>
    proxy.rule(() => (rejecting ? { type: 'respond', status: 503 } : undefined));
  let namespace = '';
  let count = 0;
  const running: WatcherProcess[] = [];

  beforeAll(async () => {
    client = createClient(connect().connection);
    queues = await startTestQueues();
    proxy = await startChaosProxy({ url: queues.endpoint });
    await queues.create(...queueNames);
    for (const name of [tanks, ingredients, dinners].map(({ plural, group }) => `${plural}.${group}`)) {
      const definition = parseObject(parse(generated(`crd-${name}.yaml`)));
      await applyObject(client, CustomResourceDefinition, definition, { fieldManager: 'test' });
      await untilEstablished(client, name);
    }
    if (!checkpoint) return;
    const installed = parseAllDocuments(generated('rbac.yaml')).map((document) => parseObject(document.toJS()));
    for (const [kind, resource] of [
      ['Namespace', Namespace],
      ['ConfigMap', ConfigMap],
    ] as const) {
      for (const object of installed.filter((one) => one.kind === kind)) {
        await applyObject(client, resource, object, { fieldManager: 'test' });
      }
    }
  });
  afterAll(async () => {
    client.close();
    await proxy.close();
    await queues.stop();
  });
  beforeEach(async () => {
    count += 1;
    namespace = `restart-${process.pid}-${count}`;
    const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } };
    await applyObject(client, Namespace, object, { fieldManager: 'test' });
  });
  afterEach(async () => {
    rejectMessages(false);
    for (const watcher of running.splice(0)) {
      watcher.kill('SIGKILL');
      await watcher.ended;
    }
    for (const name of queueNames) await queues.drain(name);
  });

  const apply = async (kind: Kind, metadata: { readonly name: string }, spec: object): Promise<KubeObject> => {
    const object = { apiVersion: kind.apiVersion, kind: kind.kind, metadata: { ...metadata, namespace }, spec };
    return await applyObject(client, kind, object, { fieldManager: 'user' });
  };
  const take = async (queue: string, waitSeconds = 0): Promise<readonly Message[]> =>
    (await queues.drain(queue, { waitSeconds })).map(({ Body = '' }) => parseMessage(Body));

  return {
    rejectMessages,
    namespace: () => namespace,
    tank: async (name: string, targetLevel = 1, metadata: object = {}) =>
      await apply(tanks, { ...metadata, name }, { targetLevel, capacity: 100 }),
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
    /** Starts a watcher in the namespace of this case. Resolves when every kind is watched. */
    start: async () => {
      const watcher = startWatcherProcess({
        KUBECONFIG: connect().kubeconfig,
        QUEUE_URL_PREFIX: queues.urlPrefix,
        AWS_ENDPOINT_URL: proxy.url,
        WATCH_NAMESPACES: namespace,
        CHECKPOINT_SECONDS: '0.1',
      });
      running.push(watcher);
      await watcher.logged('watching');
      return watcher;
    },
    /** Receives messages until there is one for each of these objects, and then the rest of the queue. */
    until: async (queue: string, ...names: readonly string[]): Promise<readonly Message[]> => {
      const all: Message[] = [];
      const missing = () => names.filter((name) => !all.some((message) => message.name === name));
      for (let tries = 0; missing().length > 0; tries += 1) {
        if (tries === 15) throw new Error(`no messages for ${missing().join()}; received: ${namesOf(all).join()}`);
        all.push(...(await take(queue, 2)));
      }
      return [...all, ...(await take(queue))];
    },
    take,
  };
}

/** The names of the messages' objects, each once. */
export const namesOf = (messages: readonly Message[]): readonly string[] =>
  [...new Set(messages.map(({ name }) => name))].sort();
