// `outrigger build`: one bundle for each function and one for the watcher, in dist/.
import { execFile } from 'node:child_process';
import { readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { Command } from 'commander';
import { type BuildOptions, build as bundle, type Plugin } from 'esbuild';
import * as z from 'zod';
import { ownModule } from '../local/own-module.ts';
import { OperatorProblem, operate } from './operate.ts';

/** Makes the command. */
export function buildCommand(): Command {
  return new Command('build')
    .description('bundle every function and the watcher into dist/')
    .addHelpText('after', helpText)
    .action(async () => await operate('build', async () => await run(process.cwd())));
}

const helpText = `
Example:
  outrigger build && npx osls deploy --stage dev

Bundles that are there stay until all new ones are made. Exit status: 0 when they are, 1 when a source does not compile.`;

async function run(root: string): Promise<number> {
  try {
    await build(root);
    return 0;
  } catch (error) {
    // Its lines name file, line and column; a stack of the bundler's says nothing.
    if (error instanceof Error && ('errors' in error || error.message.startsWith('functions/')))
      throw new OperatorProblem(error.message, { cause: error });
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT')
      throw new OperatorProblem('there is no functions folder here; run it in the folder of the project', {
        cause: error,
      });
    throw error;
  }
}

/** Bundles are made here first: a build that fails leaves the old ones, and nobody loads half of a new one. */
const beside = 'dist-new';

/** What must not be in a function: it would more than triple its size, and its informer is not ours. */
const notInFunctions = '@kubernetes/client-node';

/** What only a function needs whose controller runs commands; in the others nothing ever asks for it. (The watcher's client-node has it at once.) */
const forCommands = 'ws';

/** Puts our module in the place of Node's where it is imported. Whoever requires it gets Node's own, and may change that. */
const lightHttp: Plugin = {
  name: 'light-http',
  setup: ({ onResolve }) => {
    onResolve({ filter: /^(node:)?http$/ }, ({ kind }) =>
      kind === 'import-statement' ? { path: ownModule(import.meta, '../lambda/node-http') } : undefined,
    );
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
  sourcemap: 'linked',
  metafile: true,
  logLevel: 'error',
  // Some dependencies are CommonJS only.
  banner: {
    js: "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);",
  },
} satisfies BuildOptions;

/** Builds everything below the root. Throws with esbuild's own words, and when a function holds what it must not. */
export async function build(root: string): Promise<void> {
  const functions = (await readdir(path.join(root, 'functions'))).filter((file) => file.endsWith('.ts'));
  await rm(path.join(root, beside), { recursive: true, force: true });
  const executing = await executingControllers(root);
  // All of them end before this does, so that nothing is still being written when one has failed.
  const bundles = await Promise.allSettled([
    ...functions.map(async (file) => {
      const name = path.basename(file, '.ts');
      const { metafile } = await bundle({
        ...common,
        absWorkingDir: root,
        entryPoints: { index: path.join('functions', file) },
        outdir: path.join(beside, name),
        external: executing === undefined || executing.has(name) ? [] : [forCommands],
        // What is seldom needed (a kubeconfig's parser) is a file of its own, loaded when it is.
        splitting: true,
        // A function's credentials are in its environment; the chain that looks elsewhere is a quarter of a bundle.
        alias: { '@aws-sdk/credential-provider-node': ownModule(import.meta, '../lambda/function-credentials') },
        plugins: [lightHttp],
      });
      if (Object.keys(metafile.inputs).some((input) => input.includes(notInFunctions))) {
        throw new Error(`functions/${file} would hold ${notInFunctions}; functions parse kubeconfigs themselves`);
      }
    }),
    bundle({
      ...common,
      absWorkingDir: root,
      entryPoints: { index: 'src/watcher/main.ts' },
      outdir: path.join(beside, 'watcher'),
      splitting: true,
    }),
  ]);
  for (const made of bundles) if (made.status === 'rejected') throw made.reason;
  await rm(path.join(root, 'dist'), { recursive: true, force: true });
  await rename(path.join(root, beside), path.join(root, 'dist'));
}

const question = `
  import { registry } from './src/controllers/registry.ts';
  process.stdout.write(JSON.stringify(registry.filter(({ declares }) => declares.exec !== undefined).map(({ name }) => name)));
`;

/**
 * Names the controllers that run commands; functions are named after them. Asks a process of its own, because the sources
 * may have changed since this one began. Undefined where there is no answer: what is wrong with the sources, the bundler
 * says better.
 */
async function executingControllers(root: string): Promise<ReadonlySet<string> | undefined> {
  try {
    const asked = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', question], { cwd: root });
    return new Set(z.array(z.string()).parse(JSON.parse(asked.stdout)));
  } catch {
    return undefined;
  }
}
