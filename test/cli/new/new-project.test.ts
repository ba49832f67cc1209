// Only the files that `outrigger new project` writes, its errors, and the errors of commands outside of a project.
// test/deploy/package.test.ts builds, tests and runs a new project with the package alone.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';

const source = path.resolve(import.meta.dirname, '../../..');
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'outrigger-project-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function outrigger(...argv: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  try {
    const command = [path.join(source, 'bin/outrigger.js'), ...argv];
    return { code: 0, ...(await promisify(execFile)(process.execPath, command, { cwd: folder })) };
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && 'stderr' in error)) throw error;
    return { code: Number(error.code), stdout: '', stderr: String(error.stderr) };
  }
}
const write = async (file: string, text: string) => {
  await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
  await writeFile(path.join(folder, file), text);
};
const read = async (file: string) => await readFile(path.join(folder, file), 'utf8');

it('new project writes the AWS resources and manifests of the package, the shared functions, and an empty registry', async () => {
  await write(
    'package.json',
    JSON.stringify({ name: 'mine', scripts: { test: 'none', own: 'x' }, dependencies: { zod: '1' } }),
  );
  expect(await outrigger('new', 'project')).toMatchObject({ code: 0, stderr: '' });
  expect(await read('serverless.yml')).toBe(await readFile(path.join(source, 'serverless.yml'), 'utf8'));
  expect((await readdir(path.join(folder, 'infra/kubernetes'))).sort()).toEqual(
    (await readdir(path.join(source, 'infra/kubernetes'))).filter((one) => !/^(generated|samples)$/.test(one)).sort(),
  );
  expect(await readdir(path.join(folder, 'functions'))).toEqual(['resync.ts', 'timers.ts']);
  expect(await read('src/controllers/registry.ts')).toContain('registry: readonly ControllerDefinition[] = [\n];');
  expect(JSON.parse(await read('package.json'))).toMatchObject({
    name: 'mine',
    type: 'module',
    scripts: { own: 'x', test: 'vitest run' },
    // The author's version stays.
    dependencies: { zod: '1' },
    devDependencies: { osls: '4.3.1' },
  });
});

it('new project writes nothing if one of its files exists', async () => {
  await write('package.json', '{}');
  await write('functions/timers.ts', 'mine');
  const { code, stderr } = await outrigger('new', 'project');
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: 'outrigger new project: functions/timers.ts is there already; use an empty folder\n',
  });
  expect((await readdir(folder)).sort()).toEqual(['functions', 'package.json']);
});

it('new project without a package.json names the commands to begin with', async () => {
  const { code, stderr } = await outrigger('new', 'project');
  expect(code).toBe(1);
  expect(stderr).toContain('begin with npm init --yes, and install the package\n');
});

it.each([
  'status',
  'doctor',
  'generate',
  'dev --until-ready',
])('outrigger %s outside of a project prints one line that says where to run it', async (command) => {
  const { code, stderr } = await outrigger(...command.split(' '));
  expect(code).toBe(1);
  expect(stderr).toMatch(/there is no src\/controllers\/registry\.ts here; run it in the folder of the project\n$/);
  expect(stderr).not.toContain('    at ');
});

it.each([
  [
    'a registry that cannot be loaded',
    "import 'nowhere';",
    'src/controllers/registry.ts cannot be loaded: Cannot find package',
  ],
  ['a registry without a list', 'export const list = [];', 'src/controllers/registry.ts: registry:'],
  [
    'a registry of other values',
    'export const registry = [1];',
    'is no controller; make it with the controller method of its kind',
  ],
])('generate with %s prints one line', async (_, text, message) => {
  await write('src/controllers/registry.ts', text);
  const { code, stderr } = await outrigger('generate');
  expect(code).toBe(1);
  expect(stderr).toContain(message);
  expect(stderr).not.toContain('    at ');
});
