// Only what the command says before it starts: of the Node or the package manager that runs it.
import path from 'node:path';
import { expect, it } from 'vitest';
import { expectUserError, runProcess } from './command-result.ts';

const entry = path.resolve('packages/cli/bin/outrigger.js');

it('B9: under Yarn’s Plug’n’Play the command ends with one line that says what to set', async () => {
  const plugAndPlay = "data:text/javascript,process.versions.pnp='3'";
  const result = await runProcess(['--import', plugAndPlay, entry, '--version'], '.');
  expectUserError(result, 'write `nodeLinker: node-modules` to .yarnrc.yml, and run yarn install');
  expect(await runProcess([entry, '--version'], '.')).toMatchObject({ err: '', status: 0 });
});
