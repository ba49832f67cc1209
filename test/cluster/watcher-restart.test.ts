// The watcher's process that is restarted, one whose checkpoint is compacted, and one whose cluster is restored from a
// backup, on a real kube-apiserver and etcd of its own: a cluster has one checkpoint, which other watchers would also write.
// Which keys are on the queues for the changes in between. What the API server does not decide is test/checkpoint and
// test/forwarding.
import { afterAll, describe, expect, it } from 'vitest';
import { timersQueue } from '../../src/core/names.ts';
import type { Message } from '../../src/sqs/message.ts';
import { startControlPlane } from '../../tools/control-plane/start.ts';
import { createRestartFixture, namesOf, queueNames } from '../watcher/restart-harness.ts';
import type { WatcherProcess } from '../watcher/watcher-process.ts';

const plane = await startControlPlane();
afterAll(() => plane.stop());
const connection = plane.connection();
const { dinner, ingredient, remove, start, tank, take, until } = createRestartFixture(() => ({
  connection,
  kubeconfig: plane.kubeconfig(),
}));

/** The number of objects of the first case. */
const objects = 100;

async function stop(watcher: WatcherProcess): Promise<void> {
  watcher.kill('SIGTERM');
  expect(await watcher.ended).toBe(0);
}

/** Empties the queues. Low-priority messages are delayed by up to some seconds, and are received only then. */
async function emptyQueues(): Promise<void> {
  for (const queue of queueNames) {
    let taken: readonly Message[];
    do taken = await take(queue, queue === timersQueue ? 2 : 0);
    while (taken.length > 0);
  }
}

/** Runs a watcher until it has forwarded these objects, and stops it. */
async function runOnce(...names: readonly string[]): Promise<void> {
  const watcher = await start();
  await until('timers', ...names);
  await stop(watcher);
  await emptyQueues();
}

describe('a restarted watcher', { timeout: 180_000 }, () => {
  it('a restarted watcher forwards no object that did not change', async () => {
    const names = Array.from({ length: objects }, (_, number) => `tank-${number}`);
    for (const name of names) await tank(name);
    await runOnce(...names);
    const next = await start();
    await tank('marker');
    expect(namesOf(await until('water-tank.fifo', 'marker'))).toEqual(['marker']);
    expect(await take('timers')).toEqual([]);
    expect(next.lines).toContainEqual(
      expect.objectContaining({ message: 'collection listed', mode: 'exact', objects }),
    );
  });

  it('a restarted watcher forwards created, changed and deleted objects, and the owners of children', async () => {
    for (const name of ['still', 'changed', 'gone']) await tank(name);
    const [keeps, loses, gets] = [await dinner('keeps'), await dinner('loses'), await dinner('gets')];
    await ingredient('kept', keeps);
    await ingredient('lost', loses);
    await runOnce('still', 'loses');
    await tank('changed', 2);
    await tank('created');
    await remove('tank', 'gone');
    await remove('ingredient', 'lost');
    await ingredient('got', gets);
    await start();
    const changed = await until('water-tank.fifo', 'changed', 'created', 'gone');
    expect(namesOf(changed)).toEqual(['changed', 'created', 'gone']);
    expect(namesOf(await until('dinner.fifo', 'loses', 'gets'))).toEqual(['gets', 'loses']);
    expect(await take('timers')).toEqual([]);
  });

  it('a watcher whose checkpoint is compacted forwards the newer objects, and every owner at low priority', async () => {
    const loses = await dinner('loses');
    await dinner('keeps');
    await ingredient('lost', loses);
    await tank('still');
    await runOnce('loses', 'keeps', 'still');
    await remove('ingredient', 'lost');
    await tank('created');
    await plane.compact();
    // Its watch cache still has the older versions.
    await plane.restartApiServer();
    const next = await start();
    expect(namesOf(await until('timers', 'loses', 'keeps'))).toEqual(['keeps', 'loses']);
    expect(namesOf(await until('water-tank.fifo', 'created'))).toEqual(['created']);
    expect(next.lines).toContainEqual(expect.objectContaining({ message: 'collection listed', mode: 'expired' }));
  });

  it('a watcher whose cluster is restored from a backup forwards every object, and its checkpoint is reset', async () => {
    await tank('kept');
    const watcher = await start();
    await until('timers', 'kept');
    await plane.backUp();
    // Enough versions that the restored server does not reach them again.
    for (let level = 1; level <= 90; level += 1) await tank('lost', level);
    for (let level = 1; level <= 90; level += 1) await tank('kept', level);
    await until('water-tank.fifo', 'lost', 'kept');
    for (const queue of queueNames) await take(queue);

    await plane.restore();
    expect(namesOf(await until('timers', 'kept'))).toEqual(['kept']);
    await watcher.logged('cluster restored from a backup: all keys are sent');
    // A key that changed within the last second is sent once more, so an older message may still be there.
    await take('water-tank.fifo');
    // A watch that notices the restore later has every kind listed again, and a change that such a list finds first is
    // sent with all keys. So the object is changed until a change of it has arrived as one.
    const isChangeSent = async () => namesOf(await take('water-tank.fifo', 2)).includes('kept');
    let level = 1;
    do {
      level += 1;
      await tank('kept', level);
    } while (!(await isChangeSent()));
    await stop(watcher);
    for (const queue of queueNames) await take(queue);

    await tank('new');
    await start();
    expect(namesOf(await until('water-tank.fifo', 'new'))).toEqual(['new']);
    expect(await take('timers')).toEqual([]);
  });
});
