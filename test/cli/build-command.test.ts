// `outrigger build` as a person runs it: what it writes to dist/ with --cloudformation and --chart, and its errors. osls is
// a fake that packages one function. The bundles are tested in build.test.ts, the real osls in
// test/deploy/other-tools.test.ts, and the chart in a cluster in test/cluster/chart.test.ts.
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import path from 'node:path';
import { buildCommand } from '@outrigger/cli/commands/build';
import { writeCloudFormation } from '@outrigger/cli/commands/cloudformation';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { useFolder } from '../support/folder.ts';
import { expectUserError, runHere } from './command-result.ts';

const { at, json, read, write } = useFolder();
const filesOf = async (name: string) => (await readdir(at(name), { recursive: true })).toSorted();
/** What every build makes, and the bundle of the author's function. */
const always = ['fleet-watcher.json', 'kubernetes', 'resync', 'timers', 'tree', 'watcher'];
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
     const template = { ...${JSON.stringify(template)}, Description: [...process.argv.slice(2), process.env.OUTRIGGER_VERSION].join(' ') };
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
  await write('functions/tree.ts', 'export const handler = () => 1;');
});

it('B8: --cloudformation writes a template whose code is in a bucket of the user, by its hash, and --chart a chart with the name and version of the project, also on another device', async () => {
  await writeOsls(packaged);
  // A file system of its own on Linux.
  if (existsSync('/dev/shm')) {
    const elsewhere = await mkdtemp('/dev/shm/outrigger-test-');
    onTestFinished(async () => await rm(elsewhere, { recursive: true }));
    await symlink(elsewhere, at('dist'));
  }
  await write('dist/tree/index.mjs', 'old');
  await write('dist/cloudformation/code/old.zip', 'old');
  await write('dist/chart/templates/old.yaml', 'old');
  // A git that osls, which has no PATH of the user, does not find.
  await write('bin/git', "#!/bin/sh\necho '# branch.oid 3fa9c1d'\n");
  await chmod(at('bin/git'), 0o755);
  vi.stubEnv('PATH', `${at('bin')}:${process.env.PATH}`);
  const argv = ['--cloudformation', '--stage', 'prod', '--param', 'A=1', '--param', 'B=2', '--chart'];
  const out = 'built dist/, dist/cloudformation/, dist/chart/\n';
  expect(await run(...argv)).toEqual({ out, err: '', status: 0 });
  const file = `tree-${createHash('sha256').update(zip).digest('hex').slice(0, 12)}.zip`;
  expect(await filesOf('dist/cloudformation')).toEqual(['code', `code/${file}`, 'template.json']);
  expect((await readdir(at('dist'))).toSorted()).toEqual([...always, 'chart', 'cloudformation'].toSorted());
  expect(await read('dist/tree/index.mjs')).not.toBe('old');
  expect(await read(`dist/cloudformation/code/${file}`)).toBe(zip);
  expect(await json('dist/cloudformation/template.json')).toEqual({
    Description: 'package --stage prod --param A=1 --param B=2 version 1.2.3 (3fa9c1d)',
    Parameters: { CodeBucket: expect.anything(), CodePrefix: expect.anything(), Alarms: { Type: 'String' } },
    Resources: { Queue: queue, Tree: codeOf({ Ref: 'CodeBucket' }, { 'Fn::Sub': `\${CodePrefix}${file}` }) },
    Outputs: { QueueUrl: { Value: { Ref: 'Queue' } } },
  });
  expect(await readdir(at('dist/chart'))).toEqual(['Chart.yaml', 'templates', 'values.schema.json', 'values.yaml']);
  const templates = ['deployment.yaml', 'rbac.yaml', 'settings.yaml'];
  expect(await readdir(at('dist/chart/templates'))).toEqual(expect.arrayContaining(templates));
  expect(await readdir(at('dist/chart/templates'))).not.toContain('old.yaml');
  expect(await read('dist/chart/Chart.yaml')).toMatch(/^name: outrigger-plant-watcher\nversion: "1\.2\.3"$/m);
  expect(await read('dist/chart/values.yaml')).toContain('settings:\n  CLUSTER: ""\n');
  expect(await read('dist/chart/templates/rbac.yaml')).toContain('.Values.serviceAccount.annotations');
});

it.each([
  ['a source that does not compile', 'functions/tree.ts', 'export const handler = (;', [], 'functions/tree.ts:1:'],
  ['a folder that is no project', 'package.json', undefined, [], 'there are no controllers in src/controllers here'],
  ['a project without osls', 'infra', undefined, ['--cloudformation'], 'osls is not installed'],
])('build of %s exits with 1, and the last line names it', async (_, file, text, argv, message) => {
  if (text === undefined) await rm(at(file), { recursive: true, force: true });
  else await write(file, text);
  expectUserError(await run(...argv), message);
});

it('a template that refers to the bucket of osls elsewhere is not written', async () => {
  await writeOsls({ ...packaged, Resources: { Policy: { Type: 'AWS::S3::BucketPolicy', Properties: { bucket } } } });
  const written = writeCloudFormation(at(), new AbortController().signal, []);
  await expect(written).rejects.toThrow('the template refers to the bucket of osls in a way that is not known');
  expect(await filesOf('dist/cloudformation')).toEqual(['code']);
});

it('an option of the template without --cloudformation is refused before anything is built', async () => {
  expectUserError(await run('--stage', 'prod'), 'outrigger build: --stage is for --cloudformation; add it');
  expectUserError(await run('--param', 'A=b'), 'outrigger build: --param is for --cloudformation; add it');
  await expect(filesOf('dist')).rejects.toThrow('ENOENT');
});
