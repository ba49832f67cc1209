// Only what a watch of owned or selected objects brings into the watcher: how many objects and bytes, and which keys when
// an object leaves the selection. The API server is the embedded one.
import { expect, it } from 'vitest';
import { memcachedProxy } from '../../src/controllers/memcached-proxy.ts';
import { forEachConcurrently } from '../../src/core/async.ts';
import { controllerLabel } from '../../src/core/names.ts';
import type { WatchedResource } from '../../src/core/watch-list.ts';
import { watchListOf } from '../../src/generate/watch-list.ts';
import { collectionPath } from '../../src/kube/client/path.ts';
import { ConfigMap } from '../../src/kubernetes.ts';
import { childOf, parts, pots, watchLoopFixture } from './watch-loop-harness.ts';

const fixture = watchLoopFixture();
const { follow, put, remove } = fixture;

const foreign = 100;
/** Less than the metadata of half of them. */
const mostBytes = 10_000;

async function createForeign(): Promise<void> {
  const path = collectionPath(ConfigMap, 'default');
  const names = Array.from({ length: foreign }, (_, index) => `foreign-${index}`);
  await forEachConcurrently(20, names, async (name) => {
    await fixture.user.request({ method: 'POST', path, body: { ...configMap, metadata: { name } } });
  });
}
const configMap = { apiVersion: 'v1', kind: 'ConfigMap' };

it('a MemcachedProxy brings its own ConfigMaps into the watcher, and none of the others in the cluster', async () => {
  await createForeign();
  const labels = { [controllerLabel]: 'memcached-proxy' };
  const annotations = { 'outrigger.dev/owner': 'default/mix' };
  await put('mix-config', '1', { labels, annotations });
  const configMaps = watchListOf([memcachedProxy]).resources.find(({ plural }) => plural === 'configmaps');
  if (configMaps === undefined) throw new Error('a MemcachedProxy owns ConfigMaps');
  const at = follow(configMaps);
  await at.until(() => at.lists().length === 1);
  await put('foreign-1', '2');
  await put('mix-config', '2', { labels, annotations });
  await at.until(() => at.on('memcached-proxy.fifo').length === 1);
  expect(at.on('memcached-proxy.fifo')).toEqual(['mix']);
  expect(at.loop.objects()).toBe(1);
  expect(at.listedBytes()).toBeLessThan(mostBytes);
});

it('a child whose label was removed requeues its owner, and so does a child that gets the label', async () => {
  const selected: WatchedResource = { ...parts, labelSelector: `${controllerLabel}=dish` };
  await put('lid', '1', childOf('soup'));
  const at = follow(selected);
  await at.until(() => at.lists().length === 1);
  await put('lid', '1', { annotations: childOf('soup').annotations });
  await at.until(() => at.on('dish.fifo').length === 1);
  expect(at.loop.objects()).toBe(0);
  await put('lid', '1', childOf('stew'));
  await at.until(() => at.on('dish.fifo').length === 2);
  expect(at.on('dish.fifo')).toEqual(['soup', 'stew']);
});

it('a watch with a selector that shares its kind sends the objects that it selects, and one that it selects no longer', async () => {
  const blue = { labels: { colour: 'blue' } };
  const [all] = pots.subscribers;
  const watching = {
    ...all,
    controller: 'painter',
    as: 'watched',
    predicate: 'any',
    matchLabels: blue.labels,
  } as const;
  const at = follow({ ...pots, subscribers: [watching] } as WatchedResource);
  await at.until(() => at.lists().length === 1);
  await put('red', '1');
  await put('pot', '1', blue);
  await put('pot', '2', { labels: {} });
  await put('pot', '3');
  await put('last', '1', blue);
  await at.until(() => at.on('painter.fifo').includes('last'));
  await remove('red');
  expect(new Set(at.on('painter.fifo'))).toEqual(new Set(['pot', 'last']));
});
