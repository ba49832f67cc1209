// Only how a command reads the project of a folder: its names in package.json, and its controllers.
import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { readNamespaces, readProjectName } from '../../packages/cli/src/project/project.ts';
import { useFolder } from '../support/folder.ts';
import { expectUserError, runProcess } from './command-result.ts';

const folder = useFolder();
const { write } = folder;

it('B7: a package.json with a byte order mark names the project, and a broken one is an error that names it', async () => {
  const settings = JSON.stringify({ outrigger: { project: 'cafe', namespaces: ['no'] } });
  await write('package.json', `\ufeff${settings}`);
  expect([await readProjectName(folder.path), await readNamespaces(folder.path)]).toEqual(['cafe', ['no']]);
  for (const broken of [settings.replace('}}', ',}}'), '[]', '{"outrigger": "cafe"}', '']) {
    await write('package.json', broken);
    for (const reading of [readProjectName, readNamespaces])
      await expect(reading(folder.path), broken).rejects.toThrow(folder.at('package.json'));
  }
  await rm(folder.at('package.json'));
  await mkdir(folder.at('package.json'));
  await expect(readProjectName(folder.path)).rejects.toThrow(`${folder.at('package.json')}: cannot be read (EISDIR)`);
});

it('B8: a project in a folder with # ? and % is loaded, and an error of its sources names their place', async () => {
  await write('a #b?c%20d/src/controllers/registry.ts', "\nthrow new Error('no registry');\n");
  const argv = [path.resolve('packages/cli/bin/outrigger.js'), 'manifests', '--check'];
  const result = await runProcess(argv, folder.at('a #b?c%20d'));
  expectUserError(result, 'cannot be loaded: no registry (src/controllers/registry.ts:2)');
});
