// The package as somebody gets it who has never seen this repository: packed, installed in an empty folder elsewhere, and a service made
// there with the commands and entries of the package alone: checked, tested, bundled, packaged for AWS, and run until it is Ready.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';

const source = path.resolve(import.meta.dirname, '../..');
const timeout = 240_000;
let folder: string;
let project: string;

/** Runs a program as a person at a shell does: npm's own variables, which a test's process has from its npm, are left out. */
async function run(cwd: string, program: string, ...argv: readonly string[]): Promise<string> {
  const outside = Object.entries(process.env).filter(([name]) => !/^(npm_|INIT_CWD|VITEST|NODE_)/i.test(name));
  const PATH = (process.env.PATH ?? '').split(path.delimiter).filter((place) => !place.includes('node_modules'));
  const env = { ...Object.fromEntries(outside), PATH: PATH.join(path.delimiter), CI: 'true' };
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
/** A source of this repository, as an author writes it who has the package. */
const ofTheReadme = async (file: string) =>
  (await readFile(path.join(source, file), 'utf8'))
    .replace("'../outrigger.ts'", "'outrigger'")
    .replace("'../../src/testing.ts'", "'outrigger/testing'")
    .replace('src/examples/', 'src/controllers/');

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'outrigger-packed-'));
  project = path.join(folder, 'cafes');
  await mkdir(project);
  await run(source, 'npm', 'pack', '--pack-destination', folder);
  await npm('init', '--yes');
  const [tarball = ''] = (await readdir(folder)).filter((file) => file.endsWith('.tgz'));
  await npm('install', '--prefer-offline', '--no-audit', '--no-fund', path.join('..', tarball));
  await npm('exec', '--', 'outrigger', 'new', 'project');
  await npm('install', '--prefer-offline', '--no-audit', '--no-fund');
}, 2 * timeout);
afterAll(() => rm(folder, { recursive: true, force: true }), timeout);

describe('the package', () => {
  it('holds nothing of this service: no controller, no sample, nothing generated, no test, no source but what osls runs', async () => {
    const root = path.join(project, 'node_modules/outrigger');
    const files = (await readdir(root, { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile())
      .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)))
      .filter((file) => !file.startsWith('node_modules/'));
    expect(files).toContain('lib/cli/main.js');
    expect(files.filter((file) => /controllers\/|samples|generated\/|^test|^functions/.test(file))).toEqual([]);
    expect(files.filter((file) => /(?<!\.d)\.ts$/.test(file) && !file.startsWith('infra/aws/'))).toEqual([]);
  });
});

describe('a service of one’s own', { timeout }, () => {
  it('has the controller of the README, written by hand, and one that outrigger new controller wrote', async () => {
    await npm('exec', '--', 'outrigger', 'new', 'controller', 'Kettle');
    await write('src/controllers/cafe.ts', await ofTheReadme('src/examples/cafe.ts'));
    await write('test/controllers/cafe.test.ts', await ofTheReadme('test/examples/cafe.test.ts'));
    const handler = await readFile(path.join(project, 'functions/kettle.ts'), 'utf8');
    await write('functions/cafe.ts', handler.replaceAll('kettle', 'cafe'));
    await edit('src/controllers/registry.ts', 'kettle,', 'cafe, kettle,');
    await edit(
      'src/controllers/registry.ts',
      'import { kettle }',
      "import { cafe } from './cafe.ts';\nimport { kettle }",
    );
    const metadata = { name: 'central', namespace: 'default' };
    const central = { apiVersion: 'cafe.example.com/v1', kind: 'Cafe', metadata, spec: { seats: 25 } };
    await write('infra/kubernetes/samples/cafe.yaml', JSON.stringify(central));
    expect(await npm('run', 'generate')).toContain('infra/kubernetes/generated/crd-cafes.cafe.example.com.yaml');
  });

  it('compiles, and what is generated is fresh', async () => {
    await npm('run', 'check');
  });

  it('is tested by calling its reconcilers', async () => {
    await npm('test', '--', '--reporter=json', '--outputFile=report.json');
    const report = z.object({ numPassedTests: z.number(), numFailedTests: z.number() });
    const { numPassedTests, numFailedTests } = report.parse(
      JSON.parse(await readFile(path.join(project, 'report.json'), 'utf8')),
    );
    expect([numPassedTests > 3, numFailedTests]).toEqual([true, 0]);
  });

  it('is bundled, and packaged for AWS with the queue, the function and the role of each controller', async () => {
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

  it('runs on one machine until its samples are Ready', async () => {
    const said = await npm('run', 'demo', '--', '--until-ready', '--timeout-seconds', '120');
    const table = said.slice(said.lastIndexOf('KIND '));
    expect(table).toMatch(/^Cafe +default\/central +True /m);
    expect(table).toMatch(/^Kettle +default\/my-kettle +True /m);
  });
});
