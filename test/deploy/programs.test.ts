// Only the errors for programs that the deploy tests need and this machine does not have. The programs themselves are
// tested in the other files here.
import { chmod } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { useFolder } from '../support/folder.ts';
import { fetchJars } from './elasticmq.ts';
import { requireCompilers } from './interface-client.ts';
import { pythonTools, wheelFile } from './python-tools.ts';

const folder = useFolder();

it('requireCompilers lists only the missing packages', async () => {
  await expect(requireCompilers('/nowhere')).rejects.toThrow(/apt-get install cmake make g\+\+ tar xz-utils$/);
  await expect(requireCompilers(process.env.PATH ?? '')).resolves.toBeUndefined();
});

it('fetchJars reports what to install when Maven is missing', async () => {
  await expect(fetchJars('/nowhere', '/nowhere/mvn')).rejects.toThrow(/install Java 11 or newer and Maven/);
});

it('pythonTools reports what to install when Python is missing', async () => {
  const tools = pythonTools('requirements.txt', '/nowhere/python3');
  await expect(tools).rejects.toThrow(/^Python is needed, and \S+ does not run: install Python 3\.10 or newer/);
});

it.each(['3.9.2', '2.7.18'])('pythonTools reports what to install when Python is too old: %s', async (version) => {
  await folder.write('python3', `#!/bin/sh\necho '${version} (main)'\n`);
  await chmod(folder.at('python3'), 0o755);
  const tools = pythonTools('requirements.txt', folder.at('python3'));
  await expect(tools).rejects.toThrow(new RegExp(`^Found Python ${version}, .*: install Python 3\\.10`));
});

it('wheelFile rejects a wheel with another hash', async () => {
  const requirement = `six==1.17.0 --hash=sha256:${'0'.repeat(64)}`;
  await expect(wheelFile({ requirement, file: 'six.py' })).rejects.toThrow(/DO NOT MATCH THE HASHES/);
});
