// Cases of restarted watcher processes for any API server, with the watch checkpoint in the cluster: which keys are on
// the queues for the changes in between. What the API server does not decide is test/checkpoint and test/forwarding.
import { describe, expect, it } from 'vitest';
import { timersQueue } from '../../src/core/names.ts';
import type { Message } from '../../src/sqs/message.ts';
import { createRestartFixture, namesOf, queueNames, type RestartServer } from './restart-harness.ts';
import type { WatcherProcess } from './watcher-process.ts';

const stop = async (watcher: WatcherProcess, signal: 'SIGTERM' | 'SIGKILL') => {
  watcher.kill(signal);
  expect(await watcher.ended).toBe(signal === 'SIGTERM' ? 0 : signal);
};

/** A fixture with a watcher that runs for a moment. */
function restartFixture(connect: () => RestartServer) {
  const fixture = createRestartFixture(connect);
  const { start, take, until } = fixture;
  /** Runs a watcher until it has forwarded these objects, and stops it. */
  const runOnce = async (...names: readonly string[]) => {
    const watcher = await start();
    await until('timers', ...names);
    await stop(watcher, 'SIGTERM');
    await emptyQueues();
  };
  /** Empties the queues. Low-priority messages are delayed by up to some seconds, and are received only then. */
  const emptyQueues = async () => {
    for (const queue of queueNames) {
      let taken: readonly Message[];
      do taken = await take(queue, queue === timersQueue ? 2 : 0);
      while (taken.length > 0);
    }
  };

  return { ...fixture, runOnce, emptyQueues };
}

/** The number of objects of the first case. */
const objects = 100;

/** Declares the cases that the API server's lists and watches decide. They need no compaction. */
export function restartCases(connect: () => RestartServer): void {
  const fixture = restartFixture(connect);
  const { start, tank, take, until, runOnce, emptyQueues } = fixture;

  describe('a restarted watcher', { timeout: 120_000 }, () => {
    it('a restarted watcher forwards no object that did not change', async () => {
      const names = Array.from({ length: objects }, (_, number) => `tank-${number}`);
      for (const name of names) await tank(name);
      const first = await start();
      await until('timers', ...names);
      await stop(first, 'SIGTERM');
      await emptyQueues();
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
      const [keeps, loses, gets] = [
        await fixture.dinner('keeps'),
        await fixture.dinner('loses'),
        await fixture.dinner('gets'),
      ];
      await fixture.ingredient('kept', keeps);
      await fixture.ingredient('lost', loses);
      await runOnce('still', 'loses');
      await tank('changed', 2);
      await tank('created');
      await fixture.remove('tank', 'gone');
      await fixture.remove('ingredient', 'lost');
      await fixture.ingredient('got', gets);
      await start();
      const changed = await until('water-tank.fifo', 'changed', 'created', 'gone');
      expect(namesOf(changed)).toEqual(['changed', 'created', 'gone']);
      expect(namesOf(await until('dinner.fifo', 'loses', 'gets'))).toEqual(['gets', 'loses']);
      expect(await take('timers')).toEqual([]);
    });
  });
}

/** Declares the case that needs a server that compacts on demand. */
export function compactedCases(connect: () => RestartServer): void {
  const fixture = createRestartFixture(connect);
  it(
    'a watcher whose checkpoint is compacted forwards the newer objects, and every owner at low priority',
    { timeout: 180_000 },
    async () => {
      const loses = await fixture.dinner('loses');
      await fixture.dinner('keeps');
      await fixture.ingredient('lost', loses);
      await fixture.tank('still');
      const first = await fixture.start();
      await fixture.until('timers', 'loses', 'keeps', 'still');
      await stop(first, 'SIGTERM');
      await fixture.remove('ingredient', 'lost');
      await fixture.tank('created');
      await fixture.compact();
      const next = await fixture.start();
      expect(namesOf(await fixture.until('timers', 'loses', 'keeps'))).toEqual(['keeps', 'loses']);
      expect(namesOf(await fixture.until('water-tank.fifo', 'created'))).toEqual(['created']);
      expect(next.lines).toContainEqual(expect.objectContaining({ message: 'collection listed', mode: 'expired' }));
    },
  );
}

/** A server that can be restored from a backup. */
export type RestorableServer = RestartServer & {
  readonly backUp: () => Promise<void>;
  readonly restore: () => Promise<void>;
};

/** Declares the case that needs a server with a backup. */
export function restoredCases(connect: () => RestorableServer): void {
  const fixture = createRestartFixture(connect);
  it(
    'a watcher whose cluster is restored from a backup forwards every object, and its checkpoint is reset',
    { timeout: 180_000 },
    async () => {
      await fixture.tank('kept');
      const watcher = await fixture.start();
      await fixture.until('timers', 'kept');
      await connect().backUp();
      // Enough versions that the restored server does not reach them again.
      for (let level = 1; level <= 90; level += 1) await fixture.tank('lost', level);
      for (let level = 1; level <= 90; level += 1) await fixture.tank('kept', level);
      await fixture.until('water-tank.fifo', 'lost', 'kept');
      for (const queue of queueNames) await fixture.take(queue);

      await connect().restore();
      expect(namesOf(await fixture.until('timers', 'kept'))).toEqual(['kept']);
      await watcher.logged('cluster restored from a backup: all keys are sent');
      // A key that changed within the last second is sent once more, so an older message may still be there.
      await fixture.take('water-tank.fifo');
      // A watch that notices the restore later has every kind listed again, and a change that such a list finds first is
      // sent with all keys. So the object is changed until a change of it has arrived as one.
      const isChangeSent = async () => namesOf(await fixture.take('water-tank.fifo', 2)).includes('kept');
      let level = 1;
      do {
        level += 1;
        await fixture.tank('kept', level);
      } while (!(await isChangeSent()));
      await stop(watcher, 'SIGTERM');
      for (const queue of queueNames) await fixture.take(queue);

      await fixture.tank('new');
      await fixture.start();
      expect(namesOf(await fixture.until('water-tank.fifo', 'new'))).toEqual(['new']);
      expect(await fixture.take('timers')).toEqual([]);
    },
  );
}
