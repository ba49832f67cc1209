// The peer written with kopf, in Python: the programs in kopf/, run by an interpreter with the packages that their
// requirements.txt pins.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { pythonEnvironment } from '../../test/support/python-environment.ts';
import { orLastLine } from './builder-error.ts';
import type { Contestant, Program } from './contestant.ts';

/** Its walkthrough's synchronous handlers, and asynchronous ones on uvloop. */
export const kopf: Contestant = {
  name: 'kopf',
  jobs: ['foo', 'ping', 'slow'],
  settings: ['default', 'best'],
  prepare: () => orLastLine(install()),
};

async function install(): Promise<Program> {
  const folder = path.join(import.meta.dirname, 'kopf');
  const requirements = path.join(folder, 'requirements.txt');
  const command = await pythonEnvironment({
    requirements,
    name: 'peer-kopf',
    announcement: 'the peer written with kopf (once; a minute)',
  });
  const [, version] = /^kopf(?:\[\w+\])?==(\S+)/m.exec(await readFile(requirements, 'utf8')) ?? [];
  if (version === undefined) throw new Error(`${requirements} does not pin kopf`);
  // Otherwise Python writes compiled files next to the sources.
  const env = { PYTHONDONTWRITEBYTECODE: '1' };
  return { command, args: [path.join(folder, 'contestant.py')], env, version };
}
