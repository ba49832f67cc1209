// Cases of restarted watcher processes for any API server, with the watch checkpoint in the cluster: which keys are on
// the queues for the changes in between. More cases, inside the test process, are restart.test.ts.
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

/** Declares the cases that the queues, the checkpoint's document and the watcher's process decide. */
export function interruptedCases(connect: () => RestartServer): void {
  const fixture = restartFixture(connect);
  const { start, tank, take, until, runOnce } = fixture;

  describe('an interrupted watcher', { timeout: 120_000 }, () => {
    it('a restarted watcher forwards the keys that the rate limit had delayed', async () => {
      await runOnce();
      // The next token comes after the drain timeout, and the drain keeps the rate limit.
      const limited = await start({ RATE_LIMIT_PER_SECOND: '0.01', RATE_LIMIT_BURST: '3' });
      const { port } = await limited.logged('watching');
      const names = Array.from({ length: 8 }, (_, number) => `held-${number}`);
      for (const name of names) await tank(name);
      expect(namesOf(await until('water-tank.fifo', 'held-0', 'held-1', 'held-2'))).toHaveLength(3);
      const metrics = async () => await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
      await expect.poll(metrics, { timeout: 30_000 }).toContain('\noutrigger_watcher_queue_depth{cluster="test"} 5\n');
      await stop(limited, 'SIGTERM');
      await limited.logged('stopped before all keys were sent; they are sent after the next start');
      await start();
      const rest = await until('water-tank.fifo', ...names.slice(3));
      expect(namesOf(rest)).toEqual(expect.arrayContaining(names.slice(3)));
    });

    it('a watcher that is killed repeatedly loses no change', async () => {
      await runOnce();
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
        if (round === 2) await fixture.remove('tank', 'tank-7');
        expect(await watcher.ended).toBe('SIGKILL');
        messages.push(...(await take('water-tank.fifo')));
      }
      await start();
      const newest = (name: string) =>
        Math.max(
          ...messages
            .filter((one) => one.name === name)
            .map(({ cause }) => Number(cause.type === 'change' && cause.resourceVersion)),
        );
      const open = () => [...versions].filter(([name, version]) => newest(name) < version);
      // A key that was sent within the deduplication window is delayed behind the others.
      for (let tries = 0; open().length > 0 && tries < 15; tries += 1) {
        messages.push(...(await take('water-tank.fifo', 2)));
      }
      expect(open()).toEqual([]);
      expect(await take('timers')).toEqual([]);
    });

    it('a restarted watcher forwards keys that SQS had rejected before the checkpoint was written', async () => {
      await runOnce();
      const watcher = await start();
      fixture.rejectMessages(true);
      await tank('waits');
      await watcher.logged('keys not sent, retrying');
      const before = (await fixture.readCheckpoint())?.text;
      const writtenSince = async () => (await fixture.readCheckpoint())?.text !== before;
      await expect.poll(writtenSince, { timeout: 30_000 }).toBe(true);
      await stop(watcher, 'SIGKILL');
      fixture.rejectMessages(false);
      await start();
      expect(namesOf(await until('water-tank.fifo', 'waits'))).toEqual(['waits']);
    });

    it('two watchers lose and repeat no change, whichever of them is killed', async () => {
      await runOnce();
      const [one, other] = await Promise.all([start(), start()]);
      await tank('both');
      await stop(one, 'SIGKILL');
      await tank('other');
      expect(namesOf(await until('water-tank.fifo', 'both', 'other'))).toEqual(['both', 'other']);
      await stop(other, 'SIGTERM');
      await tank('unwatched');
      await Promise.all([start(), start()]);
      const messages = await until('water-tank.fifo', 'unwatched');
      expect(messages.map(({ name }) => name)).toEqual(['unwatched']);
      expect(await take('timers')).toEqual([]);
    });

    it('a restarted watcher ignores a checkpoint that is not JSON, logs it, and forwards every object', async () => {
      await tank('old');
      await runOnce('old');
      await fixture.writeCheckpoint('{"v":1,');
      const watcher = await start();
      await watcher.logged('watch checkpoint ignored: all keys are sent');
      expect(namesOf(await until('timers', 'old'))).toEqual(['old']);
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
      await fixture.tank('kept', 7);
      await fixture.until('water-tank.fifo', 'kept');
      await stop(watcher, 'SIGTERM');
      for (const queue of queueNames) await fixture.take(queue);

      await fixture.tank('new');
      await fixture.start();
      expect(namesOf(await fixture.until('water-tank.fifo', 'new'))).toEqual(['new']);
      expect(await fixture.take('timers')).toEqual([]);
    },
  );
}
