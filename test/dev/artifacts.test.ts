// Only what keeps artifacts current: the lock across processes, the hash of what goes in, and the state file's writes. The
// build and the packaging themselves run in the journeys.
import { access, mkdir, mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { hashFiles } from '../../src/dev/hash-files.ts';
import { withLock } from '../../src/local/lock.ts';
import { createStateFile, type DevState } from '../../src/dev/state-file.ts';

const signal = new AbortController().signal;
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'outrigger-artifacts-'));
  const made = folder;
  onTestFinished(() => rm(made, { recursive: true }));
});

it('work under the same name never overlaps', async () => {
  const name = path.join(folder, 'deep/name');
  let running = 0;
  let most = 0;
  const work = () =>
    withLock(
      name,
      async () => {
        running += 1;
        most = Math.max(most, running);
        await access(`${name}.lock`);
        running -= 1;
      },
      signal,
    );
  await Promise.all([work(), work(), work()]);
  expect(most).toBe(1);
  await expect(access(`${name}.lock`)).rejects.toThrow('ENOENT');
});

it('a lock that its process has not touched for ten seconds does not hold, whoever has its process id now', async () => {
  const name = path.join(folder, 'name');
  await mkdir(`${name}.lock`);
  const ago = Date.now() / 1000 - 11;
  await utimes(`${name}.lock`, ago, ago);
  expect(await withLock(name, async () => 'done', signal)).toBe('done');
});

it('a lock that holds is waited for until the signal, and is left as it was', async () => {
  const name = path.join(folder, 'name');
  await mkdir(`${name}.lock`);
  const waiting = withLock(name, async () => 'done', AbortSignal.timeout(300));
  await expect(waiting).rejects.toThrow('timeout');
  await access(`${name}.lock`);
});

it('where no lock can be made it says so, and does not wait', async () => {
  const tooLong = path.join(folder, 'x'.repeat(255));
  await expect(withLock(tooLong, async () => 'done', signal)).rejects.toThrow('ENAMETOOLONG');
});

it('a hash changes with a content, a name and an absence, and with nothing else', async () => {
  const hash = () => hashFiles(folder, ['a', 'sub']);
  const none = await hash();
  await writeFile(path.join(folder, 'a'), '1');
  const one = await hash();
  expect(one).not.toBe(none);
  await writeFile(path.join(folder, 'other'), '1');
  expect(await hash()).toBe(one);
  await writeFile(path.join(folder, 'a'), '2');
  expect(await hash()).not.toBe(one);
});

it('the last state is the one in the file', async () => {
  const file = path.join(folder, 'state.json');
  const state = createStateFile(file);
  const of = (pid: number): DevState => ({
    apiServer: 'http://a',
    queueEndpoint: 'http://q',
    queues: {},
    watchers: [{ pid }],
    functions: [],
    worlds: {},
  });
  for (let pid = 1; pid <= 20; pid += 1) state.write(of(pid));
  await state.settled();
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(of(20));
});
