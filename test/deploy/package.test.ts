// The package as it is packed. Services that are made with it are tutorial.test.ts, existing-repository.test.ts and
// test/journey.
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { packedPackages } from '../../tools/troubleshooting/packed-package.ts';

const run = promisify(execFile);

it('the package contains the documents and the samples that they name, and no generated file or manifest of a sample', async () => {
  const { stdout } = await run('tar', ['-tzf', (await packedPackages()).outrigger]);
  const files = stdout.split('\n').map((file) => file.replace(/^package\//, ''));
  expect(files).toContain('lib/outrigger.js');
  expect(files).toEqual(expect.arrayContaining(['docs/write/testing.md', 'src/controllers/cafe.ts', 'CHANGELOG.md']));
  expect(
    files.filter((file) => /^lib\/.*controllers\/|^(?!examples\/).*samples|generated\/|^functions/.test(file)),
  ).toEqual([]);
});

it('the packages are as npm, Node and bundlers want it: publint and Are the types wrong find nothing', async () => {
  const programs = path.resolve('test/deploy/node_modules/.bin');
  for (const tarball of Object.values(await packedPackages())) {
    await run(path.join(programs, 'publint'), ['run', tarball, '--strict']);
    await run(path.join(programs, 'attw'), [tarball, '--profile', 'esm-only']);
  }
});
