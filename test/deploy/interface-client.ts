// AWS's own runtime interface client, which calls a handler in a nodejs24.x environment. Its npm package compiles an
// addon during installation, which takes minutes and a compiler, so it is installed once per machine, outside of the
// tree. `npm run test:deploy` runs it first; by hand: `node test/deploy/interface-client.ts`.
import { execFile } from 'node:child_process';
import { access, constants, copyFile, readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { cachedFolder, exists } from '../support/cached-folder.ts';
import { buildFromCommandLine } from '../support/go-tools.ts';

const run = promisify(execFile);
const pinned = path.join(import.meta.dirname, 'interface-client');
const files = ['package.json', 'package-lock.json'];
/** It takes two minutes on an idle machine. */
const installMilliseconds = 1_800_000;
/** The programs that compile the addon and its two libraries, and their Debian packages. */
const compilers = { cmake: 'cmake', make: 'make', 'c++': 'g++', tar: 'tar', xz: 'xz-utils' };

/**
 * Returns the path of the client's program, to be run with Node, and installs it first if this machine does not have
 * it. Progress goes to stderr. Throws with the packages to install if a compiler is missing.
 */
export async function interfaceClient(searchPath = process.env.PATH ?? ''): Promise<string> {
  const texts = await Promise.all(files.map((file) => readFile(path.join(pinned, file), 'utf8')));
  const inputs = [...texts, process.version, process.platform, process.arch];
  const folder = await cachedFolder({ name: 'interface-client', inputs }, async (unfinished) => {
    await requireCompilers(searchPath);
    process.stderr.write('Compiling the runtime interface client for the deploy tests (once; about two minutes).\n');
    for (const file of files) await copyFile(path.join(pinned, file), path.join(unfinished, file));
    await install(unfinished, searchPath);
  });
  return path.join(folder, 'node_modules/aws-lambda-ric/index.mjs');
}

/** Throws with the packages to install unless every compiler is on the search path. */
async function requireCompilers(searchPath: string): Promise<void> {
  const found = async (program: string): Promise<boolean> => {
    const places = searchPath.split(path.delimiter).map((folder) => path.join(folder, program));
    const looked = await Promise.allSettled(places.map((place) => access(place, constants.X_OK)));
    return looked.some(({ status }) => status === 'fulfilled');
  };
  const missing: string[] = [];
  for (const [program, debianPackage] of Object.entries(compilers)) {
    if (!(await found(program))) missing.push(debianPackage);
  }
  if (missing.length === 0) return;
  throw new Error(
    `The deploy tests compile AWS's runtime interface client and need: apt-get install ${missing.join(' ')}`,
  );
}

async function install(folder: string, searchPath: string): Promise<void> {
  const node = path.dirname(process.execPath);
  // Node's headers are next to it when it was installed by npm; otherwise node-gyp downloads them.
  const prefix = path.join(node, '..');
  const headers = (await exists(path.join(prefix, 'include/node/node_api.h'))) ? { npm_config_nodedir: prefix } : {};
  await run('npm', ['ci', '--no-audit', '--no-fund'], {
    cwd: folder,
    // This Node is first in PATH: npm and the compiler of addons use the first one.
    env: { ...process.env, PATH: `${node}${path.delimiter}${searchPath}`, ...headers },
    timeout: installMilliseconds,
    maxBuffer: 64 * 1024 * 1024,
  }).catch((error: unknown) => {
    const output = error instanceof Error && 'stderr' in error ? String(error.stderr).trim().slice(-2000) : '';
    throw new Error(`npm ci failed in ${pinned}: ${output}`, { cause: error });
  });
}

if (import.meta.main) await buildFromCommandLine(interfaceClient().then((program) => ({ program })));
