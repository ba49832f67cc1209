// The package as it is packed, and a service made with only its commands and entry points: checked, bundled and packaged
// for AWS. The packages that it needs are those of this repository: tutorial.test.ts installs them as a user does.
import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { packedPackage } from '../../tools/troubleshooting/packed-package.ts';
import { newProject, type Project } from '../../tools/troubleshooting/project.ts';
import { usersEnvironment } from '../support/users-environment.ts';

const source = path.resolve(import.meta.dirname, '../..');
const timeout = 240_000;
let made: Omit<Project, 'kubectl'>;
let project: string;

/** Runs a program as in a user's shell. The package installs no Node: a consumer has Node 24. */
async function run(cwd: string, program: string, ...argv: readonly string[]): Promise<string> {
  const env = usersEnvironment();
  const { stdout } = await promisify(execFile)(program, [...argv], { cwd, env, maxBuffer: 64 * 1024 * 1024 });
  return stdout;
}
const npm = async (...argv: readonly string[]) => await run(project, 'npm', ...argv);
const write = async (file: string, text: string) => {
  await mkdir(path.dirname(path.join(project, file)), { recursive: true });
  await writeFile(path.join(project, file), text);
};
const edit = async (file: string, from: string, to: string) => {
  const text = await readFile(path.join(project, file), 'utf8');
  expect(text).toContain(from);
  await write(file, text.replace(from, to));
};
/** A source file of this repository, with the imports of a package's user. */
const readmeSource = async (file: string) =>
  (await readFile(path.join(source, file), 'utf8'))
    .replace("'../outrigger.ts'", "'outrigger'")
    .replace(/'(\.\.|\.\.\/\.\.\/src)\/kubernetes\.ts'/, "'outrigger/kubernetes'")
    .replace("'../../src/testing.ts'", "'outrigger/testing'");

beforeAll(async () => {
  made = await newProject('cafes');
  project = made.folder;
  const modules = path.join(project, 'node_modules');
  await symlink(path.join(source, 'infra/node_modules/osls'), path.join(modules, 'osls'));
  await symlink('../osls/bin/serverless.js', path.join(modules, '.bin/osls'));
}, timeout);
afterAll(async () => await made?.remove());

describe('the npm package', () => {
  it('the package contains the documents and the samples that they name, and no generated file or manifest of a sample', async () => {
    const root = path.join(project, 'node_modules/outrigger');
    const files = (await readdir(root, { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile())
      .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)));
    expect(files).toContain('lib/cli/main.js');
    expect(files).toEqual(expect.arrayContaining(['docs/authoring.md', 'src/controllers/cafe.ts', 'CHANGELOG.md']));
    expect(files.filter((file) => /^lib\/.*controllers\/|samples|generated\/|^functions/.test(file))).toEqual([]);
  });

  it('the package is as npm, Node and bundlers want it: publint and Are the types wrong find nothing', async () => {
    const tarball = await packedPackage();
    const programs = path.join(source, 'test/deploy/node_modules/.bin');
    await run(source, path.join(programs, 'publint'), 'run', tarball, '--strict');
    await run(source, path.join(programs, 'attw'), tarball, '--profile', 'esm-only');
  });
});

describe('a service made with the package', { timeout }, () => {
  it('a service has the controller of the README, and one from outrigger new controller', async () => {
    await npm('exec', '--', 'outrigger', 'new', 'controller', 'Kettle');
    await write('src/controllers/cafe.ts', await readmeSource('src/controllers/cafe.ts'));
    await write('test/controllers/cafe.test.ts', await readmeSource('test/controllers/cafe.test.ts'));
    await edit('src/controllers/registry.ts', '[kettle]', '[cafe, kettle]');
    await edit(
      'src/controllers/registry.ts',
      'import { kettle }',
      "import { cafe } from './cafe.ts';\nimport { kettle }",
    );
    const metadata = { name: 'central', namespace: 'default' };
    const central = { apiVersion: 'cafe.example.com/v1', kind: 'Cafe', metadata, spec: { seats: 25 } };
    await write('infra/kubernetes/samples/cafe.yaml', JSON.stringify(central));
    const generated = await npm('run', 'generate');
    expect(generated).toContain('infra/kubernetes/generated/crd-cafes.cafe.example.com.yaml');
    expect(generated).toContain('functions/cafe.ts');
  });

  it('a service compiles, and its generated files are up to date', async () => {
    await npm('run', 'check');
  });

  it('a service is bundled, and packaged for AWS with the queue, function and role of each controller', async () => {
    await npm('run', 'build');
    await npm('exec', '--', 'osls', 'package', '--stage', 'dev');
    const text = await readFile(path.join(project, '.serverless/cloudformation-template-update-stack.json'), 'utf8');
    const { Resources } = z
      .object({ Resources: z.record(z.string(), z.object({ Type: z.string() })) })
      .parse(JSON.parse(text));
    const types = Object.fromEntries(Object.entries(Resources).map(([name, { Type }]) => [name, Type]));
    expect(types).toMatchObject({
      CafeQueue: 'AWS::SQS::Queue',
      CafeDeadLetters: 'AWS::SQS::Queue',
      CafeLambdaFunction: 'AWS::Lambda::Function',
      CafeRole: 'AWS::IAM::Role',
      KettleQueue: 'AWS::SQS::Queue',
      TimersQueue: 'AWS::SQS::Queue',
      ResyncLambdaFunction: 'AWS::Lambda::Function',
    });
    expect(Object.keys(types).filter((name) => /^(WaterTank|Dinner|Bitcoin)/.test(name))).toEqual([]);
    expect((await readdir(path.join(project, 'dist'))).sort()).toEqual([
      'cafe',
      'kettle',
      'resync',
      'timers',
      'watcher',
    ]);
  });
});
