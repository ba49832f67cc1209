// The watcher's process killed and started anew, with its cursor in the cluster, as cases for any API server: which keys are on
// the queues because of what happened meanwhile. The same with every interleaving, in one process, is restart.test.ts.
import { describe, expect, it } from 'vitest';
import { timersQueue } from '../../src/core/names.ts';
import type { Message } from '../../src/queue/message.ts';
import { createStage, namesOf, queueNames, type RestartServer } from './restart-harness.ts';
import type { WatcherProcess } from './watcher-process.ts';

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
    await forget();
  };
  /** Takes everything, also what is due a moment later: bulk is paced by the second, and a message that is delayed is not seen yet. */
  const forget = async () => {
    for (const queue of queueNames) {
      let taken: readonly Message[];
      do taken = await take(queue, queue === timersQueue ? 2 : 0);
      while (taken.length > 0);
    }
  };

  describe('a watcher that is started again', { timeout: 120_000 }, () => {
    it('forwards none of the objects that did not change', async () => {
      const names = Array.from({ length: objects }, (_, number) => `tank-${number}`);
      for (const name of names) await tank(name);
      const first = await start();
      await until('timers', ...names);
      await stop(first, 'SIGTERM');
      await forget();
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

    it('goes on with what its pace had held back when it was ended', async () => {
      await aPastWatcher();
      // The next key would have its turn after the end: draining keeps the pace.
      const paced = await start({ FORWARD_PER_SECOND: '0.01', FORWARD_BURST: '3' });
      const { port } = await paced.said('watching');
      const names = Array.from({ length: 8 }, (_, number) => `held-${number}`);
      for (const name of names) await tank(name);
      expect(namesOf(await until('water-tank.fifo', 'held-0', 'held-1', 'held-2'))).toHaveLength(3);
      const metrics = async () => await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
      await expect.poll(metrics, { timeout: 30_000 }).toContain('\noutrigger_watcher_waiting 5\n');
      await stop(paced, 'SIGTERM');
      await paced.said('keys not sent before the end; the next start sends them');
      await start();
      const rest = await until('water-tank.fifo', ...names.slice(3));
      expect(namesOf(rest)).toEqual(expect.arrayContaining(names.slice(3)));
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

/** A server that can be put back to what it was. */
export type RestorableServer = RestartServer & {
  readonly backUp: () => Promise<void>;
  readonly restore: () => Promise<void>;
};

/** Declares the case that needs a server with a backup. */
export function restoredCases(connect: () => RestorableServer): void {
  const stage = createStage(connect);
  it(
    'a cluster restored from a backup under a running watcher is forwarded as a whole, and its cursor begun anew',
    { timeout: 180_000 },
    async () => {
      await stage.tank('kept');
      const watcher = await stage.start();
      await stage.until('timers', 'kept');
      await connect().backUp();
      // So many versions that the server cannot come up to them again by itself.
      for (let level = 1; level <= 90; level += 1) await stage.tank('lost', level);
      for (let level = 1; level <= 90; level += 1) await stage.tank('kept', level);
      await stage.until('water-tank.fifo', 'lost', 'kept');
      for (const queue of queueNames) await stage.take(queue);

      await connect().restore();
      expect(namesOf(await stage.until('timers', 'kept'))).toEqual(['kept']);
      await watcher.said(
        'the server is older than what is known of it: restored from a backup; everything is forwarded',
      );
      await stage.tank('kept', 7);
      await stage.until('water-tank.fifo', 'kept');
      await stop(watcher, 'SIGTERM');
      for (const queue of queueNames) await stage.take(queue);

      await stage.tank('new');
      await stage.start();
      expect(namesOf(await stage.until('water-tank.fifo', 'new'))).toEqual(['new']);
      expect(await stage.take('timers')).toEqual([]);
    },
  );
}
