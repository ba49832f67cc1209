// Outrigger for one job, as a service of its own: a project folder with only that controller in its registry,
// generated, bundled and packaged as it would be deployed.
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { ControllerDefinition } from '../../src/api/definition.ts';
import { build } from '../../src/cli/build.ts';
import { generate } from '../../src/cli/generate.ts';
import { foo } from '../../src/controllers/foo.ts';
import { withLock } from '../../src/dev/artifacts.ts';
import { hashFiles } from '../../src/dev/hash-files.ts';
import { packagedTemplate } from '../../src/dev/packaged-template.ts';
import { exists } from '../../test/support/cached-folder.ts';
import { ping } from '../jobs/ping.ts';
import { slow } from '../jobs/slow.ts';
import type { Job } from '../peers/contestant.ts';

const repository = path.resolve(import.meta.dirname, '../..');
/** The files that every service takes from the repository. */
const shared = ['serverless.yml', 'package-lock.json', 'infra/aws'];
/** The inputs of a service; it is rebuilt when they change. */
const inputs = [...shared, 'src', 'bench/jobs', 'bench/ours/service.ts'];
const modules: Readonly<Record<Job, { readonly controller: ControllerDefinition; readonly file: string }>> = {
  foo: { controller: foo, file: 'src/controllers/foo.ts' },
  ping: { controller: ping, file: 'bench/jobs/ping.ts' },
  slow: { controller: slow, file: 'bench/jobs/slow.ts' },
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
    for (const place of shared) {
      const filter = (source: string) => !source.endsWith(`${path.sep}generated`);
      await cp(path.join(repository, place), path.join(root, place), { recursive: true, filter });
    }
    for (const [file, text] of sourcesOf(job, root)) {
      await mkdir(path.dirname(path.join(root, file)), { recursive: true });
      await writeFile(path.join(root, file), text);
    }
    await generate([modules[job].controller], root, { check: false });
    await build(root);
    await packagedTemplate(root, signal);
    await writeFile(stamp, hash);
  };
  await withLock(root, rebuild, signal);
}

/** The files that an author has in addition to the controller, a line or two each. */
function sourcesOf(job: Job, root: string): readonly (readonly [file: string, text: string])[] {
  const from = (file: string, folder: string) => path.relative(path.join(root, folder), path.join(repository, file));
  const registry = `import { ${job} } from '${from(modules[job].file, 'src/controllers')}';
export const registry = [${job}];
`;
  const watcher = `import watchList from '../../infra/kubernetes/generated/watch-list.json' with { type: 'json' };
import { runWatcher } from '${from('src/watcher.ts', 'src/watcher')}';
await runWatcher(watchList);
`;
  const handler = (made: string, file: string) =>
    `import { ${made} } from '${from(`src/lambda/${file}-handler.ts`, 'functions')}';\n`;
  const [controller, every] = [
    `import { ${job} } from '${from(modules[job].file, 'functions')}';\n`,
    "import { registry } from '../src/controllers/registry.ts';\n",
  ];
  const exported = (call: string) => `export const handler = ${call};\n`;
  return [
    ['src/controllers/registry.ts', registry],
    ['src/watcher/main.ts', watcher],
    [
      `functions/${job}.ts`,
      controller + handler('createReconcileHandler', 'reconcile') + exported(`createReconcileHandler(${job})`),
    ],
    ['functions/timers.ts', handler('createTimersHandler', 'timers') + exported('createTimersHandler()')],
    [
      'functions/resync.ts',
      every + handler('createResyncHandler', 'resync') + exported('createResyncHandler(registry)'),
    ],
  ];
}
