// Replacing a file: what other readers see, its mode, and symbolic links.
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { generate } from '../../src/cli/generate.ts';
import { replaceFile } from '../../src/dev/replace-file.ts';
import { startDev } from '../../src/dev/system.ts';
import { generatedFolders } from '../../src/generate/files.ts';

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
  const below = at('project', 'generated', 'new', 'folder', 'a.yaml');
  await expect(replaceFile(below, 'a', { within: at('project') })).rejects.toThrow('elsewhere');
  await symlink(at('nowhere'), at('project', 'dangling'));
  await expect(replaceFile(at('project', 'dangling', 'a.yaml'), 'a', { within: at('project') })).rejects.toThrow();
  expect([await readdir(at('elsewhere')), await readdir(folder)]).toEqual([[], ['elsewhere', 'project']]);
});

it('generate removes no file through a link that leads out of the project', async () => {
  await mkdir(at('project', 'functions'), { recursive: true });
  await mkdir(at('elsewhere'));
  await writeFile(at('elsewhere', 'notes.yaml'), 'mine');
  await writeFile(at('project', 'package.json'), '{"name":"a"}');
  await generate([], at('project'), { check: false });
  const [linked = ''] = generatedFolders;
  const kept = await readdir(at('project', linked)).catch(() => []);
  for (const file of kept) await copyFile(at('project', linked, file), at('elsewhere', file));
  await rm(at('project', linked), { recursive: true, force: true });
  await symlink(at('elsewhere'), at('project', linked));
  await expect(generate([], at('project'), { check: false })).rejects.toThrow('a symbolic link leads out of');
  expect(await readFile(at('elsewhere', 'notes.yaml'), 'utf8')).toBe('mine');
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
