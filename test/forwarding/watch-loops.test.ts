// Only the loops of a watch list with some namespaces: what they follow, and which owners a list of children requeues.
// One loop is watch-loop.test.ts. The API server is the embedded one, the queue is an array.
import { expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { noCheckpoint } from '../../src/checkpoint/checkpoint.ts';
import { controllerLabel, ownerAnnotation } from '../../src/core/names.ts';
import type { Subscriber, WatchedResource, WatchList } from '../../src/core/watch-list.ts';
import { ConfigMap, Namespace, Secret } from '../../src/kubernetes.ts';
import { parseMessage } from '../../src/sqs/message.ts';
import { startApiServer } from '../../src/testing/api-server.ts';
import { startWatcher } from '../../src/watcher/start.ts';
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
  ...{ apiVersion: 'v1', kind, metadata: { namespace, name, ...metadata } },
});
const place = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });

it('only the listed namespaces are watched, each kind without namespaces once, and no request leaves them', async () => {
  const server = await startApiServer({
    objects: ['shop', 'office', 'attic'].flatMap((name) => [place(name), namespaced('ConfigMap', name, `in-${name}`)]),
  });
  onTestFinished(server.close);
  const sent: string[] = [];
  const watched: string[] = [];
  let changed = Promise.withResolvers<void>();
  const watchList: WatchList = { version: 1, namespaces: ['shop', 'office'], resources: [...resources] };
  const watcher = await startWatcher(
    {
      watchList,
      client: server.client,
      send: async (queue, entries) => {
        for (const { body } of entries) {
          const { namespace = '', name } = parseMessage(body);
          sent.push(`${queue} ${namespace}/${name}`);
        }
        changed.resolve();
        changed = Promise.withResolvers();
        return entries.map(() => ({ accepted: true, messageId: '' }));
      },
      checkpoint: { ...noCheckpoint, accepted: (name) => void watched.push(name) },
      log: createRecorder().log,
    },
    { cluster: 'c', lowPriorityPerSecond: 100, host: '127.0.0.1', port: 0 },
  );
  onTestFinished(async () => void (await watcher.stop({ drainSeconds: 1 })));
  const until = async (key: string) => {
    while (!sent.includes(key)) await changed.promise;
  };
  await until('timers shop/in-shop');
  await until('timers office/in-office');
  await until('timers /attic');
  const owner = { labels: { [controllerLabel]: 'dish' }, annotations: { [ownerAnnotation]: 'shop/in-shop' } };
  await server.apply(namespaced('ConfigMap', 'attic', 'late'), namespaced('Secret', 'shop', 'lid', owner));
  await until('dish.fifo shop/in-shop');
  await server.apply(namespaced('ConfigMap', 'office', 'late'));
  await until('dish.fifo office/late');
  expect(sent.filter((key) => key.includes(' attic/'))).toEqual([]);
  const paths = server.requests().map(({ path }) => path);
  expect(paths.filter((path) => /^\/api\/v1\/(configmaps|secrets)/.test(path))).toEqual([]);
  const entries = new Set(watched.map((name) => name.split('_').slice(2, 4).join('/')));
  expect([...entries].sort()).toEqual(
    ['configmaps/office', 'configmaps/shop', 'namespaces/', 'secrets/office', 'secrets/shop'].sort(),
  );
});

it.each<[Subscriber['as'], readonly string[]]>([
  ['owned', ['timers shop/in-shop']],
  ['watched', ['timers office/in-office', 'timers shop/in-shop']],
])('what was deleted unseen in a namespace, of a kind that is %s, requeues the primaries %j', async (as, expected) => {
  const server = await startApiServer({
    objects: ['shop', 'office'].flatMap((name) => [place(name), namespaced('ConfigMap', name, `in-${name}`)]),
  });
  onTestFinished(server.close);
  const { body } = await server.client.request({ method: 'GET', path: '/api/v1/configmaps' });
  const { metadata } = z.object({ metadata: z.object({ resourceVersion: z.string() }) }).parse(body);
  const sent: string[] = [];
  const listed = Promise.withResolvers<void>();
  const watcher = await startWatcher(
    {
      watchList: {
        ...{ version: 1, namespaces: ['shop', 'office'] },
        resources: [
          { ...primary, subscribers: [{ controller: 'dish', as: 'primary', primary, predicate: 'resourceVersion' }] },
          { ...collection(Secret), subscribers: [{ controller: 'dish', as, primary, predicate: 'any' }] },
        ],
      },
      client: server.client,
      send: async (queue, entries) => {
        for (const message of entries.map(({ body }) => parseMessage(body)))
          sent.push(`${queue} ${message.namespace}/${message.name}`);
        return entries.map(() => ({ accepted: true, messageId: '' }));
      },
      checkpoint: {
        ...noCheckpoint,
        start: async (entry) => (entry.includes('_secrets_shop_') ? undefined : metadata.resourceVersion),
        // After SQS has accepted the keys.
        accepted: (entry) => entry.includes('_secrets_shop_') && listed.resolve(),
      },
      log: createRecorder().log,
    },
    { cluster: 'c', lowPriorityPerSecond: 100, host: '127.0.0.1', port: 0 },
  );
  onTestFinished(async () => void (await watcher.stop({ drainSeconds: 1 })));
  await listed.promise;
  expect(sent.sort()).toEqual(expected);
});
