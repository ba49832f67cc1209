// Outrigger for one job, as a service of its own: a project folder with only that controller in its registry,
// bundled and packaged as it would be deployed.
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { build } from '@outrigger/cli/commands/build';
import { withLock } from '@outrigger/cli/dev/artifacts';
import { hashFiles } from '@outrigger/cli/dev/hash-files';
import { exists } from '../../test/support/cached-folder.ts';
import { packagedTemplate } from '../../tools/artifacts.ts';
import type { Job } from '../peers/contestant.ts';

const repository = path.resolve(import.meta.dirname, '../..');
/** The files that every service takes from the repository. */
const shared = ['serverless.yml', 'package-lock.json'];
/** The inputs of a service; it is rebuilt when they change. */
const inputs = [...shared, 'src', 'bench/jobs', 'bench/ours/service.ts'];
const modules: Readonly<Record<Job, string>> = {
  foo: 'src/controllers/foo.ts',
  ping: 'bench/jobs/ping.ts',
  slow: 'bench/jobs/slow.ts',
};

/** Returns the folder of a job's service, below the repository's `.outrigger`. */
export function serviceRoot(job: Job): string {
  return path.join(repository, '.outrigger', 'bench', job);
}

/** Builds the service of a job if its sources have changed. */
export async function makeService(job: Job, signal: AbortSignal): Promise<void> {
  const root = serviceRoot(job);
  await mkdir(root, { recursive: true });
  // The dependencies, and osls, which has a lock file of its own.
  for (const folder of ['node_modules', 'infra/node_modules']) {
    await mkdir(path.dirname(path.join(root, folder)), { recursive: true });
    if (!(await exists(path.join(root, folder)))) await symlink(path.join(repository, folder), path.join(root, folder));
  }
  const stamp = path.join(root, 'stamp');
  const rebuild = async () => {
    const hash = await hashFiles(repository, inputs);
    if ((await readFile(stamp, 'utf8').catch(() => '')) === hash) return;
    for (const file of shared) await cp(path.join(repository, file), path.join(root, file));
    // osls takes a plugin by a path within the service.
    const plugin = path.join(root, 'packages/cli/src/serverless/plugin.ts');
    await mkdir(path.dirname(plugin), { recursive: true });
    await writeFile(
      plugin,
      `export { default } from '${path.join(repository, 'packages/cli/src/serverless/plugin.ts')}';\n`,
    );
    const registry = path.join(root, 'src/controllers/registry.ts');
    await mkdir(path.dirname(registry), { recursive: true });
    const file = path.join(repository, modules[job]);
    await writeFile(
      registry,
      `import { ${job} } from '${file}';\nexport { ${job} };\nexport const registry = [${job}];\n`,
    );
    await build(root);
    await packagedTemplate(root, signal);
    await writeFile(stamp, hash);
  };
  await withLock(root, rebuild, signal);
}
