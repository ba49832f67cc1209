// `outrigger build`: one bundle for each function and one for the watcher, in dist/. With --cloudformation also the
// template and the packages of the functions, and with --chart a Helm chart.

import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { Command } from 'commander';
import { type BuildOptions, build as bundle, type Plugin } from 'esbuild';
import * as z from 'zod';
import { forEachConcurrently } from '../core/async.ts';
import { UserError } from '../core/errors.ts';
import { clusterNames, wakeFunction } from '../core/names.ts';
import { buildBundles, withLock } from '../dev/artifacts.ts';
import { moveFolder } from '../dev/move-folder.ts';
import { fleetWatcherStack } from '../generate/aws/fleet-watcher.ts';
import { freshEntries } from '../project/entries.ts';
import { manifestsFolder } from '../project/list-controllers.ts';
import { ownConditions, ownModule } from '../project/own-module.ts';
import { controllersFolder, fileExists, packageRoot, readProjectName, requireProject } from '../project/project.ts';
import { findAuthorFiles } from './bundle/author-files.ts';
import { places, requireWhole } from './bundle/files-rule.ts';
import { replacements } from './bundle/replacements.ts';
import { chartFolder, writeChart } from './chart.ts';
import { cloudFormationFolder, writeCloudFormation } from './cloudformation.ts';
import { printError, printLines, runCommand } from './command.ts';
import { requireLoadable } from './load-bundles.ts';

/** Makes the command. */
export function buildCommand(): Command {
  return new Command('build')
    .description('bundle every function and the watcher into dist/, and write the manifests of a cluster')
    .option('--cloudformation', `also write the template and the packages of the functions to ${cloudFormationFolder}/`)
    .option('--chart', `also write a Helm chart of kinds, roles and watcher to ${chartFolder}/`)
    .option('--if-stale', 'only if a source has changed since the last build')
    .option('--stage <name>', 'the stage of the template; dev by default')
    .option('--param <name=value>', 'a parameter of serverless.yml for the template; repeatable', repeated)
    .addHelpText('after', helpText)
    .action(
      async (flags: Flags) => await runCommand('build', async (signal) => await run(process.cwd(), flags, signal)),
    );
}

type Flags = {
  readonly cloudformation?: boolean;
  readonly chart?: boolean;
  readonly ifStale?: boolean;
  readonly stage?: string;
  readonly param?: readonly string[];
};

const repeated = (value: string, previous: readonly string[] = []): readonly string[] => [...previous, value];

const helpText = `
Example:
  outrigger build --chart
  outrigger build --cloudformation --stage prod --param MONITORING=lean

osls bundles by itself: npx osls deploy. Existing bundles stay until all new ones are built. Exit status: 0 when they are, 1 when a source does not compile, or
when a bundle cannot be loaded.`;

async function run(root: string, flags: Flags, signal: AbortSignal): Promise<number> {
  const { cloudformation, chart, ifStale, stage = 'dev', param = [] } = flags;
  const ofTemplate = (['stage', 'param'] as const).find((option) => flags[option] !== undefined);
  if (cloudformation !== true && ofTemplate !== undefined)
    throw new UserError(`--${ofTemplate} is for --cloudformation; add it`);
  try {
    if (ifStale === true) {
      await buildBundles(build, root, signal);
      return 0;
    }
    const pack = async () => {
      if (cloudformation === true)
        await writeCloudFormation(root, signal, ['--stage', stage, ...param.flatMap((one) => ['--param', one])]);
      if (chart === true)
        await writeChart(root, {
          name: clusterNames(await readProjectName(root)).watcher,
          version: await versionOf(root),
        });
    };
    const warnings = await build(root, { check: requireLoadable, pack, signal });
    for (const warning of warnings) printError(`outrigger build: warning: ${warning}`);
    const folders = [
      'dist/',
      ...(cloudformation === true ? [`${cloudFormationFolder}/`] : []),
      ...(chart === true ? [`${chartFolder}/`] : []),
    ];
    printLines([`built ${folders.join(', ')}`]);
    return 0;
  } catch (error) {
    // The message names file, line and column; the bundler's stack adds nothing.
    if (error instanceof Error && 'errors' in error) throw new UserError(error.message, { cause: error });
    throw error;
  }
}

/** The version of the project, which its chart has, too. */
async function versionOf(root: string): Promise<string> {
  const manifest: unknown = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8'));
  return z.object({ version: z.string().default('0.0.0') }).parse(manifest).version;
}

/**
 * Bundles are written here first: a build that fails leaves the old bundles, and no process loads half of a new one.
 */
const temporaryFolder = 'dist-new';

/** Must not be in a function: it would more than triple its size, and its informer is not the watcher's. */
const notInFunctions = '@kubernetes/client-node';

/** How modules are found. */
const resolution = {
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node24',
  // The modules of the AWS SDK instead of its CommonJS: smaller, and without a dynamic require.
  mainFields: ['module', 'main'],
  conditions: ownConditions(import.meta),
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
  inject: [ownModule(import.meta, '../lambda/source-stacks')],
  metafile: true,
  define: places.define,
  logOverride: places.logOverride,
  banner: { js: places.banner },
} satisfies BuildOptions;

type BundleOptions = {
  /** Receives the folder of the new bundles and the names of the functions. Bundles that it refuses replace none. */
  readonly check?: typeof requireLoadable;
  /** Runs before another build may replace the bundles. */
  readonly pack?: () => Promise<void>;
  readonly signal?: AbortSignal;
};

/**
 * Builds all bundles of a project. Returns warnings. Throws esbuild's error, and an error for a bundle that lacks
 * something. A lock is held, because a running `outrigger dev` builds as well: of two builds at once each would delete
 * what the other has written.
 */
export async function build(
  root: string,
  { signal = new AbortController().signal, check, pack }: BundleOptions = {},
): Promise<readonly string[]> {
  // The lock is a folder: none is made where there is no project.
  await requireProject(root);
  const work = async () => {
    const warnings = await makeBundles(root, signal, check);
    await pack?.();
    return warnings;
  };
  return await withLock(path.join(root, '.outrigger/cache/build'), work, signal);
}

async function makeBundles(
  root: string,
  signal: AbortSignal,
  check: BundleOptions['check'],
): Promise<readonly string[]> {
  const { functions, watcher, withExec, manifests, warnings: found } = await entriesWithPlaces(root, signal);
  await rm(path.join(root, temporaryFolder), { recursive: true, force: true });
  const names = Object.keys(functions);
  const programs = programsOf(root, { ...functions, watcher });
  const options = { ...resolution, plugins: [...resolution.plugins, programs] };
  const authorFiles = await findAuthorFiles(root, names.map(programName), options);
  const warnings = new Set(found);
  const target = (name: string) => path.join(temporaryFolder, name);
  const bundles = [
    ...names.map((name) => async () => {
      const author = authorFiles.get(programName(name));
      if (author === undefined) return;
      if (author.hasPackage(notInFunctions))
        throw new UserError(
          `the function ${name} would contain ${notInFunctions}; functions parse kubeconfigs themselves`,
        );
      const runsCommands = withExec.includes(name);
      const result = await bundle({
        ...common,
        absWorkingDir: root,
        entryPoints: { index: programName(name) },
        outdir: target(name),
        plugins: [...common.plugins, programs, replacements({ author, runsCommands })],
      });
      for (const warning of await requireWhole(root, result, author)) warnings.add(warning);
    }),
    async () => {
      const result = await bundle({
        ...common,
        absWorkingDir: root,
        entryPoints: { index: programName('watcher') },
        outdir: target('watcher'),
        plugins: [...common.plugins, programs],
      });
      await requireWhole(root, result, { has: () => false });
    },
  ];
  // Each takes about 140 MB while it is made. All at once are no faster than one for each processor.
  await forEachConcurrently(availableParallelism(), bundles, async (make) => await make());
  await cp(path.join(packageRoot, 'infra/kubernetes/Dockerfile'), path.join(root, target('watcher/Dockerfile')));
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

/** Makes the entries. For a source that does not compile, the bundler's error names line and column. */
async function entriesWithPlaces(root: string, signal: AbortSignal): ReturnType<typeof freshEntries> {
  try {
    return await freshEntries(root, signal);
  } catch (error) {
    if (signal.aborted) throw error;
    const files = await readdir(path.join(root, controllersFolder)).catch(() => []);
    const entryPoints = files.filter((file) => /\.[cm]?ts$/.test(file)).map((file) => `${controllersFolder}/${file}`);
    await bundle({ ...resolution, absWorkingDir: root, entryPoints, outdir: 'scan', write: false });
    throw error;
  }
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
    `${name} was renamed or removed: a deployment deletes its queue and its dead letters, and a finalizer of it ` +
    `blocks deletions until outrigger detach KIND --controller ${name} ` +
    '(docs/operating.md#rename-or-remove-a-controller)'
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
