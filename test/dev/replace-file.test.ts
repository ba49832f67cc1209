// Replacing a file: what other readers see, its mode, and symbolic links.
import { mkdir, readdir, stat, symlink, writeFile } from 'node:fs/promises';
import { replaceFile } from '@outrigger/cli/dev/replace-file';
import { startDev } from '@outrigger/cli/dev/system';
import { expect, it } from 'vitest';
import { runIn } from '../cli/command-result.ts';
import { useFolder } from '../support/folder.ts';

const folder = useFolder();
const { at, read, write } = folder;

// Control T122.
it('a replaced file has the new content and mode, and no other file is left', async () => {
  await writeFile(at('token'), 'old', { mode: 0o644 });
  await replaceFile(at('token'), 'new', { mode: 0o600 });
  expect(await read('token')).toBe('new');
  expect((await stat(at('token'))).mode & 0o777).toBe(0o600);
  expect(await readdir(folder.path)).toEqual(['token']);
});

// Control T123.
it('a symbolic link at the path, or at the former name of the temporary file, is not followed', async () => {
  await write('victim', 'untouched');
  await symlink(at('victim'), at('token'));
  await symlink(at('victim'), at('token.new'));
  await replaceFile(at('token'), 'secret', { mode: 0o600 });
  expect(await read('victim')).toBe('untouched');
  expect(await read('token')).toBe('secret');
});

// Control T125.
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
  expect([await readdir(at('elsewhere')), await readdir(folder.path)]).toEqual([[], ['elsewhere', 'project']]);
});

it('manifests removes and writes no file through a link that leads out of the project', async () => {
  await mkdir(at('project'));
  await write('elsewhere/notes.yaml', 'mine');
  await write('project/package.json', '{"outrigger":{"project":"cafes"}}');
  await symlink(at('elsewhere'), at('project', 'dist'));
  await mkdir(at('elsewhere/kubernetes'));
  await write('elsewhere/kubernetes/notes.yaml', 'mine');
  const { err, status } = await runIn(at('project'), ['manifests']);
  expect([status, err]).toEqual([1, expect.stringContaining('a symbolic link leads out of')]);
  expect(await read('elsewhere/kubernetes/notes.yaml')).toBe('mine');
  expect(await readdir(at('elsewhere/kubernetes'))).toEqual(['notes.yaml']);
});

// Control T126.
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
  expect(await readdir(folder.path)).toEqual(['folder']);
});
