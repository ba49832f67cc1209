// One watch loop on the embedded API server: which keys it sends from a checkpoint and after a restore, and how far the
// checkpoint may advance.
import { expect, it } from 'vitest';
import { watchId } from '../../src/sqs/deduplication.ts';
import { childOf, parts, pots, primary, watchLoopFixture } from './watch-loop-harness.ts';

const { expireWindow, follow, stopServer, put, remove, versionNow } = watchLoopFixture();

it('a watch loop forwards only the changes since its checkpoint', async () => {
  for (const name of ['still', 'changed', 'gone']) await put(name);
  const start = await versionNow();
  await put('changed', '2');
  await remove('gone');
  const at = follow(pots, { start });
  await at.until(() => at.on('pot.fifo').length === 2);
  expect(new Set(at.on('pot.fifo'))).toEqual(new Set(['changed', 'gone']));
  expect(at.on('timers')).toEqual([]);
  expect(at.lists()).toMatchObject([{ mode: 'exact', objects: 3 }]);
});

it('a watch loop whose checkpoint is too old forwards the newer objects and requeues the owners', async () => {
  await put('still', '1', childOf('bread'));
  const start = await versionNow();
  await put('newer', '1', childOf('soup'));
  expireWindow();
  const at = follow(parts, { start });
  await at.until(() => at.lists().length === 1);
  await at.until(() => at.on('dish.fifo').length === 1);
  expect(at.on('dish.fifo')).toEqual(['soup']);
  expect(at.requeued).toEqual(['dish']);
});

it('a watch loop whose checkpoint is too old does not map objects to others of their kind, which are all requeued', async () => {
  const start = await versionNow();
  await put('newer');
  expireWindow();
  const at = follow({ ...pots, subscribers: [primary, { ...primary, as: 'watched' }] }, { start });
  await at.until(() => at.lists().length === 1);
  expect(at.requeued).toEqual(['pot']);
  await put('later');
  await at.until(() => at.on('pot.fifo').length > 2);
  expect(at.sent.map(({ message: { group, name } }) => `${group}/${name}`).sort()).toEqual([
    ...['/later', '/newer', 'mapped/later'],
  ]);
});

it('a watch loop retries to read its checkpoint, and forwards nothing before', async () => {
  await put('still');
  const version = await versionNow();
  let reads = 0;
  const start = async () => {
    reads += 1;
    if (reads === 1) throw new Error('unavailable');
    return version;
  };
  const at = follow(pots, { start });
  await at.until(() => at.waits.length === 1);
  at.endWaits();
  await at.until(() => at.lists().length === 1);
  expect(at.lists()).toMatchObject([{ mode: 'exact' }]);
  expect(at.sent).toEqual([]);
});

it('a watch loop sends every key and drops its version if the cluster was restored from a backup', async () => {
  await put('one');
  const at = follow(pots, { start: '999999999' });
  await at.until(() => at.on('timers').length === 1);
  expect(at.dropped).toHaveLength(1);
  await at.caughtUpWith(await versionNow());
  expect(at.accepted.every((version) => Number(version) < 999_999_999)).toBe(true);
});

it('a watch loop sends every key if the cluster is restored while it is watched', async () => {
  for (let value = 0; value < 20; value += 1) await put('one', `${value}`);
  const at = follow(pots);
  await at.until(() => at.on('timers').length === 1);
  await at.caughtUpWith(await versionNow());
  const { restart } = await stopServer();
  await at.until(() => at.waits.length > 0);
  await restart();
  await put('one');
  expect(Number(await versionNow())).toBeLessThan(Number(at.loop.lowWatermark()));
  at.reject(true);
  at.endWaits();
  await at.until(() => at.lists().length === 2);
  expect(at.loop.lowWatermark()).toBeUndefined();
  at.reject(false);
  await at.until(() => at.waits.length > 0);
  at.endWaits();
  await at.caughtUpWith(await versionNow());
  expect([at.on('timers'), at.on('pot.fifo')]).toEqual([['one', 'one'], []]);
});

it('a key that SQS rejects since before a restore holds back the low watermark at the version before its change', async () => {
  for (let value = 0; value < 20; value += 1) await put('one', `${value}`);
  const at = follow(pots);
  await at.caughtUpWith(await versionNow());
  at.reject('pot.fifo');
  await put('one');
  await at.until(() => at.waits.length > 0);
  const { restart } = await stopServer();
  await restart();
  await put('one');
  at.endWaits();
  await at.until(() => at.on('timers').length === 2);
  const listed = await versionNow();
  await put('one', '2');
  await put('two');
  await at.until(() => at.loop.objects() === 2);
  expect(at.loop.lowWatermark()).toBe(listed);
  const before = at.accepted.length;
  at.reject(false);
  at.endWaits();
  const last = await versionNow();
  await at.caughtUpWith(last);
  // Not the version of the change before the restore.
  expect(at.accepted.slice(before).every((version) => Number(version) <= Number(last))).toBe(true);
});

it('a watch loop sends another deduplication id for the same version after a restore', async () => {
  await put('one');
  const restored = follow(pots, { start: '999999999' });
  const notRestored = follow(pots);
  for (const at of [restored, notRestored]) await at.until(() => at.lists().length === 1);
  const { metadata } = await put('one', '2');
  const source = { uid: metadata.uid ?? '', resourceVersion: metadata.resourceVersion ?? '' };
  const target = { controller: 'pot', cluster: 'c', group: '', resource: 'configmaps', namespace: 'default' };
  const id = watchId({ ...target, name: 'one' }, [source]);
  for (const at of [restored, notRestored]) await at.until(() => at.on('pot.fifo').length === 1);
  expect(notRestored.ids('pot.fifo')).toEqual([id]);
  expect(restored.ids('pot.fifo')).not.toEqual([id]);
});

it('a kind of an aggregated API has no checkpoint, and its versions are never compared', async () => {
  await put('one');
  const at = follow({ ...pots, aggregated: true }, { start: '999999999' });
  await at.until(() => at.on('timers').length === 1 && at.lists().length === 1);
  expect(at.lists()).toMatchObject([{ mode: 'initial' }]);
  await at.caughtUpWith(await versionNow());
  expect([at.accepted, at.dropped]).toEqual([[], []]);
});

it.each([
  ['a change', async () => await put('one', '2')],
  ['a deletion', async () => await remove('one')],
])('the low watermark is held back by the key of %s that SQS rejects, even after later bookmarks', async (_, act) => {
  await put('one');
  const at = follow(pots);
  await at.caughtUpWith(await versionNow());
  const before = at.loop.lowWatermark();
  at.reject(true);
  await act();
  await at.until(() => at.waits.length > 0);
  await put('two');
  expect(at.loop.lowWatermark()).toBe(before);
  at.reject(false);
  at.endWaits();
  await at.caughtUpWith(await versionNow());
});
