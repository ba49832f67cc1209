// The watcher process on the embedded API server: which keys are on the queues after changes of objects, a start and an outage
// of SQS, its endpoints, and the exit of one that cannot start. The other errors at the start are run.test.ts, the single
// decisions test/forwarding, owners test/statements/owner.test.ts, a real API server test/cluster/watcher-restart.test.ts.

import { type ApiServer, startApiServer } from '@outrigger/apiserver';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { useFolder } from '../support/folder.ts';
import { createRestartFixture, namesOf } from './restart-harness.ts';
import { startWatcherProcess } from './watcher-process.ts';

const folder = useFolder({ shared: true });
let server: ApiServer;
beforeAll(async () => {
  server = await startApiServer();
  await folder.write('kubeconfig', server.kubeconfig());
});
afterAll(async () => await server.close());

const { namespace, rejectMessages, remove, start, tank, until } = createRestartFixture(
  () => ({ connection: { server: new URL(server.url) }, kubeconfig: folder.at('kubeconfig') }),
  { checkpoint: false },
);

describe('the watcher process', () => {
  it('a created, changed or deleted object puts its key on the queue, a changed label does not', async () => {
    await start();
    await tank('north');
    const [created] = await until('water-tank.fifo', 'north');
    expect(created).toMatchObject({
      controller: 'water-tank',
      cluster: 'test',
      group: 'plant.example.com',
      resource: 'watertanks',
      namespace: namespace(),
      name: 'north',
      cause: { type: 'change' },
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

it('the watcher exits with 1 and one log line: the error of a missing setting names it', async () => {
  const settings = { QUEUE_URL_PREFIX: 'http://127.0.0.1:9/000000000000/', CLUSTER: '' };
  const watcher = startWatcherProcess({ KUBECONFIG: folder.at('kubeconfig'), ...settings });
  onTestFinished(() => watcher.kill('SIGKILL'));
  expect(await watcher.ended).toBe(1);
  expect(watcher.lines.at(-1)).toMatchObject({ level: 'ERROR', message: 'watcher failed to start' });
  expect(watcher.lines.at(-1)?.error).toMatch(/CLUSTER/);
});
