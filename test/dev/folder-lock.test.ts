// One local system a folder: who is refused, and which reservations are over.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest';
import { UserError } from '../../src/core/errors.ts';
import { createFolder, reserveFolder } from '../../src/dev/folder-lock.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'outrigger-lock-'));
});
afterEach(async () => await rm(folder, { recursive: true }));

it('a folder of a running process is refused, and the error names the process', async () => {
  const other = spawn('sleep', ['60']);
  onTestFinished(() => void other.kill());
  await writeFile(path.join(folder, 'dev.pid'), `${other.pid}\n`);
  const error: unknown = await reserveFolder(folder).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(UserError);
  expect(String(error)).toContain(`process ${other.pid}`);
  expect(await readdir(folder)).toEqual(['dev.pid']);
});

it.each([
  ['a process that has ended', () => `${spawnSync('true').pid}\n`],
  ['no process', () => 'nonsense'],
])('a folder that %s has reserved is free', async (_, content) => {
  await writeFile(path.join(folder, 'dev.pid'), content());
  const { release } = await reserveFolder(folder);
  await release();
  expect(await readdir(folder)).toEqual([]);
});

it('folders are created down to the last, and one that cannot be created is named', async () => {
  const deep = path.join(folder, 'a/b');
  await createFolder(deep);
  await createFolder(deep);
  expect(await readdir(folder)).toEqual(['a']);
  await writeFile(path.join(deep, 'file'), '');
  await expect(createFolder(path.join(deep, 'file'))).rejects.toThrow(`${deep}/file: the folder cannot be created`);
  await expect(createFolder('/proc/outrigger/x')).rejects.toThrow('/proc/outrigger: the folder cannot be created');
});
