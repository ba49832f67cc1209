// The watcher's process killed and started anew, with its cursor in the cluster, as cases for any API server: which keys are on
// the queues because of what happened meanwhile. The same with every interleaving, in one process, is restart.test.ts.
import { readFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { existingKind } from '../../src/core/kind.ts';
import { applyObject } from '../../src/kube/apply.ts';
import { createClient, type KubeClient } from '../../src/kube/client.ts';
import type { Connection } from '../../src/kube/connection.ts';
import { type KubeObject, parseObject } from '../../src/kube/object.ts';
import { objectPath } from '../../src/kube/path.ts';
import { type Message, parseMessage } from '../../src/queue/message.ts';
import { readCursorObject, writeCursorObject } from '../../src/runtime/cursor-object.ts';
import { startTestQueues, type TestQueues } from '../queue/fauxqs.ts';
import { established } from '../support/established.ts';
import { type MoodyProxy, startMoodyProxy } from './moody-proxy.ts';
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
const queueNames = ['water-tank.fifo', 'ingredient.fifo', 'dinner.fifo', 'timers'];
const generated = (file: string) =>
  readFile(new URL(`../../infra/kubernetes/generated/${file}`, import.meta.url), 'utf8');

/** A server under test, which may be able to forget its past. */
export type RestartServer = {
  readonly connection: Connection;
  readonly kubeconfig: string;
  /** Makes the server forget all versions until now. */
  readonly forget?: () => Promise<void>;
};

/** What cases are made of: one server, one namespace for each case, and queues. */
function createStage(connect: () => RestartServer) {
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
    start: async () => {
      const watcher = startWatcherProcess({
        KUBECONFIG: connect().kubeconfig,
        QUEUE_URL_PREFIX: queues.urlPrefix,
        AWS_ENDPOINT_URL: proxy.endpoint,
        WATCH_NAMESPACE: namespace,
        CURSOR_SECONDS: '0.1',
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

const namesOf = (messages: readonly Message[]) => [...new Set(messages.map(({ name }) => name))].sort();
const stop = async (watcher: WatcherProcess, signal: 'SIGTERM' | 'SIGKILL') => {
  watcher.kill(signal);
  expect(await watcher.ended).toBe(signal === 'SIGTERM' ? 0 : signal);
};

/** Declares the cases that need no forgetting. */
export function restartCases(
  connect: () => RestartServer,
  { objects = 100 }: { readonly objects?: number } = {},
): void {
  const stage = createStage(connect);
  const { start, tank, take, until } = stage;

  /** Watchers that came, forwarded everything there is, and went. */
  const aPastWatcher = async (...names: readonly string[]) => {
    const watcher = await start();
    await until('timers', ...names);
    await stop(watcher, 'SIGTERM');
    for (const queue of queueNames) await take(queue);
  };

  describe('a watcher that is started again', { timeout: 120_000 }, () => {
    it('forwards none of the objects that did not change', async () => {
      const names = Array.from({ length: objects }, (_, number) => `tank-${number}`);
      for (const name of names) await tank(name);
      const first = await start();
      await until('timers', ...names);
      await stop(first, 'SIGTERM');
      const next = await start();
      await tank('marker');
      expect(namesOf(await until('water-tank.fifo', 'marker'))).toEqual(['marker']);
      expect(await take('timers')).toEqual([]);
      expect(next.lines).toContainEqual(expect.objectContaining({ message: 'listed', mode: 'exact', objects }));
    });

    it('forwards what was created, changed and deleted meanwhile, a child’s to its owner', async () => {
      for (const name of ['still', 'changed', 'gone']) await tank(name);
      const [keeps, loses, gets] = [
        await stage.dinner('keeps'),
        await stage.dinner('loses'),
        await stage.dinner('gets'),
      ];
      await stage.ingredient('kept', keeps);
      await stage.ingredient('lost', loses);
      await aPastWatcher('still', 'loses');
      await tank('changed', 2);
      await tank('created');
      await stage.remove('tank', 'gone');
      await stage.remove('ingredient', 'lost');
      await stage.ingredient('got', gets);
      await start();
      const changed = await until('water-tank.fifo', 'changed', 'created', 'gone');
      expect(namesOf(changed)).toEqual(['changed', 'created', 'gone']);
      expect(namesOf(await until('dinner.fifo', 'loses', 'gets'))).toEqual(['gets', 'loses']);
      expect(await take('timers')).toEqual([]);
    });

    it('has lost nothing by being killed again and again, whatever it was doing', async () => {
      await aPastWatcher();
      const versions = new Map<string, number>();
      const change = async (name: string, level: number) => {
        const { metadata } = await tank(name, level);
        versions.set(name, Number(metadata.resourceVersion));
      };
      const messages: Message[] = [];
      for (let round = 0; round < 5; round += 1) {
        const watcher = await start();
        for (let number = 0; number < 12; number += 1) {
          await change(`tank-${number % 8}`, 1 + ((round * 12 + number) % 90));
          if (number === round * 2) watcher.kill('SIGKILL');
        }
        if (round === 2) await stage.remove('tank', 'tank-7');
        expect(await watcher.ended).toBe('SIGKILL');
        messages.push(...(await take('water-tank.fifo')));
      }
      await start();
      const newest = (name: string) =>
        Math.max(...messages.filter((one) => one.name === name).map(({ resourceVersion }) => Number(resourceVersion)));
      const open = () => [...versions].filter(([name, version]) => newest(name) < version);
      // A key that was sent a moment ago comes after those that were not.
      for (let tries = 0; open().length > 0 && tries < 15; tries += 1) {
        messages.push(...(await take('water-tank.fifo', 2)));
      }
      expect(open()).toEqual([]);
      expect(await take('timers')).toEqual([]);
    });

    it('sends what SQS had refused when it was killed, although the cursor was written since', async () => {
      await aPastWatcher();
      const watcher = await start();
      stage.refuse(true);
      await tank('waits');
      await watcher.said('keys not sent, trying again');
      const before = (await stage.cursor())?.text;
      const writtenSince = async () => (await stage.cursor())?.text !== before;
      await expect.poll(writtenSince, { timeout: 30_000 }).toBe(true);
      await stop(watcher, 'SIGKILL');
      stage.refuse(false);
      await start();
      expect(namesOf(await until('water-tank.fifo', 'waits'))).toEqual(['waits']);
    });

    it('beside another loses nothing and repeats nothing, whichever of them is killed', async () => {
      await aPastWatcher();
      const [one, other] = await Promise.all([start(), start()]);
      await tank('both');
      await stop(one, 'SIGKILL');
      await tank('other');
      expect(namesOf(await until('water-tank.fifo', 'both', 'other'))).toEqual(['both', 'other']);
      await stop(other, 'SIGTERM');
      await tank('nobody');
      await Promise.all([start(), start()]);
      const messages = await until('water-tank.fifo', 'nobody');
      expect(messages.map(({ name }) => name)).toEqual(['nobody']);
      expect(await take('timers')).toEqual([]);
    });

    it('ignores a cursor that is not JSON, says so, and forwards everything', async () => {
      await tank('old');
      await aPastWatcher('old');
      await stage.plant('{"v":1,');
      const watcher = await start();
      await watcher.said('the cursor is ignored, everything is forwarded');
      expect(namesOf(await until('timers', 'old'))).toEqual(['old']);
    });
  });
}

/** Declares the case that needs a server with a short memory. */
export function forgottenCases(connect: () => RestartServer): void {
  const stage = createStage(connect);
  it(
    'a watcher whose cursor is compacted forwards what is newer, and every owner in bulk',
    { timeout: 180_000 },
    async () => {
      const loses = await stage.dinner('loses');
      await stage.dinner('keeps');
      await stage.ingredient('lost', loses);
      await stage.tank('still');
      const first = await stage.start();
      await stage.until('timers', 'loses', 'keeps', 'still');
      await stop(first, 'SIGTERM');
      await stage.remove('ingredient', 'lost');
      await stage.tank('created');
      await stage.forget();
      const next = await stage.start();
      expect(namesOf(await stage.until('timers', 'loses', 'keeps'))).toEqual(['keeps', 'loses']);
      expect(namesOf(await stage.until('water-tank.fifo', 'created'))).toEqual(['created']);
      expect(next.lines).toContainEqual(expect.objectContaining({ message: 'listed', mode: 'expired' }));
    },
  );
}
