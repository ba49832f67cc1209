// The path of a module that is not imported, but passed to a new process or to the bundler. It is TypeScript in the
// repository, and JavaScript in the package.
import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import path from 'node:path';
import { promisify } from 'node:util';
import { toError, UserError } from 'outrigger/internal/core/errors';
import { isRecord } from 'outrigger/internal/core/json';

const extension = path.extname(import.meta.filename);
const isSource = extension === '.ts';
/** The conditions of exports by which the packages find each other's sources, in the repository. */
const sourceConditions = isSource ? ['outrigger-source'] : [];

/**
 * Returns the path of a module, relative to the caller and without its extension: `ownModule(import.meta,
 * '../exit-with-parent')`.
 */
export function ownModule({ dirname }: ImportMeta, relativePath: string): string {
  return path.join(dirname, `${relativePath}${extension}`);
}

/** The conditions of exports for a bundler. */
export const bundleConditions: readonly string[] = ['module', ...sourceConditions];

/** The arguments of Node for a process that finds our packages without the environment of npm. */
export const sourceArguments: readonly string[] = sourceConditions.map((one) => `--conditions=${one}`);

/** The folder of the package `outrigger`, absolute. In the repository it is the repository. */
export const runtimeRoot = path.dirname(createRequire(import.meta.url).resolve('outrigger/package.json'));

/** The folder of its modules. */
export const runtimeFolder = path.join(runtimeRoot, isSource ? 'src' : 'lib');

/** The samples of the repository, which are an author's. */
const samplesFolder = path.join(runtimeFolder, 'controllers');

const isBelow = (folder: string, file: string) => file.startsWith(`${folder}${path.sep}`);

/** Whether a file is a module of the package `outrigger`. */
export const isRuntime = (file: string): boolean => isBelow(runtimeFolder, file) && !isBelow(samplesFolder, file);

/** Whether a file is the project's own, and not of a package. */
export const isOwnSource = (file: string): boolean => !/[\\/]node_modules[\\/]/.test(file) && !isRuntime(file);

/** Returns the path of a module of the package: `runtimeModule('lambda/source-stacks')`. */
export function runtimeModule(name: string): string {
  return path.join(runtimeFolder, `${name}${extension}`);
}

const maxOutputBytes = 256 * 1024 * 1024;

/**
 * Runs a program of ours in a process of its own, and returns its output. Throws UserError with what the program wrote
 * about its error, and the signal's reason.
 */
export async function runOwn(
  argv: readonly string[],
  { cwd, signal }: { readonly cwd: string; readonly signal?: AbortSignal },
): Promise<string> {
  try {
    const options = { cwd, signal, maxBuffer: maxOutputBytes };
    return (await promisify(execFile)(process.execPath, [...sourceArguments, ...argv], options)).stdout;
  } catch (error) {
    signal?.throwIfAborted();
    const output = isRecord(error) && typeof error.stderr === 'string' ? error.stderr.trim() : '';
    throw new UserError(output === '' ? toError(error).message : output, { cause: error });
  }
}
