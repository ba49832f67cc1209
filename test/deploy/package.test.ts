// The package as it is packed. Services that are made with it are tutorial.test.ts, existing-repository.test.ts and
// test/journey.
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { documentation } from '@outrigger/cli/aws/alarms';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { packedPackages } from '../../tools/troubleshooting/packed-package.ts';

const run = promisify(execFile);

it('the package contains the documents and the samples that they name, and no generated file or manifest of a sample', async () => {
  const { stdout } = await run('tar', ['-tzf', (await packedPackages()).outrigger]);
  const files = stdout.split('\n').map((file) => file.replace(/^package\//, ''));
  expect(files).toContain('lib/outrigger.js');
  expect(files).toEqual(expect.arrayContaining(['docs/write/testing.md', 'src/controllers/cafe.ts', 'CHANGELOG.md']));
  expect(
    files.filter((file) =>
      /^docs\/records|^changes|^lib\/.*controllers\/|^(?!examples\/).*samples|generated\/|^functions/.test(file),
    ),
  ).toEqual([]);
});

it('the packages are as npm, Node and bundlers want it: publint and Are the types wrong find nothing', async () => {
  const programs = path.resolve('test/deploy/node_modules/.bin');
  for (const [name, tarball] of Object.entries(await packedPackages())) {
    await run(path.join(programs, 'publint'), ['run', tarball, '--strict']);
    // It has a command and nothing to import.
    if (name !== 'create-outrigger') await run(path.join(programs, 'attw'), [tarball, '--profile', 'esm-only']);
  }
});

const manifest = z.object({
  name: z.string(),
  homepage: z.literal(documentation),
  bugs: z.url(),
  keywords: z.array(z.string()).min(2),
  repository: z.object({ url: z.string(), directory: z.string().optional() }),
});

it('npm accepts each package: it names its repository, without which there is no provenance, and has a README', async () => {
  const found = new Set<string>();
  for (const tarball of Object.values(await packedPackages())) {
    const read = async (file: string) => (await run('tar', ['-xzOf', tarball, `package/${file}`])).stdout;
    const { name, repository } = manifest.parse(JSON.parse(await read('package.json')));
    const [, own] = /([\w-]+)$/.exec(name) ?? [];
    expect(repository.directory, name).toBe(name === 'outrigger' ? undefined : `packages/${own}`);
    expect(await read('README.md'), name).toMatch(/^# /);
    found.add(repository.url);
    const { stdout } = await run('npm', ['publish', tarball, '--dry-run', '--ignore-scripts', '--access', 'public']);
    expect(stdout).toContain(`+ ${name}@`);
  }
  expect([...found]).toEqual([expect.stringMatching(/^git\+https:.*\.git$/)]);
});
