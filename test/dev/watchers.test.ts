// Only the supervision of watchers' processes: they are restarted when killed, drained when stopped, and end with their
// parent. The bundles are hand-written.
import { fork } from 'node:child_process';
import { startWatchers, type WatcherEvent } from '@outrigger/cli/dev/watchers';
import { expect, it, onTestFinished } from 'vitest';
import { useFolder } from '../support/folder.ts';

const folder = useFolder();

async function run(code: string, count = 1) {
  await folder.write('index.mjs', code);
  const events: WatcherEvent[] = [];
  const watchers = startWatchers(
    {
      file: folder.at('index.mjs'),
      environment: { NAME: 'mine', PATH: '/usr/bin:/bin' },
      onEvent: (event) => events.push(event),
    },
    count,
  );
  onTestFinished(() => watchers.stop());
  const logged = async (text: string, times = 1) =>
    await expect
      .poll(() => events.filter((event) => event.type === 'line' && event.text === text).length)
      .toBeGreaterThanOrEqual(times);
  return { watchers, events, logged };
}
const alive = (pid: number) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};
const stays = `console.log('up ' + process.env.NAME + ' ' + Object.keys(process.env).includes('HOME')); setInterval(() => {}, 1000);`;

it('a watcher has only its own environment variables, and when it is killed it is restarted as another process', async () => {
  const { watchers, events, logged } = await run(stays);
  await logged('up mine false');
  const [killed = 0] = watchers.pids();
  process.kill(killed, 'SIGKILL');
  await logged('up mine false', 2);
  expect(events).toContainEqual({ type: 'ended', pid: killed, how: 'SIGKILL', again: true });
  expect(watchers.pids()).toHaveLength(1);
  expect(watchers.pids()).not.toContain(killed);
});

it('a stopped watcher drains before it ends', async () => {
  const drains = `process.once('SIGTERM', () => { console.log('drained'); clearInterval(timer); process.disconnect?.(); });
    const timer = setInterval(() => {}, 1000); console.log('up');`;
  const { watchers, logged } = await run(drains, 2);
  await logged('up', 2);
  const pids = watchers.pids();
  await watchers.stop();
  await logged('drained', 2);
  expect(pids.map(alive)).toEqual([false, false]);
  expect(watchers.pids()).toEqual([]);
});

it('a watcher ends when its parent process was killed', async () => {
  // The watcher kills its parent, which has no time to stop it.
  await folder.write(
    'index.mjs',
    `setInterval(() => {}, 1000); process.kill(process.ppid, 'SIGKILL'); process.on('exit', () => console.log('gone'));`,
  );
  const watchersModule = new URL('../../packages/cli/src/dev/watchers.ts', import.meta.url).href;
  await folder.write(
    'starter.mjs',
    `import { startWatchers } from '${watchersModule}';
     startWatchers({ file: '${folder.at('index.mjs')}', environment: {}, onEvent: (event) => { if (event.type === 'started') process.send(event.pid); } }, 1);`,
  );
  const child = fork(folder.at('starter.mjs'), { stdio: 'ignore' });
  const pid = await new Promise<number>((resolve) => child.once('message', (message) => resolve(Number(message))));
  await new Promise((resolve) => child.once('exit', resolve));
  await expect.poll(() => alive(pid), { timeout: 5_000 }).toBe(false);
});

it('ready resolves when every watcher has logged that it watches', async () => {
  const { watchers, events } = await run(
    `setTimeout(() => console.log(JSON.stringify({ message: 'watching' })), 100); setInterval(() => {}, 1000);`,
    2,
  );
  await watchers.ready(new AbortController().signal);
  expect(events.filter(({ type }) => type === 'watching')).toHaveLength(2);
});
