// `outrigger build` as a person runs it: what it writes to dist/ with --cloudformation and --chart, and its errors. osls is
// a fake that packages one function. The bundles are tested in build.test.ts, the real osls in
// test/deploy/other-tools.test.ts, and the chart in a cluster in test/cluster/chart.test.ts.
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { buildCommand } from '../../src/cli/build.ts';
import { useFolder } from '../support/folder.ts';
import { expectUserError, runHere } from './command-result.ts';

const { at, json, read, write } = useFolder();
const filesOf = async (name: string) => (await readdir(at(name), { recursive: true })).toSorted();
const zip = 'the code of tree';
const codeOf = (S3Bucket: object, S3Key: unknown) => ({
  Type: 'AWS::Lambda::Function',
  Properties: { MemorySize: 512, Code: { S3Bucket, S3Key } },
});
const bucket = { Ref: 'ServerlessDeploymentBucket' };
const queue = { Type: 'AWS::SQS::Queue' };
const packaged = {
  Resources: {
    ServerlessDeploymentBucket: { Type: 'AWS::S3::Bucket' },
    Queue: queue,
    Tree: codeOf(bucket, 'serverless/x/dev/1-2026/tree.zip'),
  },
  Outputs: { ServerlessDeploymentBucketName: { Value: bucket }, QueueUrl: { Value: { Ref: 'Queue' } } },
  Parameters: { Alarms: { Type: 'String' } },
};
const writeOsls = async (template: object) =>
  await write(
    'infra/node_modules/osls/bin/serverless.js',
    `import { mkdirSync, writeFileSync } from 'node:fs';
     mkdirSync('.serverless');
     writeFileSync('.serverless/tree.zip', '${zip}');
     const template = { ...${JSON.stringify(template)}, Description: process.argv.slice(2).join(' ') };
     writeFileSync('.serverless/cloudformation-template-update-stack.json', JSON.stringify(template));`,
  );

async function run(...argv: readonly string[]) {
  const cwd = vi.spyOn(process, 'cwd').mockReturnValue(at());
  try {
    return await runHere(buildCommand(), argv);
  } finally {
    cwd.mockRestore();
  }
}

beforeEach(async () => {
  await symlink(path.resolve(import.meta.dirname, '../../node_modules'), at('node_modules'));
  await write('package.json', '{"type":"module","version":"1.2.3","outrigger":{"project":"plant"}}');
  await write('src/watcher/main.ts', '');
  await write('functions/tree.ts', 'export const handler = () => 1;');
});

it('--cloudformation writes a template whose code is in a bucket of the user, and the code by its hash', async () => {
  await writeOsls(packaged);
  await write('dist/cloudformation/code/old.zip', 'old');
  const argv = ['--cloudformation', '--stage', 'prod', '--param', 'A=1', '--param', 'B=2'];
  const out = 'built dist/, dist/cloudformation/\n';
  expect(await run(...argv)).toEqual({ out, err: '', status: 0 });
  const file = `tree-${createHash('sha256').update(zip).digest('hex').slice(0, 12)}.zip`;
  expect(await filesOf('dist')).toEqual(
    ['cloudformation', 'cloudformation/code', `cloudformation/code/${file}`, 'cloudformation/template.json']
      .concat(['tree', 'tree/index.mjs', 'tree/index.mjs.map', 'watcher', 'watcher/index.mjs', 'watcher/index.mjs.map'])
      .toSorted(),
  );
  expect(await read(`dist/cloudformation/code/${file}`)).toBe(zip);
  expect(await json('dist/cloudformation/template.json')).toEqual({
    Description: 'package --stage prod --param A=1 --param B=2',
    Parameters: { CodeBucket: expect.anything(), CodePrefix: expect.anything(), Alarms: { Type: 'String' } },
    Resources: { Queue: queue, Tree: codeOf({ Ref: 'CodeBucket' }, { 'Fn::Sub': `\${CodePrefix}${file}` }) },
    Outputs: { QueueUrl: { Value: { Ref: 'Queue' } } },
  });
});

const manifests: Readonly<Record<string, string>> = {
  'generated/roles.yaml': 'kind: ServiceAccount\nmetadata: { name: w }\n',
  'generated/kustomization.yaml': 'kind: Kustomization\n',
  'watcher/deployment.yaml':
    'kind: Deployment\nmetadata: {}\nspec: { template: { spec: { containers: [{ envFrom: [{}] }] } } }\n',
  'watcher.env': '# a comment\nCLUSTER=prod=1\n',
};

it('--chart writes a chart with the name and version of the project, and nothing of a former one', async () => {
  for (const [name, text] of Object.entries(manifests)) await write(`infra/kubernetes/${name}`, text);
  await write('dist/chart/templates/old.yaml', 'old');
  const out = 'built dist/, dist/chart/\n';
  expect(await run('--chart')).toEqual({ out, err: '', status: 0 });
  const templates = ['deployment.yaml', 'roles.yaml', 'settings.yaml'].map((name) => `templates/${name}`);
  expect(await filesOf('dist/chart')).toEqual(['Chart.yaml', 'templates', ...templates, 'values.yaml']);
  expect(await read('dist/chart/Chart.yaml')).toMatch(/^name: outrigger-plant-watcher\nversion: "1\.2\.3"$/m);
  expect(await read('dist/chart/values.yaml')).toContain('settings:\n  CLUSTER: prod=1\n');
  expect(await read('dist/chart/templates/roles.yaml')).toContain('.Values.serviceAccount.annotations');
});

// /dev/shm is a file system of its own on Linux.
it.skipIf(!existsSync('/dev/shm'))(
  'B8: a dist on another device gets the bundles, and a second build replaces them',
  async () => {
    const elsewhere = await mkdtemp('/dev/shm/outrigger-test-');
    onTestFinished(async () => await rm(elsewhere, { recursive: true }));
    await symlink(elsewhere, at('dist'));
    await write('dist/tree/index.mjs', 'old');
    for (const _ of [1, 2]) expect(await run()).toEqual({ out: 'built dist/\n', err: '', status: 0 });
    expect(await filesOf('dist')).toEqual([
      'tree',
      'tree/index.mjs',
      'tree/index.mjs.map',
      'watcher',
      'watcher/index.mjs',
      'watcher/index.mjs.map',
    ]);
    expect(await read('dist/tree/index.mjs')).not.toBe('old');
  },
);

it.each([
  ['a source that does not compile', 'functions/tree.ts', 'export const handler = (;', [], 'functions/tree.ts:1:'],
  [
    'a function that reads a file when it is loaded',
    'functions/tree.ts',
    `import { readFileSync } from 'node:fs'; readFileSync('package.json'); export const handler = () => 1;`,
    [],
    'functions/tree.ts: Error: ENOENT: no such file or directory',
  ],
  [
    'a function that imports what only the folder of the project has',
    'functions/tree.ts',
    `import { createRequire } from 'node:module'; createRequire('/x')('zod'); export const handler = () => 1;`,
    [],
    "functions/tree.ts: Error: Cannot find module 'zod'",
  ],
  [
    'a watcher that imports what Node does not have',
    'src/watcher/main.ts',
    `import { nothing } from 'node:fs'; console.log(nothing);`,
    [],
    'the watcher: SyntaxError',
  ],
  ['a folder without functions', 'functions', undefined, [], 'functions: not found; run npm run generate'],
  ['a folder without manifests', 'infra', undefined, ['--chart'], 'dist/kubernetes: not found; run'],
  ['a project without osls', 'infra', undefined, ['--cloudformation'], 'osls is not installed'],
])('build of %s exits with 1, and the last line names it', async (_, file, text, argv, message) => {
  if (text === undefined) await rm(at(file), { recursive: true, force: true });
  else await write(file, text);
  expectUserError(await run(...argv), message);
});

it('a template that refers to the bucket of osls elsewhere is not written', async () => {
  await writeOsls({ ...packaged, Resources: { Policy: { Type: 'AWS::S3::BucketPolicy', Properties: { bucket } } } });
  const { err, status } = await run('--cloudformation');
  expect(err).toContain('the template refers to the bucket of osls in a way that is not known');
  expect([status, await filesOf('dist/cloudformation')]).toEqual([1, ['code']]);
});

it('an option of the template without --cloudformation is refused before anything is built', async () => {
  expectUserError(await run('--stage', 'prod'), 'outrigger build: --stage is for --cloudformation; add it');
  expectUserError(await run('--param', 'A=b'), 'outrigger build: --param is for --cloudformation; add it');
  await expect(filesOf('dist')).rejects.toThrow('ENOENT');
});
