// `outrigger build`: one bundle for each function and one for the watcher, in dist/. With --cloudformation also the
// template and the packages of the functions, and with --chart a Helm chart.

import path from 'node:path';
import { Command } from 'commander';
import { build as bundle } from 'esbuild';
import { UserError } from 'outrigger/internal/core/errors';
import { clusterNames } from 'outrigger/internal/core/names';
import { buildBundles, withLock } from '../dev/artifacts.ts';
import { oslsProgram } from '../dev/packaged-template.ts';
import { freshEntries } from '../project/entries.ts';
import {
  controllerFiles,
  controllersFolder,
  manifestVersion,
  readProjectName,
  requireProject,
} from '../project/project.ts';
import { makeBundles, resolution } from './bundle/make-bundles.ts';
import { chartFolder, writeChart } from './chart.ts';
import { cloudFormationFolder, writeCloudFormation } from './cloudformation.ts';
import { acting, printError, printLines } from './command.ts';
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
    .action(acting(run));
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

osls bundles by itself: npx osls deploy. Existing bundles stay until all new ones are built. Exit status: 0 when they
are, 1 when a source does not compile, or when a bundle cannot be loaded.`;

async function run(flags: Flags, signal: AbortSignal): Promise<number> {
  const root = process.cwd();
  const { cloudformation, chart, ifStale, stage = 'dev', param = [] } = flags;
  const ofTemplate = (['stage', 'param'] as const).find((option) => flags[option] !== undefined);
  if (cloudformation !== true && ofTemplate !== undefined)
    throw new UserError(`--${ofTemplate} is for --cloudformation; add it`);
  // Before everything is bundled in vain.
  if (cloudformation === true) oslsProgram(root);
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
          version: (await manifestVersion(root)) ?? '0.0.0',
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
    const warnings = await makeBundles(root, await entriesWithPlaces(root, signal), check);
    await pack?.();
    return warnings;
  };
  return await withLock(path.join(root, '.outrigger/cache/build'), work, signal);
}

/** Makes the entries. For a source that does not compile, the bundler's error names line and column. */
async function entriesWithPlaces(root: string, signal: AbortSignal): ReturnType<typeof freshEntries> {
  try {
    return await freshEntries(root, signal);
  } catch (error) {
    if (signal.aborted) throw error;
    const entryPoints = (await controllerFiles(root)).map((file) => `${controllersFolder}/${file}`);
    await bundle({ ...resolution, absWorkingDir: root, entryPoints, outdir: 'scan', write: false });
    throw error;
  }
}
