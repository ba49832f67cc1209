// Cases of the watcher process for any API server: which keys are on the queues after changes of objects, a start and an
// outage of SQS, and its endpoints. The single decisions are tested in test/forwarding, owners in test/statements/owner.test.ts.
import { describe, expect, it } from 'vitest';
import { createRestartFixture, namesOf, type RestartServer } from './restart-harness.ts';

/** Each case starts processes. This takes seconds if other tests run in parallel. */
const timeout = 60_000;

/** Declares the cases for a server. */
export function watcherCases(connect: () => RestartServer): void {
  const { namespace, rejectMessages, remove, start, tank, until } = createRestartFixture(connect, {
    checkpoint: false,
  });

  describe('the watcher process', { timeout }, () => {
    it('a created, changed or deleted object puts its key on the queue, a changed label does not', async () => {
      await start();
      await tank('north');
      const [created] = await until('water-tank.fifo', 'north');
      expect(created).toMatchObject({
        ...{ controller: 'water-tank', cluster: 'test', group: 'plant.example.com', resource: 'watertanks' },
        ...{ namespace: namespace(), name: 'north', cause: { type: 'change' } },
      });
      await tank('north', 2);
      expect(namesOf(await until('water-tank.fifo', 'north'))).toEqual(['north']);

      await tank('north', 2, { labels: { colour: 'blue' } });
      await tank('marker');
      expect(namesOf(await until('water-tank.fifo', 'marker'))).toEqual(['marker']);

      await remove('tank', 'north');
      expect(namesOf(await until('water-tank.fifo', 'north'))).toEqual(['north']);
    });

    it('a start without a checkpoint sends every object through the timers queue, and changes directly', async () => {
      await tank('old');
      await start();
      const [listed] = await until('timers', 'old');
      expect(listed).toMatchObject({ controller: 'water-tank', cause: { type: 'resync' }, name: 'old' });
      await tank('new');
      expect(namesOf(await until('water-tank.fifo', 'new'))).toEqual(['new']);
    });

    it('a watcher sends its queued keys on SIGTERM and exits with 0', async () => {
      const watcher = await start();
      rejectMessages(true);
      for (const name of ['a', 'b', 'c']) await tank(name);
      await watcher.logged('keys not sent, retrying');
      watcher.kill('SIGTERM');
      rejectMessages(false);
      expect(await watcher.ended).toBe(0);
      expect(namesOf(await until('water-tank.fifo', 'a', 'b', 'c'))).toEqual(['a', 'b', 'c']);
    });

    it('its endpoints show that every kind is watched, and how many objects are known', async () => {
      await tank('north');
      const { port } = await (await start()).logged('watching');
      const get = async (path: string) => await fetch(`http://127.0.0.1:${port}${path}`);
      expect((await get('/healthz')).status).toBe(200);
      const ready = await get('/readyz');
      expect(ready.status).toBe(200);
      const names = ['watertanks.plant', 'ingredients.kitchen', 'dinners.kitchen'];
      const kinds: unknown = expect.arrayContaining(
        // The watcher watches one namespace, which is part of the name of its loops.
        names.map((name) => expect.objectContaining({ kind: `${name}.example.com/${namespace()}`, served: true })),
      );
      expect(await ready.json()).toMatchObject({ ok: true, kinds });
      expect(await (await get('/metrics')).text()).toContain(
        'outrigger_watcher_objects{cluster="test",kind="watertanks.plant.example.com"} 1',
      );
      expect((await get('/elsewhere')).status).toBe(404);
    });
  });
}
