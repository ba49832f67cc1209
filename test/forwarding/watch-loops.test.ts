// Only the loops of a watch list with some namespaces, for all kinds or for one: what they follow, and which owners a
// list of children requeues.
// One loop is watch-loop.test.ts. The API server is the embedded one, the queue is an array.
import { setImmediate } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { noCheckpoint, type WatchCheckpoint } from '../../src/checkpoint/checkpoint.ts';
import { controllerLabel, ownerAnnotation } from '../../src/core/names.ts';
import type { Subscriber, WatchedResource, WatchList } from '../../src/core/watch-list.ts';
import { watchListOf } from '../../src/generate/watch-list.ts';
import { ConfigMap, Namespace, PriorityClass, Secret } from '../../src/kubernetes.ts';
import { inNamespaces } from '../../src/outrigger.ts';
import { parseMessage } from '../../src/sqs/message.ts';
import { startApiServer, type TestApiServer } from '../../src/testing/api-server.ts';
import { startWatcher } from '../../src/watcher/start.ts';
import { listOf, openWatch } from '../kube/watch/watch-script.ts';
import { sendJson, startWireServer, statusOf } from '../kube/wire-server.ts';
import { createRecorder } from '../support/recorder.ts';

const collection = ({
  group,
  version,
  plural,
  kind,
  namespaced,
}: typeof ConfigMap | typeof Secret | typeof Namespace) => ({ group, version, plural, kind, namespaced });
const primary = collection(ConfigMap);
const resources: readonly WatchedResource[] = [
  { ...primary, subscribers: [{ controller: 'dish', as: 'primary', primary, predicate: 'resourceVersion' }] },
  { ...collection(Secret), subscribers: [{ controller: 'dish', as: 'owned', primary, predicate: 'any' }] },
  {
    ...collection(Namespace),
    subscribers: [{ controller: 'place', as: 'primary', primary: collection(Namespace), predicate: 'resourceVersion' }],
  },
];
const namespaced = (kind: string, namespace: string, name: string, metadata: object = {}) => ({
  apiVersion: 'v1',
  kind,
  metadata: { namespace, name, ...metadata },
});
const place = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
const claim = ConfigMap.controller('claim', {
  reads: [inNamespaces(Secret, ['vault'])],
  reconcile: async () => undefined,
  watches: [{ kind: Secret, label: 'for' }],
});

/** Starts a watcher, and collects what it sends: `queue namespace/name`. */
async function watch(
  server: Pick<TestApiServer, 'client'>,
  watchList: WatchList,
  checkpoint: WatchCheckpoint = noCheckpoint,
) {
  const sent: string[] = [];
  const { log, lines } = createRecorder();
  let changed = Promise.withResolvers<void>();
  const watcher = await startWatcher(
    {
      watchList,
      checkpoint,
      client: server.client,
      log,
      send: async (queue, entries) => {
        for (const { namespace = '', name } of entries.map(({ body }) => parseMessage(body)))
          sent.push(`${queue} ${namespace}/${name}`);
        changed.resolve();
        changed = Promise.withResolvers();
        return entries.map(() => ({ accepted: true, messageId: '' }));
      },
    },
    { cluster: 'c', lowPriorityPerSecond: 100, host: '127.0.0.1', port: 0 },
  );
  onTestFinished(async () => void (await watcher.stop({ drainSeconds: 1 })));
  const until = async (key: string) => {
    while (!sent.includes(key)) await changed.promise;
  };
  return { sent, until, lines, health: watcher.health };
}

it('X17: only the listed namespaces are watched, each kind without namespaces once, and no request leaves them', async () => {
  const server = await startApiServer({
    objects: ['shop', 'office', 'attic'].flatMap((name) => [place(name), namespaced('ConfigMap', name, `in-${name}`)]),
  });
  onTestFinished(server.close);
  const watched: string[] = [];
  const watchList: WatchList = { version: 1, namespaces: ['shop', 'office'], resources: [...resources] };
  const checkpoint = { ...noCheckpoint, accepted: (name: string) => void watched.push(name) };
  const { until, sent, lines } = await watch(server, watchList, checkpoint);
  await until('timers shop/in-shop');
  await until('timers office/in-office');
  await until('timers /attic');
  const owner = { labels: { [controllerLabel]: 'dish' }, annotations: { [ownerAnnotation]: 'shop/in-shop' } };
  await server.apply(namespaced('ConfigMap', 'attic', 'late'), namespaced('Secret', 'shop', 'lid', owner));
  await until('dish.fifo shop/in-shop');
  await server.apply(namespaced('ConfigMap', 'office', 'late'));
  await until('dish.fifo office/late');
  expect(sent.filter((key) => key.includes(' attic/'))).toEqual([]);
  const watching = () => lines.find(({ message }) => message === 'watching');
  while (watching() === undefined) await setImmediate();
  expect(watching()?.fields).toMatchObject({ kinds: 3 });
  const paths = server.requests().map(({ path }) => path);
  expect(paths.filter((path) => /^\/api\/v1\/(configmaps|secrets)/.test(path))).toEqual([]);
  const entries = new Set(watched.map((name) => name.split('_').slice(2, 4).join('/')));
  expect([...entries].sort()).toEqual(
    ['configmaps/office', 'configmaps/shop', 'namespaces/', 'secrets/office', 'secrets/shop'].sort(),
  );
});

it('a watcher of a kind in two versions is not ready while it can watch one of them only', async () => {
  const server = await startWireServer(({ path, query }, response) => {
    if (path.includes('/v2/')) return sendJson(response, 503, statusOf(503, 'ServiceUnavailable'));
    return query.watch === 'true' ? openWatch(response) : sendJson(response, 200, listOf('100'));
  });
  const [first, second] = ['v2', 'v1'].map((version) => {
    const names = { group: 'a.example.com', version, plural: 'dishes', kind: 'Dish', namespaced: true };
    const subscriber = { controller: version, as: 'primary', primary: names, predicate: 'generation' } as const;
    return { ...names, subscribers: [subscriber] };
  });
  if (first === undefined || second === undefined) throw new Error('two versions');
  const { health, lines } = await watch({ client: server.client() }, { version: 1, resources: [first, second] });
  await expect.poll(() => lines.some(({ message }) => message === 'collection listed')).toBe(true);
  await expect.poll(() => lines.some(({ message }) => message === 'watch failed, retrying')).toBe(true);
  expect(health.ready()).toBe(false);
  expect(health.report().map(({ kind }) => kind)).toEqual(['dishes.a.example.com/v2', 'dishes.a.example.com/v1']);
});

it('an object that is deleted where another controller alone may read its kind is not sent', async () => {
  const all = Secret.controller('all', { reconcile: async () => undefined });
  const held = { finalizers: ['a.example.com/b'] };
  const objects = ['vault', 'shop'].flatMap((name) => [place(name), namespaced('Secret', name, 'held', held)]);
  const server = await startApiServer({ objects });
  onTestFinished(server.close);
  const { until, sent } = await watch(server, watchListOf([claim, all], undefined, ['shop']));
  await until('timers shop/held');
  for (const namespace of ['vault', 'shop']) await server.delete(Secret, { namespace, name: 'held' });
  await until('all.fifo shop/held');
  expect(sent.filter((key) => key.includes('vault/'))).toEqual([]);
});

it('a change of a kind whose generation does not count its changes is sent', async () => {
  const rank = (description: string) => ({
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name: 'high' },
    value: 1,
    description,
  });
  const server = await startApiServer({ objects: [rank('one')] });
  onTestFinished(server.close);
  const watchList = watchListOf([PriorityClass.controller('rank', { reconcile: async () => undefined })]);
  const { until } = await watch(server, watchList);
  await until('timers /high');
  await server.apply(rank('two'));
  await until('rank.fifo /high');
});

it('an object outside of the namespaces in the selector of a watch is not sent, also if the kind is read there', async () => {
  for (const reads of [Secret, inNamespaces(Secret, ['vault', 'shop'])]) {
    const claim = ConfigMap.controller('claim', {
      reads: [reads],
      reconcile: async () => undefined,
      watches: [{ kind: Secret, label: 'for', selector: { namespaces: ['vault'] } }],
    });
    const server = await startApiServer({ objects: ['vault', 'shop'].map(place) });
    onTestFinished(server.close);
    const { until, sent } = await watch(server, watchListOf([claim]));
    for (const name of ['shop', 'vault'])
      await server.apply(namespaced('Secret', name, 'one', { labels: { for: `from-${name}` } }));
    await until('claim.fifo vault/from-vault');
    expect(sent.filter((key) => key.includes('from-'))).toEqual(['claim.fifo vault/from-vault']);
  }
});

it('a kind that is read in named namespaces is watched there alone, and what it maps is sent from wherever it is', async () => {
  const objects = ['vault', 'shop'].flatMap((name) => [
    place(name),
    namespaced('Secret', name, `in-${name}`, { labels: { for: 'one' } }),
  ]);
  const all = Secret.controller('all', { reconcile: async () => undefined });
  const rows = [
    [[], undefined],
    [[all], undefined],
    [[], ['shop']],
  ] as const;
  for (const [other, namespaces] of rows) {
    const server = await startApiServer({ objects });
    onTestFinished(server.close);
    const { until, sent } = await watch(server, watchListOf([claim, ...other], undefined, namespaces));
    await until('timers vault/one');
    if (other.length > 0) await until('timers shop/in-shop');
    await server.apply(namespaced('Secret', 'shop', 'more', { labels: { for: 'two' } }));
    await server.apply(namespaced('Secret', 'vault', 'more', { labels: { for: 'three' } }));
    await until('claim.fifo vault/three');
    expect(sent.filter((key) => /\/(one|two|three)$/.test(key))).toEqual([
      'timers vault/one',
      'claim.fifo vault/three',
    ]);
    const paths = server.requests().map(({ path }) => path.replace(/\?.*/, ''));
    const secrets = new Set(paths.filter((path) => path.endsWith('/secrets')));
    expect([...secrets]).toEqual([other.length > 0 ? '/api/v1/secrets' : '/api/v1/namespaces/vault/secrets']);
    await server.close();
  }
});

it.each<[string, Partial<Subscriber> & Pick<Subscriber, 'as'>, readonly string[]]>([
  ['owned', { as: 'owned' }, ['timers shop/in-shop']],
  ['watched', { as: 'watched' }, ['timers office/in-office', 'timers shop/in-shop']],
  ['watched by a label', { as: 'watched', label: 'for' }, ['timers shop/in-shop']],
  [
    'watched by a label via another kind',
    { as: 'watched', label: 'for', primary: collection(Namespace) },
    ['timers office/in-office', 'timers shop/in-shop'],
  ],
])('what was deleted unseen in a namespace, of a kind that is %s, requeues the primaries there or in all', async (_, more, expected) => {
  const server = await startApiServer({
    objects: ['shop', 'office'].flatMap((name) => [place(name), namespaced('ConfigMap', name, `in-${name}`)]),
  });
  onTestFinished(server.close);
  const { body } = await server.client.request({ method: 'GET', path: '/api/v1/configmaps' });
  const { metadata } = z.object({ metadata: z.object({ resourceVersion: z.string() }) }).parse(body);
  const listed = Promise.withResolvers<void>();
  const watchList: WatchList = {
    version: 1,
    namespaces: ['shop', 'office'],
    resources: [
      { ...primary, subscribers: [{ controller: 'dish', as: 'primary', primary, predicate: 'resourceVersion' }] },
      { ...collection(Secret), subscribers: [{ controller: 'dish', primary, predicate: 'any', ...more }] },
    ],
  };
  const { sent } = await watch(server, watchList, {
    ...noCheckpoint,
    start: async (entry) => (entry.includes('_secrets_shop_') ? undefined : metadata.resourceVersion),
    // After SQS has accepted the keys.
    accepted: (entry) => entry.includes('_secrets_shop_') && listed.resolve(),
  });
  await listed.promise;
  expect(sent.sort()).toEqual(expected);
});
