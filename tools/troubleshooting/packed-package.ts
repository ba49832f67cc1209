// The npm package of this repository, packed once for all tests that install it: packing compiles the sources and bundles
// the console's page, which takes ten seconds of a processor.
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { withLock } from '../../src/dev/artifacts.ts';
import { hashFiles } from '../../src/dev/hash-files.ts';

const root = path.resolve(import.meta.dirname, '../..');
const packSeconds = 300;
/** What npm packs, and what the compiler and the bundler read. */
const inputs = [
  ...['package.json', 'package-lock.json', 'tsconfig.json', 'serverless.yml', 'README.md', 'CHANGELOG.md'],
  ...['bin', 'docs', 'src', 'tools/console-page.ts'],
  ...['infra/aws', 'infra/kubernetes', 'infra/package.json'],
  ...['test/controllers', 'test/statements/authoring-example.ts', 'test/testing'],
];

/**
 * Returns the path of the packed package, and first packs it if one of its files has changed. Concurrent callers in any
 * process wait for it. Rejects with the output of npm if packing fails.
 */
export async function packedPackage(): Promise<string> {
  const cache = path.join(root, '.outrigger/cache');
  const tarball = path.join(cache, 'package.tgz');
  const stamp = path.join(cache, 'package');
  const packOnce = async () => {
    const hash = await hashFiles(root, inputs);
    if ((await readFile(stamp, 'utf8').catch(() => '')) === hash) return;
    await rm(stamp, { force: true });
    const folder = await mkdtemp(`${stamp}-`);
    try {
      await promisify(execFile)('npm', ['pack', '--pack-destination', folder], { cwd: root, maxBuffer: 2 ** 26 });
      const [packed = ''] = await readdir(folder);
      await rename(path.join(folder, packed), tarball);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
    await writeFile(stamp, hash);
  };
  await withLock(stamp, packOnce, AbortSignal.timeout(packSeconds * 1000));
  return tarball;
}
