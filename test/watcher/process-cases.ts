// Cases of the watcher process for any API server: which keys are on the queues after changes of objects, restarts of
// the process and outages of SQS. The single decisions are tested in test/forwarding.

import { readFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { foreignKind } from '../../src/api/foreign-kind.ts';
import type { Kind } from '../../src/api/kind.ts';
import { applyObject } from '../../src/kube/apply/apply.ts';
import { createClient, type KubeClient } from '../../src/kube/client/client.ts';
import type { Connection } from '../../src/kube/client/connection.ts';
import { type KubeObject, parseObject } from '../../src/kube/client/object.ts';
import { objectPath } from '../../src/kube/client/path.ts';
import { CustomResourceDefinition, Namespace } from '../../src/kubernetes.ts';
import { type Message, parseMessage } from '../../src/sqs/message.ts';
import { startTestQueues, type TestQueues } from '../sqs/fauxqs.ts';
import { untilEstablished } from '../support/established.ts';
import { type FaultyProxy, startFaultyProxy } from './fault-proxy.ts';
import { startWatcherProcess, type WatcherProcess } from './watcher-process.ts';

const tanks = foreignKind({ group: 'plant.example.com', version: 'v1', kind: 'WaterTank' });
const ingredients = foreignKind({ group: 'kitchen.example.com', version: 'v1', kind: 'Ingredient' });
const dinners = foreignKind({ group: 'kitchen.example.com', version: 'v1', kind: 'Dinner' });
const crds = [tanks, ingredients, dinners].map(({ plural, group }) => `${plural}.${group}`);
const queueNames = ['water-tank.fifo', 'ingredient.fifo', 'dinner.fifo', 'timers'];

/** Each case starts processes. This takes seconds if other tests run in parallel. */
const timeout = 60_000;

/** Declares the cases for a server. */
export function watcherCases(connect: () => { readonly connection: Connection; readonly kubeconfig: string }): void {
  let client: KubeClient;
  let queues: TestQueues;
  let proxy: FaultyProxy;
  let namespace: string;
  let count = 0;
  const running: WatcherProcess[] = [];

  beforeAll(async () => {
    client = createClient(connect().connection);
    queues = await startTestQueues();
    proxy = await startFaultyProxy(queues.endpoint);
    await queues.create(...queueNames);
    for (const name of crds) {
      const text = await readFile(
        new URL(`../../infra/kubernetes/generated/crd-${name}.yaml`, import.meta.url),
        'utf8',
      );
      await applyObject(client, CustomResourceDefinition, parseObject(parse(text)), { fieldManager: 'test' });
      await untilEstablished(client, name);
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
    await applyObject(client, Namespace, object, { fieldManager: 'test' });
  });
  afterEach(async () => {
    proxy.reject(false);
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
      WATCH_NAMESPACES: namespace,
    });
    running.push(watcher);
    const { port = 0 } = await watcher.logged('watching');
    return { watcher, url: (path: string) => `http://127.0.0.1:${port}${path}` };
  };
  const applyTank = async (name: string, targetLevel = 1, metadata: object = {}) =>
    await apply(tanks, { metadata: { name, ...metadata }, spec: { targetLevel, capacity: 100 } });
  const apply = async (
    kind: Kind,
    { metadata, ...rest }: { readonly metadata: object & { readonly name: string }; readonly spec: object },
  ): Promise<KubeObject> => {
    const object = { apiVersion: kind.apiVersion, kind: kind.kind, metadata: { ...metadata, namespace }, ...rest };
    return await applyObject(client, kind, object, { fieldManager: 'user' });
  };
  const remove = async (kind: Kind, name: string) =>
    await client.request({ method: 'DELETE', path: objectPath(kind, { namespace, name }) });

  /** Receives messages from a queue until one is for the object of this name. */
  const messagesUntil = async (queue: string, name: string): Promise<readonly Message[]> => {
    const all: Message[] = [];
    for (let tries = 0; !all.some((message) => message.name === name); tries += 1) {
      if (tries === 10) throw new Error(`no message for ${name}: ${JSON.stringify(all)}`);
      const received = await queues.drain(queue, { waitSeconds: 2 });
      all.push(...received.map(({ Body = '' }) => parseMessage(Body)));
    }
    return all;
  };
  const namesOf = (messages: readonly Message[]) => messages.map(({ name }) => name);

  describe('the watcher process after a change', { timeout }, () => {
    it('a created, changed or deleted object puts its key on the queue, a changed label does not', async () => {
      await start();
      await applyTank('north');
      const [created] = await messagesUntil('water-tank.fifo', 'north');
      expect(created).toMatchObject({
        ...{ controller: 'water-tank', cluster: 'test', group: 'plant.example.com', resource: 'watertanks' },
        ...{ namespace, name: 'north', cause: { type: 'change' } },
      });
      await applyTank('north', 2);
      expect(namesOf(await messagesUntil('water-tank.fifo', 'north'))).toEqual(['north']);

      await applyTank('north', 2, { labels: { colour: 'blue' } });
      await applyTank('marker');
      expect(namesOf(await messagesUntil('water-tank.fifo', 'marker'))).toEqual(['marker']);

      await remove(tanks, 'north');
      expect(namesOf(await messagesUntil('water-tank.fifo', 'north'))).toEqual(['north']);
    });
  });

  describe('the watcher process after a start', { timeout }, () => {
    it('a start without a checkpoint sends every object through the timers queue, and changes directly', async () => {
      await applyTank('old');
      await start();
      const [listed] = await messagesUntil('timers', 'old');
      expect(listed).toMatchObject({ controller: 'water-tank', cause: { type: 'resync' }, name: 'old' });
      await applyTank('new');
      expect(namesOf(await messagesUntil('water-tank.fifo', 'new'))).toEqual(['new']);
    });
  });

  describe('the watcher process and SQS', { timeout }, () => {
    it('a watcher sends its queued keys on SIGTERM and exits with 0', async () => {
      const { watcher } = await start();
      proxy.reject(true);
      for (const name of ['a', 'b', 'c']) await applyTank(name);
      await watcher.logged('keys not sent, retrying');
      watcher.kill('SIGTERM');
      proxy.reject(false);
      expect(await watcher.ended).toBe(0);
      const received = await queues.drain('water-tank.fifo');
      expect(new Set(received.map(({ Body = '' }) => parseMessage(Body).name))).toEqual(new Set(['a', 'b', 'c']));
    });
  });

  it(
    'the endpoints of the watcher process show that every kind is watched, and how many objects are known',
    { timeout },
    async () => {
      await applyTank('north');
      const { url } = await start();
      const [live, ready] = await Promise.all([fetch(url('/healthz')), fetch(url('/readyz'))]);
      expect([live.status, ready.status]).toEqual([200, 200]);
      const kinds: unknown = expect.arrayContaining(
        // The watcher watches one namespace, which is part of the name of its loops.
        crds.map((kind) => expect.objectContaining({ kind: `${kind}/${namespace}`, served: true })),
      );
      expect(await ready.json()).toMatchObject({ ok: true, kinds });
      const page = await (await fetch(url('/metrics'))).text();
      expect(page).toContain('outrigger_watcher_objects{cluster="test",kind="watertanks.plant.example.com"} 1');
      expect((await fetch(url('/elsewhere'))).status).toBe(404);
    },
  );
}
