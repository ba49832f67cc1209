// Only tools/install.js on a copy of it, without network: what is installed needs none, and what is missing is said in a
// line for a person. That the parts install from a registry is shown by `npm ci` of CI.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, readlink, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeEach, expect, it, onTestFinished } from 'vitest';

const source = path.resolve(import.meta.dirname, '../..');
const binary = `node_modules/node-${process.platform}-${process.arch}/bin/node`;
let root: string;

beforeEach(async () => {
  root = await mkdtemp(path.join(tmpdir(), 'outrigger-install-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  await mkdir(path.join(root, 'tools/node'), { recursive: true });
  await writeFile(path.join(root, 'package.json'), '{"type":"module"}');
  for (const file of ['tools/install.js', 'tools/node/package.json', 'tools/node/package-lock.json'])
    await cp(path.join(source, file), path.join(root, file));
});

/** Runs the program as a Node of this version, with a registry that refuses connections and an empty cache. */
function install(version: string, ...argv: readonly string[]): { readonly status: number | null; stderr: string } {
  const preload = `Object.defineProperty(process, 'versions', { value: { node: '${version}' } })`;
  const env = {
    ...process.env,
    npm_config_registry: 'http://127.0.0.1:1/',
    npm_config_cache: path.join(root, 'cache'),
    npm_config_fetch_retries: '0',
    npm_config_update_notifier: 'false',
  };
  const options = ['--import', `data:text/javascript,${encodeURIComponent(preload)}`, 'tools/install.js', ...argv];
  return spawnSync(process.execPath, options, { cwd: root, env, encoding: 'utf8' });
}

async function placeNode(): Promise<void> {
  const part = path.join(root, 'tools/node');
  await mkdir(path.dirname(path.join(part, binary)), { recursive: true });
  await writeFile(path.join(part, binary), '');
  const lock = await readFile(path.join(part, 'package-lock.json'));
  await writeFile(path.join(part, 'node_modules/.installed'), createHash('sha256').update(lock).digest('hex'));
}

it('a machine with Node 24 gets no second one', () => {
  expect(install('24.0.0', '--node')).toMatchObject({ status: 0, stderr: '' });
  expect(existsSync(path.join(root, 'node_modules'))).toBe(false);
  expect(existsSync(path.join(root, 'tools/node/node_modules'))).toBe(false);
});

it('an older Node without a network ends with status 1, the reason and what to do', () => {
  const { status, stderr } = install('20.20.2', '--node');
  expect(status).toBe(1);
  expect(stderr).toContain(
    `The repository needs Node 24, and this is Node 20.20.2. npm could not fetch ${path.basename(path.dirname(path.dirname(binary)))}`,
  );
  // What failed is tried again.
  expect(install('20.20.2', '--node').status).toBe(1);
  expect(stderr).toContain('Install Node 24 yourself, or run `npm run node`');
  expect(stderr).not.toMatch(/^ +at /m);
});

it('a Node that is there already is linked into node_modules/.bin without a network', async () => {
  await placeNode();
  expect(install('20.20.2', '--node')).toMatchObject({ status: 0, stderr: '' });
  expect(await readlink(path.join(root, 'node_modules/.bin/node'))).toBe(path.join('../../tools/node', binary));
});

it('a changed lock file is installed again', async () => {
  await placeNode();
  const lock = path.join(root, 'tools/node/package-lock.json');
  await writeFile(lock, `${await readFile(lock, 'utf8')}\n`);
  expect(install('20.20.2', '--node').status).toBe(1);
});

it('Node, osls, the charts and the clients of the deploy tests are in lock files of their own', async () => {
  const { packages } = JSON.parse(await readFile(path.join(source, 'package-lock.json'), 'utf8'));
  const parts = /\/(node-linux-\w+|osls|echarts|client-iam|client-cloudformation)$/;
  expect(Object.keys(packages).filter((name) => parts.test(name))).toEqual([]);
  const manifest = JSON.parse(await readFile(path.join(source, 'package.json'), 'utf8'));
  expect(manifest.optionalDependencies).toBeUndefined();
  expect(JSON.stringify(manifest.scripts)).not.toMatch(/"(pre|post)?install"/);
});
