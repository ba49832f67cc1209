// The bundles of a project: one for each program, in dist/, with the manifests beside them.
import { cp, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { type BuildOptions, build as bundle, type Plugin } from 'esbuild';
import { forEachConcurrently } from 'outrigger/internal/core/async';
import { UserError } from 'outrigger/internal/core/errors';
import { wakeFunction } from 'outrigger/internal/core/names';
import { fleetWatcherStack } from '../../aws/fleet-watcher.ts';
import { moveFolder } from '../../dev/move-folder.ts';
import type { Entries } from '../../project/entries.ts';
import { manifestsFolder } from '../../project/list-controllers.ts';
import { bundleConditions, runtimeModule, runtimeRoot } from '../../project/own-module.ts';
import { fileExists, readProjectName } from '../../project/project.ts';
import type { requireLoadable } from '../load-bundles.ts';
import { findAuthorFiles } from './author-files.ts';
import { places, requireWhole } from './files-rule.ts';
import { replacements } from './replacements.ts';

/**
 * Bundles are written here first: a build that fails leaves the old bundles, and no process loads half of a new one.
 */
const temporaryFolder = 'dist-new';

/** Must not be in a function: it would more than triple its size, and its informer is not the watcher's. */
const notInFunctions = '@kubernetes/client-node';

/** How modules are found. */
export const resolution = {
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node24',
  // The modules of the AWS SDK instead of its CommonJS: smaller, and without a dynamic require.
  mainFields: ['module', 'main'],
  conditions: [...bundleConditions],
  plugins: [places.plugin],
  logLevel: 'error',
} satisfies BuildOptions;

const common = {
  ...resolution,
  minify: true,
  // Rarely used modules (the kubeconfig parser) become files of their own, loaded on first use.
  splitting: true,
  outExtension: { '.js': '.mjs' },
  // The source maps do not contain the sources: a stack needs only positions.
  sourcemap: 'linked',
  sourcesContent: false,
  inject: [runtimeModule('lambda/source-stacks')],
  metafile: true,
  define: places.define,
  logOverride: places.logOverride,
  banner: { js: places.banner },
} satisfies BuildOptions;

/**
 * Makes the bundles, and puts them in the place of the old ones. `check` receives the folder of the new bundles and the
 * names of the functions: bundles that it refuses replace none. Returns warnings. Throws esbuild's error, and UserError
 * for a bundle that lacks something.
 */
export async function makeBundles(
  root: string,
  { functions, watcher, withExec, manifests, warnings: found }: Entries,
  check?: typeof requireLoadable,
): Promise<readonly string[]> {
  await rm(path.join(root, temporaryFolder), { recursive: true, force: true });
  const names = Object.keys(functions);
  const programs = programsOf(root, { ...functions, watcher });
  const options = { ...resolution, plugins: [...resolution.plugins, programs] };
  const authorFiles = await findAuthorFiles(root, names.map(programName), options);
  const warnings = new Set(found);
  const target = (name: string) => path.join(temporaryFolder, name);
  const makeBundle = async (of: Pick<BuildOptions, 'entryPoints' | 'outdir' | 'plugins'>) => {
    const result = await bundle({ ...common, ...of, absWorkingDir: root });
    for (const output of Object.keys(result.metafile.outputs).filter((file) => file.endsWith('.mjs')))
      await places.trim(path.join(root, output));
    return result;
  };
  const bundles = [
    ...names.map((name) => async () => {
      const author = authorFiles.get(programName(name));
      if (author === undefined) return;
      if (author.hasPackage(notInFunctions))
        throw new UserError(
          `the function ${name} would contain ${notInFunctions}; functions parse kubeconfigs themselves`,
        );
      const runsCommands = withExec.includes(name);
      const result = await makeBundle({
        entryPoints: { index: programName(name) },
        outdir: target(name),
        plugins: [...common.plugins, programs, replacements({ author, runsCommands })],
      });
      for (const warning of await requireWhole(root, result, author)) warnings.add(warning);
    }),
    async () => {
      const result = await makeBundle({
        entryPoints: { index: programName('watcher') },
        outdir: target('watcher'),
        plugins: [...common.plugins, programs],
      });
      await requireWhole(root, result, { has: () => false });
    },
  ];
  // Each takes about 140 MB while it is made. All at once are no faster than one for each processor.
  await forEachConcurrently(availableParallelism(), bundles, async (make) => await make());
  await cp(path.join(runtimeRoot, 'infra/kubernetes/Dockerfile'), path.join(root, target('watcher/Dockerfile')));
  const folder = path.join(root, target(path.basename(manifestsFolder)));
  await mkdir(folder);
  for (const [name, text] of Object.entries(manifests)) await writeFile(path.join(folder, name), text);
  const stack = `${JSON.stringify(fleetWatcherStack(await readProjectName(root)), undefined, 2)}\n`;
  await writeFile(path.join(root, target('fleet-watcher.json')), stack);
  const isLoaded = await check?.(path.join(root, temporaryFolder), names);
  if (isLoaded === false) warnings.add('the bundles were not loaded, which needs Node 24');
  for (const name of await moveBundles(path.join(root, temporaryFolder), path.join(root, 'dist')))
    warnings.add(removalHint(name));
  return [...warnings].toSorted();
}

/** The name of a program for the bundler. */
const programName = (name: string): string => `outrigger:${name}`;

/** Gives the bundler the programs, which are in no file. */
function programsOf(root: string, sources: Readonly<Record<string, string>>): Plugin {
  return {
    name: 'programs',
    setup: ({ onResolve, onLoad }) => {
      onResolve({ filter: /^outrigger:/ }, ({ path: name }) => ({
        path: name.slice(programName('').length),
        namespace: 'outrigger',
      }));
      onLoad({ filter: /.*/, namespace: 'outrigger' }, ({ path: name }) => ({
        contents: sources[name] ?? '',
        loader: 'ts',
        resolveDir: root,
      }));
    },
  };
}

/** What a controller that was renamed or removed leaves in the clusters. */
function removalHint(name: string): string {
  return (
    `${name} was renamed or removed: a deployment deletes its queue and dead letters, and its finalizer blocks ` +
    `deletions; run outrigger detach KIND --controller ${name} --stage STAGE (docs/run/rename-or-remove.md)`
  );
}

/** Replaces the bundles in a folder. What another tool has written there stays. Returns those that are gone. */
async function moveBundles(from: string, to: string): Promise<readonly string[]> {
  await mkdir(to, { recursive: true });
  const made = await readdir(from);
  const gone: string[] = [];
  for (const entry of await readdir(to, { withFileTypes: true })) {
    const folder = path.join(to, entry.name);
    const isBundle = entry.isDirectory() && (await fileExists(path.join(folder, 'index.mjs')));
    if (!isBundle) continue;
    if (!made.includes(entry.name) && entry.name !== wakeFunction) gone.push(entry.name);
    await rm(folder, { recursive: true, force: true });
  }
  for (const name of made) {
    await rm(path.join(to, name), { recursive: true, force: true });
    await moveFolder(path.join(from, name), path.join(to, name));
  }
  await rm(from, { recursive: true, force: true });
  return gone;
}
