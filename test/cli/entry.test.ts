// Only what the command says before it starts: of the Node or the package manager that runs it.
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { useFolder } from '../support/folder.ts';
import { expectUserError, runProcess } from './command-result.ts';

const folder = useFolder();
const entry = path.resolve('packages/cli/bin/outrigger.js');

it('U15: an older Node ends with one line that says which one it needs, and nothing is written', async () => {
  const older = "data:text/javascript,Object.defineProperty(process,'versions',{value:{node:'22.18.0'}})";
  const result = await runProcess(['--import', older, entry, 'new', 'project', '--yes'], folder.path);
  expectUserError(result, 'needs Node 24, and this is Node 22.18.0');
  expect(await readdir(folder.path)).toEqual([]);
});

it('B9: under Yarn’s Plug’n’Play the command ends with one line that says what to set', async () => {
  const plugAndPlay = "data:text/javascript,process.versions.pnp='3'";
  const result = await runProcess(['--import', plugAndPlay, entry, '--version'], '.');
  expectUserError(result, 'write `nodeLinker: node-modules` to .yarnrc.yml, and run yarn install');
  expect(await runProcess([entry, '--version'], '.')).toMatchObject({ err: '', status: 0 });
});
