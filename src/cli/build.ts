// `outrigger build`: one bundle for each function and one for the watcher, in dist/. With --cloudformation also the
// template and the packages of the functions, and with --chart a Helm chart.

import { execFile } from 'node:child_process';
import { access, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { Command } from 'commander';
import { type BuildOptions, build as bundle, type Plugin } from 'esbuild';
import * as z from 'zod';
import { forEachConcurrently } from '../core/async.ts';
import { UserError } from '../core/errors.ts';
import { clusterNames } from '../core/names.ts';
import { withLock } from '../dev/artifacts.ts';
import { ownModule } from '../dev/lambda/own-module.ts';
import { chartFolder, writeChart } from './chart.ts';
import { cloudFormationFolder, writeCloudFormation } from './cloudformation.ts';
import { printLines, runCommand } from './command.ts';
import { requireLoadable } from './load-bundles.ts';
import { fileExists, readProjectName } from './project.ts';

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
    await build(root, { check: requireLoadable, pack, signal });
    const folders = [
      'dist/',
      ...(cloudformation === true ? [`${cloudFormationFolder}/`] : []),
      ...(chart === true ? [`${chartFolder}/`] : []),
    ];
    printLines([`built ${folders.join(', ')}`]);
    return 0;
  } catch (error) {
    // The message names file, line and column; the bundler's stack adds nothing.
    if (error instanceof Error && ('errors' in error || error.message.startsWith('functions/')))
      throw new UserError(error.message, { cause: error });
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

/** Only needed by the functions of controllers that run commands (`exec`); the other functions never load it. */
const execPackage = 'ws';

/**
 * Replaces Node's `http` with a lighter module where it is imported. A `require` gets Node's own, which may be
 * modified.
 */
const lightHttp: Plugin = {
  name: 'light-http',
  setup: ({ onResolve }) => {
    onResolve({ filter: /^(node:)?http$/ }, ({ kind }) =>
      kind === 'import-statement' ? { path: ownModule(import.meta, '../lambda/node-http') } : undefined,
    );
  },
};

/**
 * Leaves out what a function never uses:
 * - Of the AWS clients' package.json all but the version, which is in their user agent.
 * - Of SQS the operations that no source imports, and the classes of errors but the one that a source names: any other
 *   is the base class, with the same name and message.
 * - zod's conversion to JSON schemas, which only `outrigger generate` calls.
 * - What the AWS clients have for browsers, for a Node without its own SHA-256, and for people who choose a region.
 */
const withoutUnused: Plugin = {
  name: 'without-unused',
  setup: ({ onLoad }) => {
    onLoad({ filter: /@aws-sdk[\\/]client-[^\\/]+[\\/]package\.json$/ }, async ({ path: file }) => {
      const { version } = JSON.parse(await readFile(file, 'utf8'));
      return { contents: JSON.stringify({ version }), loader: 'json' };
    });
    onLoad(
      { filter: /zod[\\/]v4[\\/]core[\\/](json-schema-processors|to-json-schema)\.js$/ },
      async ({ path: file }) => {
        const names = (await readFile(file, 'utf8')).matchAll(/^export (?:const|function) (\w+)/gm);
        // A schema makes its method at once, and calls it never.
        const exported = [...names].map(
          ([, name = '']) => `${/^create\w+Method$/.test(name) ? 'create' : 'unavailable'} as ${name}`,
        );
        const message = 'z.toJSONSchema is not in the bundle of a function; call it when the project is built';
        const unavailable = `const unavailable = () => { throw new Error('${message}'); };`;
        const contents = `${unavailable}const create = () => unavailable;export { ${exported} };`;
        return { contents, loader: 'js' };
      },
    );
    onLoad({ filter: /@aws-sdk[\\/]client-sqs[\\/]dist-es[\\/]schemas[\\/]schemas_0\.js$/ }, async ({ path: file }) => {
      const source = await readFile(file, 'utf8');
      const texts = new Map([...source.matchAll(/^const (\w+) = (".*");$/gm)].map(([, name, text]) => [name, text]));
      const contents = source
        .replaceAll(/^n0_registry\.registerError\((?!QueueDoesNotExist\$).*\);$/gm, '')
        // The bundler keeps an unused constant with a computed key.
        .replaceAll(/\[(_\w+)\]: /g, (key, name) => (texts.has(name) ? `${texts.get(name)}: ` : key));
      return { contents, loader: 'js' };
    });
    onLoad({ filter: /util-endpoints[\\/]lib[\\/]aws[\\/]partitions\.js$/ }, async ({ path: file }) => {
      const contents = (await readFile(file, 'utf8')).replaceAll(/"description": "[^"]*"/g, '');
      return { contents, loader: 'js' };
    });
    onLoad({ filter: /node_modules[\\/]bowser[\\/]/ }, () => ({ contents: 'export default {};', loader: 'js' }));
    onLoad({ filter: /@smithy[\\/]core[\\/].*[\\/]Sha256Js\.js$/ }, () => {
      const contents = "export class Sha256Js { constructor() { throw new Error('this Node has no SHA-256'); } }";
      return { contents, loader: 'js' };
    });
  },
};

const common = {
  bundle: true,
  minify: true,
  platform: 'node',
  format: 'esm',
  target: 'node24',
  // The modules of the AWS SDK instead of its CommonJS: smaller, and without a dynamic require.
  mainFields: ['module', 'main'],
  outExtension: { '.js': '.mjs' },
  // The source maps do not contain the sources: a stack needs only positions.
  sourcemap: 'linked',
  sourcesContent: false,
  inject: [ownModule(import.meta, '../lambda/source-stacks')],
  metafile: true,
  logLevel: 'error',
  // Some dependencies are CommonJS only.
  banner: {
    js: "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);",
  },
} satisfies BuildOptions;

type BundleOptions = {
  /** Receives the folder of the new bundles and the names of the functions. Bundles that it refuses replace none. */
  readonly check?: typeof requireLoadable;
  /** Runs before another build may replace the bundles. */
  readonly pack?: () => Promise<void>;
  readonly signal?: AbortSignal;
};

/**
 * Builds all bundles of a project. Throws esbuild's error, and an error for a function with a forbidden package. A lock
 * is held, because a running `outrigger dev` builds as well: of two builds at once each would delete what the other has
 * written.
 */
export async function build(
  root: string,
  { signal = new AbortController().signal, check, pack }: BundleOptions = {},
): Promise<void> {
  // The lock is a folder: none is made where there is no project.
  await access(path.join(root, 'functions'));
  const work = async () => {
    await makeBundles(root, check);
    await pack?.();
  };
  await withLock(path.join(root, '.outrigger/cache/build'), work, signal);
}

async function makeBundles(root: string, check: BundleOptions['check']): Promise<void> {
  const functions = (await readdir(path.join(root, 'functions'))).filter((file) => file.endsWith('.ts'));
  await rm(path.join(root, temporaryFolder), { recursive: true, force: true });
  const withExec = await controllersWithExec(root);
  const bundles = [
    ...functions.map((file) => async () => {
      const name = path.basename(file, '.ts');
      const { metafile } = await bundle({
        ...common,
        absWorkingDir: root,
        entryPoints: { index: path.join('functions', file) },
        outdir: path.join(temporaryFolder, name),
        external: withExec === undefined || withExec.has(name) ? [] : [execPackage],
        // Rarely used modules (the kubeconfig parser) become files of their own, loaded on first use.
        splitting: true,
        // A function's credentials are in its environment; the SDK's provider chain is a quarter of a bundle.
        alias: { '@aws-sdk/credential-provider-node': ownModule(import.meta, '../lambda/function-credentials') },
        plugins: [lightHttp, withoutUnused],
      });
      if (Object.keys(metafile.inputs).some((input) => input.includes(notInFunctions))) {
        throw new Error(`functions/${file} would contain ${notInFunctions}; functions parse kubeconfigs themselves`);
      }
    }),
    async () => {
      await bundle({
        ...common,
        absWorkingDir: root,
        entryPoints: { index: 'src/watcher/main.ts' },
        outdir: path.join(temporaryFolder, 'watcher'),
        splitting: true,
      });
    },
  ];
  // Each takes about 140 MB while it is made. All at once are no faster than one for each processor.
  await forEachConcurrently(availableParallelism(), bundles, async (make) => await make());
  await check?.(
    path.join(root, temporaryFolder),
    functions.map((file) => path.basename(file, '.ts')),
  );
  await moveBundles(path.join(root, temporaryFolder), path.join(root, 'dist'));
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
    await rename(path.join(from, name), path.join(to, name));
  }
  await rm(from, { recursive: true, force: true });
}

const execQuery = `
  import { registry } from './src/controllers/registry.ts';
  const withExec = registry.filter(({ declaration }) => declaration.exec !== undefined);
  process.stdout.write(JSON.stringify(withExec.map(({ name }) => name)));
`;

/**
 * Names the controllers that run commands; their functions have the same names. A new process loads the registry,
 * because the sources may have changed since this one started. Returns undefined if it cannot be loaded: the bundler's
 * error is more precise.
 */
async function controllersWithExec(root: string): Promise<ReadonlySet<string> | undefined> {
  try {
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', execQuery], {
      cwd: root,
    });
    return new Set(z.array(z.string()).parse(JSON.parse(stdout)));
  } catch {
    return undefined;
  }
}
