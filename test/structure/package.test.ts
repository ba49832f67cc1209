// Only the package as users get it: it compiles to JavaScript and declarations, and has all its entries.
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, symlink } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { packedEnvironment } from '../../tools/packages.ts';
import { useFolder } from '../support/folder.ts';
import { tsc } from '../support/tsc.ts';

const root = path.resolve(import.meta.dirname, '../..');
const run = promisify(execFile);
const folder = useFolder({ shared: true });

const manifest = z.object({
  scripts: z.record(z.string(), z.string()),
  exports: z.record(z.string(), z.union([z.string(), z.record(z.string(), z.string())])),
});
const names = z.record(z.string(), z.string()).optional();
const lock = z.object({
  packages: z.record(
    z.string(),
    z.object({
      dev: z.boolean().optional(),
      dependencies: names,
      peerDependencies: names,
      peerDependenciesMeta: z.record(z.string(), z.object({ optional: z.boolean() })).optional(),
    }),
  ),
});

/** Reads what is installed for production from the lock file: packages by their places, such as `node_modules/zod`. */
async function productionPackages() {
  const { packages } = lock.parse(JSON.parse(await readFile(path.join(root, 'package-lock.json'), 'utf8')));
  return new Map(Object.entries(packages).filter(([, { dev }]) => dev !== true));
}

const author = `
import { defineKind, notOk, ok, type ResultOf } from 'outrigger';
import { ConfigMap } from 'outrigger/kubernetes';
import { testContext } from 'outrigger/testing';
import { createReconcileHandler } from 'outrigger/lambda';
import * as z from 'zod';
const A = defineKind({ group: 'a.example.com', version: 'v1', kind: 'A', spec: z.object({ n: z.number() }), status: z.object({}), conditions: ['X'] });
const a = A.controller('a', { owns: [ConfigMap], reconcile: async ({ metadata: { name } }, { apply }): Promise<ResultOf<typeof A>> => {
  const { data } = await apply(ConfigMap, { metadata: { name }, data: { x: 'y' } });
  return { status: {}, conditions: { X: data?.x === 'y' ? ok('R') : notOk('R') } };
} });
const result = await a.reconcile(A.object('a', { n: 1 }), testContext(a, {}));
if (result.conditions.X.status !== 'True') throw new Error('not so');
const runner = A.controller('b', { exec: { container: '-ctr', commands: [['cli']] }, reconcile: async (_, { exec }) => ({ status: {}, conditions: { X: ok((await exec({ name: 'p' }, 'a-ctr', ['cli'])).stdout) } }) });
await runner.reconcile(A.object('a', { n: 1 }), testContext(runner, { exec: async () => ({ exitCode: 0, stdout: 'R', stderr: '' }) }));
console.log(typeof createReconcileHandler(a));
// @ts-expect-error: exec is missing
export const mute = () => testContext(runner, {});
// @ts-expect-error: a number is not a text
export const wrong = () => A.object('a', { n: 'x' });
`;

/** The package's entry for each of the two files that samples import. */
const specifiers: Readonly<Record<string, string>> = { outrigger: "'outrigger'", kubernetes: "'outrigger/kubernetes'" };

beforeAll(async () => {
  await symlink(path.join(root, 'node_modules'), folder.at('node_modules'));
  await folder.write('package.json', '{"type":"module"}');
  // `tsc` in the root checks the same files. The output is the same without a check.
  const build = ['--noCheck', '-p', path.join(root, 'src/tsconfig.package.json'), '--outDir', folder.path];
  await run(process.execPath, [tsc[0], '-b', path.join(root, 'packages/apiserver')]);
  await run(process.execPath, [...tsc, ...build]);
}, 240_000);

describe('the package', () => {
  it('the package has a file for each of its entries', async () => {
    const { exports } = manifest.parse(JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')));
    const named = Object.values(exports).flatMap((entry) =>
      typeof entry === 'string' ? [entry] : Object.values(entry),
    );
    const compiled = named.filter((file) => file.startsWith('./lib/') && !file.includes('*'));
    expect(compiled.map((file) => path.relative('lib', file)).filter((one) => !existsSync(folder.at(one)))).toEqual([]);
    expect(compiled).toHaveLength(12);
    const others = named.filter((file) => !file.startsWith('./lib/') && !file.includes('*'));
    expect(others).toEqual(expect.arrayContaining(['./src/outrigger.ts', exports['./tsconfig.json']]));
    expect(others.filter((file) => !existsSync(path.join(root, file)))).toEqual([]);
  });

  it('the package has no script that npm runs, or warns about, where the package is installed', async () => {
    const { scripts } = manifest.parse(JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')));
    const atInstall = ['preinstall', 'install', 'postinstall', 'prepare', 'preprepare', 'postprepare'];
    expect(Object.keys(scripts).filter((name) => atInstall.includes(name))).toEqual([]);
  });

  it('the package has each module that is started or bundled by its path', async () => {
    const command = path.join(root, 'packages/cli/src');
    const sources = (await readdir(command, { recursive: true })).filter((file) => file.endsWith('.ts'));
    const modules = sources.flatMap((file) =>
      [...readFileSync(path.join(command, file), 'utf8').matchAll(/runtimeModule\('([^']+)'\)/g)].map(
        ([, module = '']) => `${module}.js`,
      ),
    );
    expect(modules).toContain('lambda/source-stacks.js');
    expect(modules.filter((file) => !existsSync(folder.at(file)))).toEqual([]);
  });

  it('B9: who depends on a package depends on what that needs beside it, which npm installs and Yarn does not', async () => {
    const packages = await productionPackages();
    const peersOf = (name: string) => {
      const { peerDependencies = {}, peerDependenciesMeta = {} } = packages.get(`node_modules/${name}`) ?? {};
      return Object.keys(peerDependencies).filter((peer) => peerDependenciesMeta[peer]?.optional !== true);
    };
    const missing = [...packages].flatMap(([place, { dependencies = {}, peerDependencies = {} }]) =>
      Object.keys(dependencies).flatMap((name) =>
        peersOf(name).flatMap((peer) =>
          peer in dependencies || peer in peerDependencies ? [] : [`${place} needs ${peer} for ${name}`],
        ),
      ),
    );
    expect(missing).toEqual([]);
  });

  it('H10: the emulator of SQS, the bundler and the command are not installed for production', async () => {
    const { packages } = lock.parse(JSON.parse(await readFile(path.join(root, 'package-lock.json'), 'utf8')));
    const installed = new Set(Object.keys(packages['']?.dependencies ?? {}));
    for (const name of installed) {
      const of = packages[name.replace('@outrigger', 'packages')] ?? packages[`node_modules/${name}`];
      for (const one of Object.keys(of?.dependencies ?? {})) installed.add(one);
    }
    expect(installed).toContain('@bufbuild/cel');
    expect([...installed].filter((name) => /^(fauxqs|fastify|esbuild|commander|osls)$/.test(name))).toEqual([]);
  });

  // Control T153.
  it('the package has only JavaScript and declarations', async () => {
    const files = await readdir(folder.path, { recursive: true, withFileTypes: true });
    const own = files.filter((file) => file.isFile() && !/\.(js|d\.ts|tsbuildinfo)$/.test(file.name));
    expect(own.map(({ name }) => name)).toEqual(['package.json']);
  });

  it("an author's project compiles against the package and runs, mistakes are compile errors, and the samples import nothing else of Outrigger", async () => {
    // An empty project with the package in its node_modules; the two specifiers of the samples become the package's.
    const installed = folder.at('project/node_modules/outrigger');
    await mkdir(installed, { recursive: true });
    await cp(path.join(root, 'package.json'), path.join(installed, 'package.json'));
    await symlink(folder.path, path.join(installed, 'lib'));
    const samples = path.join(root, 'src/controllers');
    for (const file of (await readdir(samples, { recursive: true })).filter((one) => one.endsWith('.ts'))) {
      const text = await readFile(path.join(samples, file), 'utf8');
      const rewritten = text.replaceAll(
        /'(?:\.\.\/)+(outrigger|kubernetes)\.ts'/g,
        (_, entry) => specifiers[entry] ?? '',
      );
      await folder.write(`project/controllers/${file}`, rewritten);
    }
    await folder.write('project/author.ts', author);
    await folder.write('project/package.json', '{"type":"module"}');
    const { compilerOptions } = JSON.parse(await readFile(path.join(root, 'src/tsconfig.project.json'), 'utf8'));
    const include = ['controllers', 'author.ts'];
    const compile = async (options: Readonly<Record<string, unknown>>) => {
      await folder.write('project/tsconfig.json', JSON.stringify({ compilerOptions: options, include }));
      return await run(process.execPath, [...tsc, '-p', folder.at('project')]).catch((error) => error);
    };
    const compiled = await compile(compilerOptions);
    expect(compiled.stdout).toBe('');
    // Most projects have `strict` alone, and some check the declarations of packages too.
    const types = { target: 'esnext', module: 'nodenext', types: ['node'], allowImportingTsExtensions: true };
    const checked = await compile({ ...types, noEmit: true, strict: true, skipLibCheck: false });
    expect(checked.stdout).toBe('');
    const { stdout } = await run(process.execPath, ['author.ts'], {
      cwd: folder.at('project'),
      env: packedEnvironment(),
    });
    expect(stdout.trim()).toBe('function');
  });
});
