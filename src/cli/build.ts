// `outrigger build`: one bundle for each function and one for the watcher, in dist/. With --cloudformation also the
// template and the packages of the functions, and with --chart a Helm chart.

import { execFile } from 'node:child_process';
import { access, mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { Command } from 'commander';
import { type BuildOptions, build as bundle } from 'esbuild';
import * as z from 'zod';
import { forEachConcurrently } from '../core/async.ts';
import { UserError } from '../core/errors.ts';
import { clusterNames } from '../core/names.ts';
import { withLock } from '../dev/artifacts.ts';
import { ownConditions, ownModule } from '../dev/lambda/own-module.ts';
import { moveFolder } from '../dev/move-folder.ts';
import { findAuthorFiles } from './bundle/author-files.ts';
import { places, requireWhole } from './bundle/files-rule.ts';
import { replacements } from './bundle/replacements.ts';
import { chartFolder, writeChart } from './chart.ts';
import { cloudFormationFolder, writeCloudFormation } from './cloudformation.ts';
import { printError, printLines, runCommand } from './command.ts';
import { requireLoadable } from './load-bundles.ts';
import { fileExists, readProjectName } from './project.ts';
import { secondZodError } from './zod-copies.ts';

/** Makes the command. */
export function buildCommand(): Command {
  return new Command('build')
    .description('bundle every function and the watcher into dist/')
    .option('--cloudformation', `also write the template and the packages of the functions to ${cloudFormationFolder}/`)
    .option('--chart', `also write a Helm chart of kinds, roles and watcher to ${chartFolder}/`)
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
  readonly stage?: string;
  readonly param?: readonly string[];
};

const repeated = (value: string, previous: readonly string[] = []): readonly string[] => [...previous, value];

const helpText = `
Example:
  outrigger build && npx osls deploy --stage dev
  outrigger build --cloudformation --stage prod --param MONITORING=lean

Existing bundles stay until all new ones are built. Exit status: 0 when they are, 1 when a source does not compile, or
when a bundle cannot be loaded.`;

async function run(root: string, flags: Flags, signal: AbortSignal): Promise<number> {
  const { cloudformation, chart, stage = 'dev', param = [] } = flags;
  const ofTemplate = (['stage', 'param'] as const).find((option) => flags[option] !== undefined);
  if (cloudformation !== true && ofTemplate !== undefined)
    throw new UserError(`--${ofTemplate} is for --cloudformation; add it`);
  try {
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
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT' && 'path' in error) {
      const missing = path.relative(root, String(error.path));
      const isGenerated = /^(functions|infra)\b/.test(missing);
      const advice = isGenerated ? '; run npm run generate in the folder of the project' : '';
      throw new UserError(`${missing}: not found${advice}`, { cause: error });
    }
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
  await access(path.join(root, 'functions'));
  const work = async () => {
    const warnings = await makeBundles(root, check);
    await pack?.();
    return warnings;
  };
  return await withLock(path.join(root, '.outrigger/cache/build'), work, signal);
}

async function makeBundles(root: string, check: BundleOptions['check']): Promise<readonly string[]> {
  const functions = (await readdir(path.join(root, 'functions'))).filter((file) => file.endsWith('.ts'));
  await rm(path.join(root, temporaryFolder), { recursive: true, force: true });
  const withExec = await controllersWithExec(root);
  const entries = functions.map((file) => `functions/${file}`);
  const authorFiles = await findAuthorFiles(root, entries, resolution);
  const warnings = new Set<string>();
  const bundles = [
    ...functions.map((file) => async () => {
      const author = authorFiles.get(`functions/${file}`);
      if (author === undefined) return;
      if (author.hasPackage(notInFunctions))
        throw new UserError(
          `functions/${file} would contain ${notInFunctions}; functions parse kubeconfigs themselves`,
        );
      const name = path.basename(file, '.ts');
      const runsCommands = withExec === undefined || withExec.has(name);
      const result = await bundle({
        ...common,
        absWorkingDir: root,
        entryPoints: { index: path.join('functions', file) },
        outdir: path.join(temporaryFolder, name),
        plugins: [...common.plugins, replacements({ author, runsCommands })],
      });
      for (const warning of await requireWhole(root, result, author)) warnings.add(warning);
    }),
    async () => {
      const result = await bundle({
        ...common,
        absWorkingDir: root,
        entryPoints: { index: 'src/watcher/main.ts' },
        outdir: path.join(temporaryFolder, 'watcher'),
      });
      await requireWhole(root, result, { has: () => false });
    },
  ];
  // Each takes about 140 MB while it is made. All at once are no faster than one for each processor.
  await forEachConcurrently(availableParallelism(), bundles, async (make) => await make());
  const names = functions.map((file) => path.basename(file, '.ts'));
  const isLoaded = await check?.(path.join(root, temporaryFolder), names);
  if (isLoaded === false) warnings.add('the bundles were not loaded, which needs Node 24');
  await moveBundles(path.join(root, temporaryFolder), path.join(root, 'dist'));
  return [...warnings].toSorted();
}

/** Replaces the bundles in a folder. What another tool has written there stays. */
async function moveBundles(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  for (const entry of await readdir(to, { withFileTypes: true })) {
    const folder = path.join(to, entry.name);
    const isBundle = entry.isDirectory() && (await fileExists(path.join(folder, 'index.mjs')));
    if (isBundle) await rm(folder, { recursive: true, force: true });
  }
  for (const name of await readdir(from)) {
    await rm(path.join(to, name), { recursive: true, force: true });
    await moveFolder(path.join(from, name), path.join(to, name));
  }
  await rm(from, { recursive: true, force: true });
}

const registryQuery = `
  import { registry } from './src/controllers/registry.ts';
  const { requireOneZod, ZodCopyError } = await import(process.argv[1]);
  const withExec = registry.filter(({ declaration }) => declaration.exec !== undefined).map(({ name }) => name);
  let secondZod;
  try { requireOneZod(registry); } catch (error) { if (error instanceof ZodCopyError) secondZod = error.message; }
  process.stdout.write(JSON.stringify({ withExec, secondZod }));
`;
const registryAnswer = z.object({
  withExec: z.array(z.string()),
  secondZod: z.string().optional(),
});

/**
 * Names the controllers that run commands; their functions have the same names. A new process loads the registry,
 * because the sources may have changed since this one started. Returns undefined if it cannot be loaded: the bundler's
 * error is more precise. Throws a UserError for a registry with a second zod.
 */
async function controllersWithExec(root: string): Promise<ReadonlySet<string> | undefined> {
  const check = pathToFileURL(ownModule(import.meta, '../generate/zod-copy')).href;
  const answer = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', registryQuery, check], {
    cwd: root,
  }).then(
    ({ stdout }) => registryAnswer.parse(JSON.parse(stdout)),
    () => undefined,
  );
  const secondZod = answer?.secondZod;
  if (secondZod !== undefined) throw await secondZodError(secondZod, root);
  return answer === undefined ? undefined : new Set(answer.withExec);
}
