// The peer written with kopf, in Python: the programs in kopf/, run by an interpreter that has what their requirements.txt pins.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { pythonEnvironment } from '../../test/support/python-environment.ts';
import { orLastLine } from '../../test/bench/peers/builder-error.ts';
import type { Contestant, Program } from '../../test/bench/peers/contestant.ts';

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
  // Else Python leaves what it compiles beside the sources.
  const env = { PYTHONDONTWRITEBYTECODE: '1' };
  return { command, args: [path.join(folder, 'contestant.py')], env, version };
}
