// The package for a user without this repository: packed, installed in an empty folder, and a service created there
// with only the package's commands and entry points: checked, tested, bundled, packaged for AWS, and run until it is
// Ready.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { seedLock } from './seed-lock.ts';

const source = path.resolve(import.meta.dirname, '../..');
const timeout = 240_000;
let folder: string;
let project: string;
let tarball: string;

/** Runs a program as in a user's shell: npm's own variables in a test's process are removed. */
async function run(cwd: string, program: string, ...argv: readonly string[]): Promise<string> {
  const variables = Object.entries(process.env).filter(([name]) => !/^(npm_|INIT_CWD|VITEST|NODE_)/i.test(name));
  const PATH = (process.env.PATH ?? '').split(path.delimiter).filter((entry) => !entry.includes('node_modules'));
  // The package installs no Node: a consumer has Node 24.
  const withNode = [path.dirname(process.execPath), ...PATH].join(path.delimiter);
  const env = { ...Object.fromEntries(variables), PATH: withNode, CI: 'true' };
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
  folder = await mkdtemp(path.join(tmpdir(), 'outrigger-packed-'));
  project = path.join(folder, 'cafes');
  await mkdir(project);
  await run(source, 'npm', 'pack', '--pack-destination', folder);
  await npm('init', '--yes');
  await seedLock(project);
  const [packed = ''] = (await readdir(folder)).filter((file) => file.endsWith('.tgz'));
  tarball = path.join(folder, packed);
  await npm('install', '--prefer-offline', '--no-audit', '--no-fund', tarball);
  await npm('exec', '--', 'outrigger', 'new', 'project', '--yes');
  await seedLock(project);
  await npm('install', '--prefer-offline', '--no-audit', '--no-fund');
}, 2 * timeout);
afterAll(() => rm(folder, { recursive: true, force: true }), timeout);

describe('the npm package', () => {
  it('the package contains the documents and the samples that they name, no generated file or manifest of a sample, and installs no Node', async () => {
    const root = path.join(project, 'node_modules/outrigger');
    const files = (await readdir(root, { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile())
      .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)))
      .filter((file) => !file.startsWith('node_modules/'));
    expect(files).toContain('lib/cli/main.js');
    const installed = await readdir(path.join(project, 'node_modules'));
    expect(installed).toContain('outrigger');
    expect(installed.filter((name) => name.startsWith('node-linux'))).toEqual([]);
    expect(files).toEqual(expect.arrayContaining(['docs/authoring.md', 'src/controllers/cafe.ts', 'CHANGELOG.md']));
    expect(files.filter((file) => /^lib\/.*controllers\/|samples|generated\/|^functions/.test(file))).toEqual([]);
  });

  it('the package is as npm, Node and bundlers want it: publint and Are the types wrong find nothing', async () => {
    const programs = path.join(source, 'test/deploy/node_modules/.bin');
    await run(source, path.join(programs, 'publint'), 'run', tarball, '--strict');
    await run(source, path.join(programs, 'attw'), tarball, '--profile', 'esm-only');
  });
});

describe('outrigger/testing in a project without controllers', { timeout }, () => {
  it('a plain test starts an API server, with a kind and an object, and needs nothing else of the package', async () => {
    const plain = path.join(folder, 'plain');
    await mkdir(plain);
    await run(plain, 'npm', 'init', '--yes');
    const [tarball = ''] = (await readdir(folder)).filter((file) => file.endsWith('.tgz'));
    const { version } = z
      .object({ version: z.string() })
      .parse(JSON.parse(await readFile(path.join(project, 'node_modules/vitest/package.json'), 'utf8')));
    const packages = [path.join('..', tarball), `vitest@${version}`];
    await run(plain, 'npm', 'install', '--prefer-offline', '--no-audit', '--no-fund', ...packages);
    await writeFile(
      path.join(plain, 'server.test.mjs'),
      `import { expect, it } from 'vitest';
import { ConfigMap } from 'outrigger/kubernetes';
import { startApiServer } from 'outrigger/testing';

it('an object is there, and a change of it is seen', async () => {
  const startedAt = performance.now();
  const metadata = { name: 'one', namespace: 'default' };
  const one = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { said: 'ho' } };
  await using server = await startApiServer({ objects: [one] });
  console.log(\`the API server started in \${Math.round(performance.now() - startedAt)} ms\`);
  await server.patch(ConfigMap, metadata, { data: { said: 'hoho' } });
  expect((await server.get(ConfigMap, metadata)).data).toEqual({ said: 'hoho' });
  expect((await fetch(\`\${server.url}/version\`)).status).toBe(200);
});
`,
    );
    const said = await run(plain, 'npm', 'exec', '--', 'vitest', 'run');
    expect(said).toMatch(/the API server started in \d+ ms/);
    expect(said).toMatch(/1 passed/);
  });
});

describe('a service made with the package', { timeout }, () => {
  it('a service has the controller of the README, and one from outrigger new controller', async () => {
    await npm('exec', '--', 'outrigger', 'new', 'controller', 'Kettle');
    await write('src/controllers/cafe.ts', await readmeSource('src/controllers/cafe.ts'));
    await write('test/controllers/cafe.test.ts', await readmeSource('test/controllers/cafe.test.ts'));
    await edit('src/controllers/registry.ts', 'kettle,', 'cafe, kettle,');
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

  it('a service is tested by calling its reconcilers', async () => {
    await npm('test', '--', '--reporter=json', '--outputFile=report.json');
    const report = z.object({ numPassedTests: z.number(), numFailedTests: z.number() });
    const { numPassedTests, numFailedTests } = report.parse(
      JSON.parse(await readFile(path.join(project, 'report.json'), 'utf8')),
    );
    expect([numPassedTests > 3, numFailedTests]).toEqual([true, 0]);
  });

  it('the battery of a controller from outrigger new controller is green, and red with the reason if it is broken', async () => {
    const kettle = 'src/controllers/kettle.ts';
    const right = 'data: { said }';
    const battery = async () => await npm('test', '--', 'test/controllers/kettle.test.ts', '--reporter=verbose');
    expect(await battery()).toContain('a converged object is reconciled without a write');
    await edit(kettle, right, 'data: { said, at: String(performance.now()) }');
    const broken: unknown = await battery().catch((error: unknown) => error);
    await edit(kettle, 'data: { said, at: String(performance.now()) }', right);
    const output = z.object({ stdout: z.string(), stderr: z.string() }).parse(broken);
    expect(`${output.stdout}${output.stderr}`).toMatch(
      /a converged object is written again by every reconcile: PATCH .*configmaps\/.* What to change: leave times/,
    );
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

  it('a service runs on one machine until its samples are Ready', async () => {
    const said = await npm('run', 'demo', '--', '--until-ready', '--timeout-seconds', '120');
    const table = said.slice(said.lastIndexOf('KIND '));
    expect(table).toMatch(/^Cafe +default\/central +True /m);
    expect(table).toMatch(/^Kettle +default\/my-kettle +True /m);
  });

  it('a service whose controller has a required setting and a secret runs on one machine with both', async () => {
    const kettle = 'src/controllers/kettle.ts';
    await edit(
      kettle,
      "import { defineKind, ok, type ResultOf } from 'outrigger';",
      "import { defineKind, ok, type ResultOf, secret } from 'outrigger';",
    );
    await edit(
      kettle,
      '  owns: [ConfigMap],',
      `  owns: [ConfigMap],
  settings: z.object({ KETTLE_URL: z.url(), KETTLE_TOKEN: secret() }),
  clients: ({ KETTLE_URL, KETTLE_TOKEN }) => ({ url: KETTLE_URL, token: KETTLE_TOKEN }),`,
    );
    await edit(kettle, '{ apply }', '{ apply, clients }');
    await edit(
      kettle,
      '    const said',
      `    const given = [clients.url, await clients.token.read()].join();
    if (given !== 'https://kettle.test,tea') throw new Error(given);
    const said`,
    );
    await npm('run', 'generate');
    const demo = async (...more: readonly string[]) =>
      await npm('run', 'demo', '--', '--until-ready', '--timeout-seconds', '120', ...more);
    const refused: unknown = await demo().catch((error: unknown) => error);
    expect(refused).toMatchObject({ stderr: expect.stringContaining('controller kettle needs KETTLE_URL') });
    await write('token', 'tea\n');
    await write('.env', 'KETTLE_TOKEN=file:token\n');
    const said = await demo('--set', 'KETTLE_URL=https://kettle.test');
    expect(said.slice(said.lastIndexOf('KIND '))).toMatch(/^Kettle +default\/my-kettle +True /m);
  });
});
