// Replacing a file: what other readers see, its mode, and symbolic links.
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { replaceFile } from '../../src/dev/replace-file.ts';
import { startDev } from '../../src/dev/system.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'outrigger-files-'));
});
afterEach(async () => await rm(folder, { recursive: true }));
const at = (...names: readonly string[]) => path.join(folder, ...names);

it('a replaced file has the new content and mode, and no other file is left', async () => {
  await writeFile(at('token'), 'old', { mode: 0o644 });
  await replaceFile(at('token'), 'new', { mode: 0o600 });
  expect(await readFile(at('token'), 'utf8')).toBe('new');
  expect((await stat(at('token'))).mode & 0o777).toBe(0o600);
  expect(await readdir(folder)).toEqual(['token']);
});

it('a symbolic link at the path, or at the former name of the temporary file, is not followed', async () => {
  await writeFile(at('victim'), 'untouched');
  await symlink(at('victim'), at('token'));
  await symlink(at('victim'), at('token.new'));
  await replaceFile(at('token'), 'secret', { mode: 0o600 });
  expect(await readFile(at('victim'), 'utf8')).toBe('untouched');
  expect(await readFile(at('token'), 'utf8')).toBe('secret');
});

it('a folder that leads out of the project is refused, and names the link’s target', async () => {
  await mkdir(at('project'));
  await mkdir(at('elsewhere'));
  await symlink(at('elsewhere'), at('project', 'generated'));
  await expect(replaceFile(at('project', 'generated', 'a.yaml'), 'a', { within: at('project') })).rejects.toThrow(
    'elsewhere',
  );
  expect(await readdir(at('elsewhere'))).toEqual([]);
});

it('outrigger dev writes no credentials through a link at .outrigger that leads out of the project', async () => {
  await mkdir(at('project'));
  await mkdir(at('elsewhere'));
  await symlink(at('elsewhere'), at('project', '.outrigger'));
  const deps = { controllers: [], build: async () => undefined, root: at('project') };
  await expect(startDev(deps, {})).rejects.toThrow('a symbolic link leads out of');
  expect(await readdir(at('elsewhere'))).toEqual([]);
});

it('a file that cannot be replaced leaves nothing behind', async () => {
  await mkdir(at('folder'));
  await expect(replaceFile(at('folder'), 'text')).rejects.toThrow();
  expect(await readdir(folder)).toEqual(['folder']);
});
