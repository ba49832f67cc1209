// Only the files that `outrigger new project` writes, its errors, and the errors of commands outside of a project.
// test/deploy/tutorial.test.ts builds, tests and runs a new project with the package alone.
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, symlink } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder, useFolder } from '../../support/folder.ts';
import { expectUserError, runIn, runProcess } from '../command-result.ts';

const source = path.resolve(import.meta.dirname, '../../..');
const folder = useFolder();
const { read, write, json } = folder;
const outrigger = async (...argv: readonly string[]) => await runIn(folder.path, argv);

it('new project in an empty folder writes the files of a service, and a repository', async () => {
  expect(await outrigger('new', 'project', '--yes', '--name', 'cafes')).toMatchObject({ status: 0, err: '' });
  // No code of ours, and no generated file.
  expect((await readdir(folder.path)).toSorted()).toEqual([
    ...['.git', '.github', '.gitignore', 'README.md', 'package.json', 'serverless.yml', 'tsconfig.json'],
  ]);
  const service = await read('serverless.yml');
  expect(service).toContain('service: cafes\n');
  expect(service.split('\n').length).toBeLessThan(12);
  expect(await json('tsconfig.json')).toMatchObject({ extends: 'outrigger/tsconfig.json' });
  expect(await json('package.json')).toMatchObject({
    name: 'cafes',
    type: 'module',
    outrigger: { project: 'cafes' },
    scripts: { test: 'vitest run', check: 'tsc' },
    devDependencies: { osls: '4.3.1' },
  });
  // B9: Yarn installs no package because another one needs it beside itself, as npm does.
  const { dependencies, devDependencies } = JSON.parse(await read('package.json'));
  const packages = Object.keys({ ...dependencies, ...devDependencies });
  const peers = packages.flatMap((name) => {
    const file = path.join(source, 'node_modules', name, 'package.json');
    const { peerDependencies, peerDependenciesMeta = {} } = existsSync(file)
      ? JSON.parse(readFileSync(file, 'utf8'))
      : {};
    return Object.keys(peerDependencies ?? {}).filter((peer) => peerDependenciesMeta[peer]?.optional !== true);
  });
  expect(packages).toEqual(expect.arrayContaining(peers));
  expect(await read('README.md')).toContain('npm run test\n');
  const workflow = await read('.github/workflows/cafes.yml');
  expect(workflow).toContain('- run: npx osls package --stage dev\n');
  expect(workflow).toContain('permissions:\n  contents: read\n');
  expect(workflow).toContain('- run: npm ci --no-audit --no-fund\n');
  for (const [, uses] of workflow.matchAll(/uses: (.*)/g))
    expect(uses).toMatch(/^[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  expect(await read('.gitignore')).toContain('.env\n');
  expect(await readdir(folder.path)).toContain('.git');
});

it('a project with a controller has the files that the tutorial shows, also where npm init chose CommonJS', async () => {
  const scripts = { test: 'echo "Error: no test specified" && exit 1' };
  await write('package.json', JSON.stringify({ name: 'sites', main: 'index.js', scripts, type: 'commonjs' }));
  await outrigger('new', 'project', '--yes', '--name', 'sites');
  await symlink(path.join(source, 'node_modules'), folder.at('node_modules'));
  await outrigger('new', 'controller', 'Site', '--group', 'sites.example.com');
  const [, tree = ''] = /^```\n(\.github.*?)^```$/ms.exec(await readFile('docs/tutorial.md', 'utf8')) ?? [];
  const shown = tree
    .trimEnd()
    .split('\n')
    .map((line) => line.replace(/ .*/, '').replace('<project>', 'sites'));
  const files = globSync(['**/*', '.github/**/*', '.gitignore'], { cwd: folder.path, exclude: ['node_modules'] });
  expect(files.filter((file) => statSync(folder.at(file)).isFile()).toSorted()).toEqual(shown);
});

it('the manifests of a new project have its name in every name in the cluster', async () => {
  await outrigger('new', 'project', '--yes', '--name', 'cafes');
  await symlink(path.join(source, 'node_modules'), folder.at('node_modules'));
  await write('src/controllers/cafe.ts', await cafe());
  const program = path.join(source, 'packages/cli/src/commands/main.ts');
  expect(await runProcess([program, 'manifests', '--set', 'PORT=80'], folder.path)).toMatchObject({
    status: 0,
    err: '',
  });
  const files = await readdir(folder.at('dist/kubernetes'));
  const all = await Promise.all(files.map(async (file) => await read(path.join('dist/kubernetes', file))));
  const names = all.join('\n').match(/outrigger[-:][a-z:.-]+|name: outrigger.*/g) ?? [];
  expect(names).toContain('outrigger-cafes-system');
  expect(names).toContain('name: outrigger-cafes');
  expect(names).toContain('name: outrigger:cafes:resync');
  expect(names.filter((name) => !name.includes('cafes'))).toEqual([]);
});

/** The sample of the guide, with the sources of this repository in place of the package. */
async function cafe(): Promise<string> {
  const text = await readFile(path.join(source, 'src/controllers/cafe.ts'), 'utf8');
  return text.replaceAll(/'\.\.\/(\w+)\.ts'/g, (_, entry: string) => `'${path.join(source, 'src', entry)}.ts'`);
}

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
  const { status, out } = await outrigger('new', 'project', '--yes');
  expect(status).toBe(0);
  expect(await json('package.json')).toMatchObject({
    ...theirs,
    outrigger: { project: 'orders' },
    scripts: {
      ...theirs.scripts,
      'outrigger:test': 'vitest run --config vitest.outrigger.config.mts',
      check: 'tsc -p tsconfig.outrigger.json',
    },
  });
  expect(await json('tsconfig.json')).toEqual({
    ...theirTsconfig,
    exclude: expect.arrayContaining(['node_modules', 'dist', 'src/controllers', 'test/controllers']),
  });
  for (const folder of ['src/controllers', 'src/kinds']) {
    expect(await json(`${folder}/package.json`)).toEqual({ type: 'module' });
  }
  expect(await read('README.md')).toBe('mine');
  expect(await read('.gitignore')).toBe('node_modules\n.env\ndist/\ndist-new/\n.outrigger/\n.serverless/\n');
  expect(out).toContain('+     "outrigger:test": "vitest run --config vitest.outrigger.config.mts"');
});

it('a tsconfig.json with comments stays, and a hint names the folders to exclude', async () => {
  const text = '{ // ours\n "include": ["src"] }';
  await write('tsconfig.json', text);
  const { out } = await outrigger('new', 'project', '--yes');
  expect(await read('tsconfig.json')).toBe(text);
  expect(out).toContain('hint: exclude functions, src/controllers');
});

it('new project in a folder of a monorepo writes its workflow for the folder, and makes no repository there', async () => {
  const cwd = folder.at('services/cafes');
  for (const one of [folder.at('.git'), cwd]) await mkdir(one, { recursive: true });
  expect(await runIn(cwd, ['new', 'project', '--yes'])).toMatchObject({ status: 0 });
  expect(await readdir(cwd)).not.toContain('.git');
  expect(await read('.github/workflows/cafes.yml')).toContain('working-directory: services/cafes\n');
});

it('new project without a terminal and without --yes writes nothing, and says what to give', async () => {
  await write('package.json', '{}');
  const result = await outrigger('new', 'project');
  expectUserError(result, 'there is no terminal to ask in, so nothing is written; run it with --yes');
  expect(await readdir(folder.path)).toEqual(['package.json']);
});

it('new project writes nothing if a file that it needs is there with other content', async () => {
  await write('package.json', '{}');
  await write('serverless.yml', 'mine');
  const result = await outrigger('new', 'project', '--yes');
  expectUserError(result, 'serverless.yml: there already, and no file is replaced; ');
  expect((await readdir(folder.path)).sort()).toEqual(['package.json', 'serverless.yml']);
});

it('new project a second time says that this is a project', async () => {
  await outrigger('new', 'project', '--yes', '--name', 'cafes');
  const again = await outrigger('new', 'project', '--yes', '--name', 'bars');
  expectUserError(again, 'outrigger new project: this is the project cafes already; see npx outrigger new controller');
});

it('new project with a name that clusters do not accept says what to use', async () => {
  const result = await outrigger('new', 'project', '--yes', '--name', 'My_Cafes');
  expectUserError(result, '--name "My_Cafes": use two or more lower-case letters, digits and hyphens');
});

it('npm create outrigger does the same in a folder without the package', async () => {
  const modules = path.join(temporaryFolder(), 'node_modules');
  await cp(path.join(source, 'packages/create-outrigger'), path.join(modules, 'create-outrigger'), { recursive: true });
  await symlink(path.join(source, 'node_modules/@outrigger'), path.join(modules, '@outrigger'));
  const program = path.join(modules, 'create-outrigger/create-outrigger.js');
  expect(await runProcess([program, '--yes', '--name', 'bars'], folder.path)).toMatchObject({ status: 0 });
  const packages = { dependencies: { outrigger: '0.1.0' }, devDependencies: { '@outrigger/cli': '0.1.0' } };
  expect(await json('package.json')).toMatchObject({ outrigger: { project: 'bars' }, ...packages });
});

it.each([
  'status',
  'doctor',
  'manifests',
  'dev --until-ready',
])('outrigger %s outside of a project prints one line that says where to run it', async (command) => {
  const result = await outrigger(...command.split(' '));
  expectUserError(
    result,
    'there are no controllers in src/controllers here; run this in the folder of the project, also with --stage, ' +
      'or make a project: npx outrigger new project',
  );
});

it.each([
  ['a registry that cannot be loaded', "import 'nowhere';", 'registry.ts cannot be loaded: Cannot find package'],
  ['a registry that throws', "throw new Error('boom');", 'cannot be loaded: boom (src/controllers/registry.ts:1)'],
  [
    'a Node that loads no TypeScript',
    'throw new TypeError(\'Unknown file extension ".ts" for /x.ts\');',
    `src/controllers/registry.ts cannot be loaded by Node ${process.versions.node}: it is TypeScript, which Node loads from 22.18 on`,
  ],
  ['a registry without a list', 'export const list = [];', 'src/controllers/registry.ts: registry:'],
  ['a registry of other values', 'export const registry = [1];', 'is not a controller; make it with the controller'],
])('manifests with %s prints one line', async (_, text, message) => {
  await write('src/controllers/registry.ts', text);
  expectUserError(await outrigger('manifests'), message);
});

it('manifests with an error of syntax in a source names its place', async () => {
  await write('src/controllers/registry.ts', 'export const registry = [];\nconst x = ;');
  const result = await runProcess([path.join(source, 'packages/cli/bin/outrigger.js'), 'manifests'], folder.path);
  const place = '(src/controllers/registry.ts:2)';
  expectUserError(result, `src/controllers/registry.ts cannot be loaded: Expression expected ${place}`);
});
