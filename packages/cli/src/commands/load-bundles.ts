// Loads the bundles as Lambda does, before they are deployed: in a folder of their own that has no node_modules above
// it, without the folder and the settings of the project. resync and wake contain the code of every controller. One
// that throws when it is loaded would stop the resync of all.
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { UserError } from 'outrigger/internal/core/errors';

/** The Node that bundles are for. An older one may not parse them. */
const bundleMajor = 24;
const loadSeconds = 60;

/** What Lambda sets in each function, but for credentials (AWS Lambda, "Defined runtime environment variables"). */
const lambdaEnvironment = {
  AWS_DEFAULT_REGION: 'us-east-1',
  AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
  AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '256',
  AWS_LAMBDA_FUNCTION_NAME: 'function',
  AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
  AWS_REGION: 'us-east-1',
  LANG: 'en_US.UTF-8',
  PATH: '/var/lang/bin:/usr/local/bin:/usr/bin/:/bin:/opt/bin',
  TZ: ':UTC',
};

/**
 * Prints the name and the error of the first bundle that cannot be loaded. Node finds all modules before it runs one,
 * so a graph that begins with a module that throws shows whether every import of a file is found, and runs nothing:
 * the files that are loaded on first use, and the watcher.
 */
const loadAll = `
  const [functions, files] = JSON.parse(process.argv[1]);
  const { pathToFileURL } = await import('node:url');
  const load = async (name, file) => {
    try {
      return await import(file);
    } catch (error) {
      if (error === globalThis.stop) return undefined;
      const [text] = String(error).split('\\n');
      const frame = String(error?.stack).split('\\n').slice(1).find((line) => line.includes('src/')) ?? '';
      process.stdout.write(name + ': ' + text + frame.replace(/^ +/, ' '));
      process.exit(1);
    }
  };
  globalThis.stop = new Error('stop');
  const source = (text) => 'data:text/javascript,' + encodeURIComponent(text);
  for (const [name, file] of files) {
    const imports = [source('throw globalThis.stop //' + file), pathToFileURL(file).href];
    await load(name, source(imports.map((url) => 'import ' + JSON.stringify(url)).join(';')));
  }
  for (const [name, file] of functions) {
    process.chdir(file.slice(0, -'/index.mjs'.length));
    await load(name, pathToFileURL(file).href);
  }
  process.exit(0);
`;

/**
 * Throws a UserError that names the first function whose bundle cannot be loaded. Returns false if this Node is too old
 * to load them.
 */
export async function requireLoadable(folder: string, names: readonly string[]): Promise<boolean> {
  if (Number.parseInt(process.versions.node, 10) < bundleMajor) return false;
  const task = await mkdtemp(path.join(tmpdir(), 'outrigger-task-'));
  try {
    await cp(folder, task, { recursive: true });
    await loadIn(task, names);
  } finally {
    await rm(task, { recursive: true, force: true });
  }
  return true;
}

async function loadIn(task: string, names: readonly string[]): Promise<void> {
  const nameOf = (bundle: string) => (bundle === 'watcher' ? 'the watcher' : `the function ${bundle}`);
  const files = (await readdir(task, { recursive: true }))
    .filter((file) => file.endsWith('.mjs'))
    .map((file) => [nameOf(path.dirname(file)), path.join(task, file)]);
  const functions = names.map((name) => [nameOf(name), path.join(task, name, 'index.mjs')]);
  const argv = ['--input-type=module', '-e', loadAll, JSON.stringify([functions, files])];
  // Only what is set here: no NODE_PATH, NODE_OPTIONS or HOME, by which Node finds more than Lambda's.
  const env = { ...lambdaEnvironment, LAMBDA_TASK_ROOT: task };
  const options = { cwd: task, env, timeout: loadSeconds * 1000 };
  await promisify(execFile)(process.execPath, argv, options).catch((error: Error & { readonly stdout?: string }) => {
    const problem = error.stdout ? error.stdout : error.message;
    throw new UserError(
      `${problem}; a function has neither the folder nor the settings of the project when it is loaded`,
    );
  });
}
