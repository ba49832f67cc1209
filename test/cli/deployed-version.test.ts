// Only the name of the version that a deployment writes onto its functions, in real repositories of git, and how it is
// read. That osls deploys it is test/generate/public-template.test.ts.
import { execFileSync } from 'node:child_process';
import { describeVersion, versionOf } from '@outrigger/cli/project/deployed-version';
import { expect, it } from 'vitest';
import { useFolder } from '../support/folder.ts';

const folder = useFolder();
const git = (...argv: readonly string[]) =>
  execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', ...argv], {
    cwd: folder.path,
    encoding: 'utf8',
  });
const named = async () => versionOf(await describeVersion(folder.path));

it('the version is that of package.json with the commit, and dirty while the tree has a change', async () => {
  await folder.write('package.json', '{}');
  expect(await named()).toBeUndefined();
  await folder.write('package.json', '{"version":"1.4.0"}');
  expect(await named()).toBe('1.4.0');
  git('init', '--quiet');
  expect(await named()).toBe('1.4.0');
  git('add', '.');
  git('commit', '--quiet', '--message', 'one');
  const commit = git('rev-parse', 'HEAD').slice(0, 7);
  expect(await named()).toBe(`1.4.0 (${commit})`);
  await folder.write('new.ts', '');
  expect(await named()).toBe(`1.4.0 (${commit}, dirty)`);
  await folder.write('package.json', '{}');
  expect(await named()).toBe(`${commit}, dirty`);
});

it('a change outside of the folder of the project does not make it dirty', async () => {
  await folder.write('plant/package.json', '{}');
  git('init', '--quiet');
  git('add', '.');
  git('commit', '--quiet', '--message', 'one');
  const read = async () => versionOf(await describeVersion(folder.at('plant')));
  const commit = git('rev-parse', 'HEAD').slice(0, 7);
  await folder.write('other/new.ts', '');
  expect(await read()).toBe(commit);
  await folder.write('plant/new.ts', '');
  expect(await read()).toBe(`${commit}, dirty`);
});

it.each([undefined, '', 'Fills tanks'])('a function with the description %j has no version', (description) => {
  expect(versionOf(description)).toBeUndefined();
});
