// Only the cache of what takes minutes to build: it is built once, also for callers at the same time.
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { cachedFolder } from '../support/cached-folder.ts';

const wanted = { name: 'tools', inputs: ['1.2.3'] };
let cache: string;
beforeEach(async () => {
  const made = await mkdtemp(path.join(tmpdir(), 'outrigger-cached-'));
  vi.stubEnv('XDG_CACHE_HOME', made);
  onTestFinished(async () => {
    vi.unstubAllEnvs();
    await rm(made, { recursive: true });
  });
  cache = path.join(made, 'outrigger');
});

it('callers during a build get the same folder, built once', async () => {
  let times = 0;
  const make = async (unfinished: string) => {
    times += 1;
    await writeFile(path.join(unfinished, 'tool'), `made ${times}`);
  };
  const [first, second] = await Promise.all([cachedFolder(wanted, make), cachedFolder(wanted, make)]);
  expect(second).toBe(first);
  expect(await readFile(path.join(first, 'tool'), 'utf8')).toBe('made 1');
  expect(times).toBe(1);
});

it('a failed build leaves no folder that looks finished, and the next caller builds it', async () => {
  const failing = cachedFolder(wanted, () => Promise.reject(new Error('no network')));
  await expect(failing).rejects.toThrow('no network');
  expect(await readdir(cache)).toEqual([]);
  const folder = await cachedFolder(wanted, async (unfinished) => await writeFile(path.join(unfinished, 'tool'), ''));
  expect(await readdir(folder)).toEqual(['tool']);
});
