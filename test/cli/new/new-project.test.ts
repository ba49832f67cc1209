// Only the files that `outrigger new project` writes, its errors, and the errors of commands outside of a project.
// test/deploy/package.test.ts builds, tests and runs a new project with the package alone.
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
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

const json = async (file: string): Promise<unknown> => JSON.parse(await read(file));

it('new project in an empty folder writes the files of a service, and a repository', async () => {
  expect(await outrigger('new', 'project', '--yes', '--name', 'cafes')).toMatchObject({ code: 0, stderr: '' });
  expect(await read('serverless.yml')).toBe(await readFile(path.join(source, 'serverless.yml'), 'utf8'));
  expect((await readdir(path.join(folder, 'infra/kubernetes'))).sort()).toEqual(
    (await readdir(path.join(source, 'infra/kubernetes'))).filter((one) => !/^(generated|samples)$/.test(one)).sort(),
  );
  expect(await readdir(path.join(folder, 'functions'))).toEqual(['resync.ts', 'timers.ts']);
  expect(await read('src/controllers/registry.ts')).toContain('registry: readonly ControllerDefinition[] = [\n];');
  expect(await json('package.json')).toMatchObject({
    name: 'cafes',
    type: 'module',
    outrigger: { project: 'cafes' },
    scripts: { test: 'vitest run', check: 'tsc && outrigger generate --check' },
    devDependencies: { osls: '4.3.1' },
  });
  expect(await read('README.md')).toContain('npm run test\n');
  expect(await read('.github/workflows/cafes.yml')).toContain('- run: npm run build\n');
  expect(await read('.gitignore')).toContain('.env\n');
  expect(await readdir(folder)).toContain('.git');
});

it('the manifests of a new project have its name in every name in the cluster', async () => {
  await outrigger('new', 'project', '--yes', '--name', 'cafes');
  const files = (await readdir(path.join(folder, 'infra/kubernetes'), { recursive: true })).filter((one) =>
    /\.(ya?ml|env)$/.test(one),
  );
  const all = await Promise.all(files.map(async (file) => await read(path.join('infra/kubernetes', file))));
  const names = all.join('\n').match(/outrigger[-:][a-z:.-]+|name: outrigger.*/g) ?? [];
  expect(names).toContain('outrigger-cafes-system');
  expect(names).toContain('name: outrigger-cafes');
  expect(names).toContain('name: outrigger:cafes:resync');
  expect(names.filter((name) => !name.includes('cafes'))).toEqual([]);
  expect(all.join('\n')).toContain('/123456789012/cafes-dev-\n');
});

/** A repository with Jest, tsc -b and CommonJS. */
const theirs = {
  name: '@shop/Orders',
  type: 'commonjs',
  scripts: { test: 'jest', build: 'tsc -b', start: 'node dist/index.js' },
  dependencies: { zod: '4.0.0' },
  devDependencies: { jest: '30.0.0', typescript: '5.9.3' },
};
const theirTsconfig = { compilerOptions: { module: 'commonjs', outDir: 'dist', composite: true }, include: ['src'] };

async function writeTheirs(): Promise<void> {
  await write('package.json', JSON.stringify(theirs, undefined, 2));
  await write('tsconfig.json', JSON.stringify(theirTsconfig, undefined, 2));
  await write('.gitignore', 'node_modules\n.env');
  await write('README.md', 'mine');
  await write('src/index.ts', 'export = 1;');
}

it('new project in a repository with Jest, tsc -b and CommonJS leaves scripts, type, versions and files as they are', async () => {
  await writeTheirs();
  const { code, stdout } = await outrigger('new', 'project', '--yes');
  expect(code).toBe(0);
  expect(await json('package.json')).toMatchObject({
    ...theirs,
    outrigger: { project: 'orders' },
    scripts: {
      ...theirs.scripts,
      'outrigger:test': 'vitest run --config vitest.outrigger.config.mts',
      'outrigger:build': 'outrigger build',
      check: 'tsc -p tsconfig.outrigger.json && outrigger generate --check',
    },
  });
  expect(await json('tsconfig.json')).toEqual({
    ...theirTsconfig,
    exclude: expect.arrayContaining(['node_modules', 'dist', 'src/controllers', 'test/controllers']),
  });
  expect(await json('src/controllers/package.json')).toEqual({ type: 'module' });
  expect(await read('README.md')).toBe('mine');
  expect(await read('.gitignore')).toBe('node_modules\n.env\ndist/\ndist-new/\n.outrigger/\n.serverless/\n');
  expect(stdout).toContain('+     "outrigger:test": "vitest run --config vitest.outrigger.config.mts"');
});

it('a tsconfig.json with comments stays, and a hint names the folders to exclude', async () => {
  const text = '{ // ours\n "include": ["src"] }';
  await write('tsconfig.json', text);
  const { stdout } = await outrigger('new', 'project', '--yes');
  expect(await read('tsconfig.json')).toBe(text);
  expect(stdout).toContain('hint: exclude functions, infra, src/controllers');
});

it('new project in a folder of a monorepo writes its workflow for the folder, and makes no repository there', async () => {
  const root = folder;
  await mkdir(path.join(root, '.git'));
  folder = path.join(root, 'services/cafes');
  try {
    await mkdir(folder, { recursive: true });
    expect(await outrigger('new', 'project', '--yes')).toMatchObject({ code: 0 });
    expect(await readdir(folder)).not.toContain('.git');
    const workflow = await readFile(path.join(root, '.github/workflows/cafes.yml'), 'utf8');
    expect(workflow).toContain('working-directory: services/cafes\n');
  } finally {
    folder = root;
  }
});

it('new project without a terminal and without --yes writes nothing, and says what to give', async () => {
  await write('package.json', '{}');
  const { code, stderr } = await outrigger('new', 'project');
  expect(code).toBe(1);
  expect(stderr).toBe(
    'outrigger new project: there is no terminal to ask in, so nothing is written; ' +
      'run it with --yes, and with --name NAME for the project\n',
  );
  expect(await readdir(folder)).toEqual(['package.json']);
});

it('new project writes nothing if a file that it needs is there with other content', async () => {
  await write('package.json', '{}');
  await write('functions/timers.ts', 'mine');
  const { code, stderr } = await outrigger('new', 'project', '--yes');
  expect(code).toBe(1);
  expect(stderr).toMatch(/^outrigger new project: functions\/timers\.ts: there already, and no file is replaced; /);
  expect((await readdir(folder)).sort()).toEqual(['functions', 'package.json']);
});

it('new project a second time says that this is a project', async () => {
  await outrigger('new', 'project', '--yes', '--name', 'cafes');
  const { code, stderr } = await outrigger('new', 'project', '--yes', '--name', 'bars');
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: 'outrigger new project: this is the project cafes already; see npx outrigger new controller\n',
  });
});

it('new project with a name that clusters do not accept says what to use', async () => {
  const { code, stderr } = await outrigger('new', 'project', '--yes', '--name', 'My_Cafes');
  expect(code).toBe(1);
  expect(stderr).toContain('--name "My_Cafes": use lower-case letters, digits and hyphens');
});

it('npm create outrigger does the same in a folder without the package', async () => {
  const cache = await mkdtemp(path.join(tmpdir(), 'outrigger-create-'));
  try {
    await mkdir(path.join(cache, 'node_modules'));
    await symlink(source, path.join(cache, 'node_modules/outrigger'));
    await cp(path.join(source, 'create-outrigger'), path.join(cache, 'node_modules/create-outrigger'), {
      recursive: true,
    });
    const program = path.join(cache, 'node_modules/create-outrigger/create-outrigger.js');
    await promisify(execFile)(process.execPath, [program, '--yes', '--name', 'bars'], { cwd: folder });
    expect(await json('package.json')).toMatchObject({
      outrigger: { project: 'bars' },
      dependencies: { outrigger: '0.1.0' },
    });
  } finally {
    await rm(cache, { recursive: true });
  }
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
  [
    'a registry with an error of syntax',
    'export const registry = [];\nconst x = ;',
    'src/controllers/registry.ts cannot be loaded: Expression expected (src/controllers/registry.ts:2)',
  ],
  [
    'a registry that throws',
    "throw new Error('boom');",
    'src/controllers/registry.ts cannot be loaded: boom (src/controllers/registry.ts:1)',
  ],
  [
    'a Node that loads no TypeScript',
    'throw new TypeError(\'Unknown file extension ".ts" for /x.ts\');',
    `src/controllers/registry.ts cannot be loaded by Node ${process.versions.node}: it is TypeScript, which Node loads from 22.18 on`,
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
