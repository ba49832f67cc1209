// Only the Python programs of the deploy tests: that they run, and the errors when Python is missing. The results of
// the programs are tested in the other files here.
import { execFile } from 'node:child_process';
import { access, chmod, constants, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { pythonTools, wheelFile } from './python-tools.ts';
import { runtimeEmulator } from './runtime-emulator.ts';

const run = promisify(execFile);

async function fakePython(version: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'outrigger-python-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const program = join(folder, 'python3');
  await writeFile(program, `#!/bin/sh\necho '${version} (main)'\n`);
  await chmod(program, 0o755);
  return program;
}

describe('pythonTools', () => {
  it('pythonTools installs the pinned programs', async () => {
    const { python, program } = await pythonTools();
    const { stdout: lint } = await run(python, program('cfn-lint', '--version'));
    expect(lint).toMatch(/^cfn-lint \d/);
    const { stdout: moto } = await run(python, program('moto_server', '--help'));
    expect(moto).toContain('--port');
  });

  it('pythonTools reports what to install when Python is missing', async () => {
    await expect(pythonTools('requirements.txt', '/nowhere/python3')).rejects.toThrow(
      /^Python is needed, and \/nowhere\/python3 does not run: install Python 3\.10 or newer/,
    );
  });

  it('pythonTools reports what to install when Python is too old', async () => {
    await expect(pythonTools('requirements.txt', await fakePython('3.9.2'))).rejects.toThrow(
      /^Found Python 3\.9\.2, .*: install Python 3\.10/,
    );
    await expect(pythonTools('requirements.txt', await fakePython('2.7.18'))).rejects.toThrow(
      /^Found Python 2\.7\.18, /,
    );
  });

  it('wheelFile extracts one program from a wheel', async () => {
    const program = await runtimeEmulator();
    await access(program, constants.X_OK);
    expect((await readFile(program)).subarray(1, 4).toString()).toBe('ELF');
  });

  it('wheelFile rejects a wheel with another hash', async () => {
    const requirement = `six==1.17.0 --hash=sha256:${'0'.repeat(64)}`;
    await expect(wheelFile({ requirement, file: 'six.py' })).rejects.toThrow(/DO NOT MATCH THE HASHES/);
  });
});
