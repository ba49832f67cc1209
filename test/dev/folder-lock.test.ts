// One local system a folder: who is refused, and which reservations are over.
import { spawn, spawnSync } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { createFolder, reserveFolder } from '@outrigger/cli/dev/folder-lock';
import { expect, it, onTestFinished } from 'vitest';
import { UserError } from '../../src/core/errors.ts';
import { useFolder } from '../support/folder.ts';

const folder = useFolder();

it('a folder of a running process is refused, and the error names the process', async () => {
  const other = spawn('sleep', ['60']);
  onTestFinished(() => void other.kill());
  await folder.write('dev.pid', `${other.pid}\n`);
  const error: unknown = await reserveFolder(folder.path).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(UserError);
  expect(String(error)).toContain(`process ${other.pid}`);
  expect(await readdir(folder.path)).toEqual(['dev.pid']);
});

it.each([
  ['a process that has ended', () => `${spawnSync('true').pid}\n`],
  ['no process', () => 'nonsense'],
])('a folder that %s has reserved is free', async (_, content) => {
  await folder.write('dev.pid', content());
  const { release } = await reserveFolder(folder.path);
  await release();
  expect(await readdir(folder.path)).toEqual([]);
});

it('folders are created down to the last, and one that cannot be created is named', async () => {
  const deep = folder.at('a/b');
  await createFolder(deep);
  await createFolder(deep);
  expect(await readdir(folder.path)).toEqual(['a']);
  await folder.write('a/b/file', '');
  await expect(createFolder(folder.at('a/b/file'))).rejects.toThrow(`${deep}/file: the folder cannot be created`);
  await expect(createFolder('/proc/outrigger/x')).rejects.toThrow('/proc/outrigger: the folder cannot be created');
});
