// The npm packages of this repository, packed once for all tests that install them: packing compiles the sources and
// bundles the console's page, which takes ten seconds of a processor.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { withLock } from '@outrigger/cli/dev/artifacts';
import { hashFiles } from '@outrigger/cli/dev/hash-files';

const root = path.resolve(import.meta.dirname, '../..');
const packSeconds = 300;
/** What npm packs, and what the compiler and the bundler read. */
const inputs = [
  ...['package.json', 'package-lock.json', 'tsconfig.json', 'README.md', 'CHANGELOG.md'],
  ...['docs', 'packages', 'src', 'tools/console-page.ts'],
  ...['infra/kubernetes/Dockerfile', 'infra/kubernetes/watcher', 'infra/package.json'],
  ...['test/controllers', 'test/statements/authoring-example.ts', 'test/testing'],
];

const packages = ['outrigger', 'outrigger-apiserver', 'outrigger-cli', 'outrigger-common', 'create-outrigger'] as const;
/** The packages, by the name of their tarball without its version. */
export type PackedPackages = Readonly<Record<(typeof packages)[number], string>>;

/**
 * Returns the paths of the packed packages, and first packs them if one of their files has changed. Concurrent callers in
 * any process wait for it. Rejects with the output of npm if packing fails.
 */
export async function packedPackages(): Promise<PackedPackages> {
  const cache = path.join(root, '.outrigger/cache');
  const packed = path.join(cache, 'packages');
  const stamp = `${packed}.stamp`;
  const packOnce = async () => {
    const hash = await hashFiles(root, inputs);
    if ((await readFile(stamp, 'utf8').catch(() => '')) === hash) return;
    await rm(stamp, { force: true });
    const folder = await mkdtemp(`${packed}-`);
    try {
      const argv = ['run', 'pack', '--', '--pack-destination', folder];
      await promisify(execFile)('npm', argv, { cwd: root, maxBuffer: 2 ** 26 });
      await rm(packed, { recursive: true, force: true });
      await rename(folder, packed);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
    await writeFile(stamp, hash);
  };
  await withLock(stamp, packOnce, AbortSignal.timeout(packSeconds * 1000));
  const files = await readdir(packed);
  const find = (name: string): string => {
    const file = files.find((one) => new RegExp(`^${name}-\\d`).test(one));
    if (file === undefined) throw new Error(`npm packed no ${name}: ${files.join(', ')}`);
    return path.join(packed, file);
  };
  return {
    outrigger: find('outrigger'),
    'outrigger-apiserver': find('outrigger-apiserver'),
    'outrigger-cli': find('outrigger-cli'),
    'outrigger-common': find('outrigger-common'),
    'create-outrigger': find('create-outrigger'),
  };
}

/** Unpacks all packages into the `node_modules` of a folder. */
export async function unpackInto(modules: string): Promise<void> {
  for (const [name, tarball] of Object.entries(await packedPackages())) {
    const target = path.join(modules, name.replace('outrigger-', '@outrigger/'));
    await rm(target, { recursive: true, force: true });
    await mkdir(target, { recursive: true });
    await promisify(execFile)('tar', ['-xzf', tarball, '--strip-components=1', '-C', target]);
  }
}
