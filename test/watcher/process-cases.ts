// The watcher's process between an API server and SQS, as cases for any API server: which keys are on the queues after what
// happened to objects, to the process, and to SQS. What each decision is made of is tested in test/runtime.
import { readFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { existingKind } from '../../src/core/kind.ts';
import { ownerAnnotation } from '../../src/core/names.ts';
import { applyObject } from '../../src/kube/apply/apply.ts';
import { createClient, type KubeClient } from '../../src/kube/client/client.ts';
import type { Connection } from '../../src/kube/connection.ts';
import { type KubeObject, parseObject } from '../../src/kube/client/object.ts';
import { objectPath } from '../../src/kube/client/path.ts';
import { type Message, parseMessage } from '../../src/queue/message.ts';
import { startTestQueues, type TestQueues } from '../sqs/fauxqs.ts';
import { established } from '../support/established.ts';
import { type MoodyProxy, startMoodyProxy } from './fault-proxy.ts';
import { startWatcherProcess, type WatcherProcess } from './watcher-process.ts';

const tanks = existingKind<object>({ group: 'plant.example.com', version: 'v1', kind: 'WaterTank' });
const ingredients = existingKind<object>({ group: 'kitchen.example.com', version: 'v1', kind: 'Ingredient' });
const dinners = existingKind<object>({ group: 'kitchen.example.com', version: 'v1', kind: 'Dinner' });
const namespaces = existingKind<object>({ group: '', version: 'v1', kind: 'Namespace', scope: 'Cluster' });
const definitions = existingKind<object>({
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  scope: 'Cluster',
});
const crds = [tanks, ingredients, dinners].map(({ plural, group }) => `${plural}.${group}`);
const queueNames = ['water-tank.fifo', 'ingredient.fifo', 'dinner.fifo', 'timers'];

/** Each case starts processes, which take seconds where others run beside them. */
const timeout = 60_000;

/** Declares the cases for a server. */
export function watcherCases(connect: () => { readonly connection: Connection; readonly kubeconfig: string }): void {
  let client: KubeClient;
  let queues: TestQueues;
  let proxy: MoodyProxy;
  let namespace: string;
  let count = 0;
  const running: WatcherProcess[] = [];

  beforeAll(async () => {
    client = createClient(connect().connection);
    queues = await startTestQueues();
    proxy = await startMoodyProxy(queues.endpoint);
    await queues.create(...queueNames);
    for (const name of crds) {
      const text = await readFile(
        new URL(`../../infra/kubernetes/generated/crd-${name}.yaml`, import.meta.url),
        'utf8',
      );
      await applyObject(client, definitions, parseObject(parse(text)), { fieldManager: 'test' });
      await established(client, name);
    }
  });
  afterAll(async () => {
    client.close();
    await proxy.stop();
    await queues.stop();
  });
  beforeEach(async () => {
    count += 1;
    namespace = `watcher-${process.pid}-${count}`;
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

  const start = async () => {
    const watcher = startWatcherProcess({
      KUBECONFIG: connect().kubeconfig,
      QUEUE_URL_PREFIX: queues.urlPrefix,
      AWS_ENDPOINT_URL: proxy.endpoint,
      WATCH_NAMESPACE: namespace,
    });
    running.push(watcher);
    const { port = 0 } = await watcher.said('watching');
    return { watcher, url: (path: string) => `http://127.0.0.1:${port}${path}` };
  };
  const applyTank = async (name: string, targetLevel = 1, metadata: object = {}) =>
    await apply(tanks, { metadata: { name, ...metadata }, spec: { targetLevel, capacity: 100 } });
  const apply = async (
    kind: typeof tanks,
    { metadata, ...rest }: { readonly metadata: object & { readonly name: string }; readonly spec: object },
  ): Promise<KubeObject> => {
    const object = { apiVersion: kind.apiVersion, kind: kind.kind, metadata: { ...metadata, namespace }, ...rest };
    return await applyObject(client, kind, object, { fieldManager: 'user' });
  };
  const remove = async (kind: typeof tanks, name: string) =>
    await client.request({ method: 'DELETE', path: objectPath(kind, { namespace, name }) });

  /** Takes messages off a queue until one is for the object of that name. */
  const messagesUntil = async (queue: string, name: string): Promise<readonly Message[]> => {
    const all: Message[] = [];
    for (let tries = 0; !all.some((message) => message.name === name); tries += 1) {
      if (tries === 10) throw new Error(`${name} never came: ${JSON.stringify(all)}`);
      const received = await queues.drain(queue, { waitSeconds: 2 });
      all.push(...received.map(({ Body = '' }) => parseMessage(Body)));
    }
    return all;
  };
  const namesOf = (messages: readonly Message[]) => messages.map(({ name }) => name);

  describe('changes', { timeout }, () => {
    it('creating, changing and deleting an object each put its key on its controller’s queue, and a label does not', async () => {
      await start();
      await applyTank('north');
      const [created] = await messagesUntil('water-tank.fifo', 'north');
      expect(created).toMatchObject({
        ...{ v: 1, controller: 'water-tank', cluster: 'test', group: 'plant.example.com', resource: 'watertanks' },
        ...{ namespace, name: 'north', lane: 'watch', attempt: 0, deferrals: 0 },
      });
      await applyTank('north', 2);
      expect(namesOf(await messagesUntil('water-tank.fifo', 'north'))).toEqual(['north']);

      await applyTank('north', 2, { labels: { colour: 'blue' } });
      await applyTank('marker');
      expect(namesOf(await messagesUntil('water-tank.fifo', 'marker'))).toEqual(['marker']);

      await remove(tanks, 'north');
      expect(namesOf(await messagesUntil('water-tank.fifo', 'north'))).toEqual(['north']);
    });

    it('a child wakes its owner when it comes, changes hands and goes, and nobody else', async () => {
      await start();
      const spec = { ingredients: [{ name: 'rice', item: 'rice', amount: 1, unit: 'g' }] };
      const [first, second] = [
        await apply(dinners, { metadata: { name: 'first' }, spec }),
        await apply(dinners, { metadata: { name: 'second' }, spec }),
      ];
      await messagesUntil('dinner.fifo', 'second');
      const child = async ({ metadata: { name, uid } }: KubeObject, note: string) =>
        await apply(ingredients, {
          metadata: childOf({ name, uid: uid ?? '' }, note),
          spec: { item: 'rice', amount: 1, unit: 'g' },
        });
      await child(first, 'new');
      expect(namesOf(await messagesUntil('dinner.fifo', 'first'))).toEqual(['first']);
      await child(second, 'handed over');
      const both = namesOf([
        ...(await messagesUntil('dinner.fifo', 'second')),
        ...(await messagesUntil('dinner.fifo', 'first').catch(() => [])),
      ]);
      expect(new Set(both)).toEqual(new Set(['first', 'second']));
      await remove(ingredients, 'rice');
      expect(namesOf(await messagesUntil('dinner.fifo', 'second'))).toEqual(['second']);
    });
  });

  describe('starts', { timeout }, () => {
    it('a start without a cursor sends every object through timers, not before the changes of the day', async () => {
      await applyTank('old');
      await start();
      const [bulk] = await messagesUntil('timers', 'old');
      expect(bulk).toMatchObject({ controller: 'water-tank', lane: 'resync', name: 'old' });
      await applyTank('new');
      expect(namesOf(await messagesUntil('water-tank.fifo', 'new'))).toEqual(['new']);
    });

    it('a watcher that is killed in the middle of a burst has lost nothing once another has started', async () => {
      const { watcher } = await start();
      const names = Array.from({ length: 30 }, (_, number) => `tank-${number}`);
      const seen = new Set<string>();
      for (const name of names) {
        await applyTank(name);
        if (name === 'tank-15') watcher.kill('SIGKILL');
      }
      expect(await watcher.ended).toBe('SIGKILL');
      await start();
      const missing = () => names.filter((name) => !seen.has(name));
      // The list's order is not that of the names, and bulk comes paced: no message is known to be the last.
      for (let tries = 0; tries < 10 && missing().length > 0; tries += 1) {
        const bulk = await queues.drain('timers', { waitSeconds: 2 });
        for (const { Body = '' } of [...bulk, ...(await queues.drain('water-tank.fifo'))]) {
          seen.add(parseMessage(Body).name);
        }
      }
      expect(missing()).toEqual([]);
    });
  });

  describe('ends', { timeout }, () => {
    it('SIGTERM sends what waits for SQS, then ends with 0', async () => {
      const { watcher } = await start();
      proxy.refuse(true);
      for (const name of ['a', 'b', 'c']) await applyTank(name);
      await watcher.said('keys not sent, trying again');
      watcher.kill('SIGTERM');
      proxy.refuse(false);
      expect(await watcher.ended).toBe(0);
      const received = await queues.drain('water-tank.fifo');
      expect(new Set(received.map(({ Body = '' }) => parseMessage(Body).name))).toEqual(new Set(['a', 'b', 'c']));
    });

    it('an outage of SQS costs one message an object, and loses none', async () => {
      const { watcher, url } = await start();
      proxy.refuse(true);
      for (let level = 1; level <= 5; level += 1) for (const name of ['a', 'b']) await applyTank(name, level);
      await watcher.said('keys not sent, trying again');
      proxy.refuse(false);
      const names = [...namesOf(await messagesUntil('water-tank.fifo', 'a'))];
      if (!names.includes('b')) names.push(...namesOf(await messagesUntil('water-tank.fifo', 'b')));
      expect(new Set(names)).toEqual(new Set(['a', 'b']));
      expect(names.length).toBeLessThan(6);
      expect(await (await fetch(url('/metrics'))).text()).toMatch(/coalesced_total\{controller="water-tank"\} [1-9]/);
    });
  });

  it('the probes say that every kind is watched, and how many objects are known', { timeout }, async () => {
    await applyTank('north');
    const { url } = await start();
    const [live, ready] = await Promise.all([fetch(url('/healthz')), fetch(url('/readyz'))]);
    expect([live.status, ready.status]).toEqual([200, 200]);
    const kinds: unknown = expect.arrayContaining(crds.map((kind) => expect.objectContaining({ kind, served: true })));
    expect(await ready.json()).toMatchObject({ ok: true, kinds });
    const page = await (await fetch(url('/metrics'))).text();
    expect(page).toContain('outrigger_watcher_objects{kind="watertanks.plant.example.com"} 1');
    expect((await fetch(url('/elsewhere'))).status).toBe(404);
  });
}

/** The metadata of an ingredient that a dinner controls; its annotation names somebody who is none of ours. */
function childOf(owner: { readonly name: string; readonly uid: string }, note: string): { readonly name: string } {
  const ownerReferences = [{ apiVersion: dinners.apiVersion, kind: 'Dinner', ...owner, controller: true }];
  const metadata = { name: 'rice', annotations: { note, [ownerAnnotation]: 'elsewhere/first' }, ownerReferences };
  return metadata;
}
