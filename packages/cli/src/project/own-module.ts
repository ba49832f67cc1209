// The path of a module that is not imported, but passed to a new process or to the bundler. It is TypeScript in the
// repository, and JavaScript in the package.
import { createRequire } from 'node:module';
import path from 'node:path';

/**
 * Returns the path of a module, relative to the caller and without its extension: `ownModule(import.meta,
 * '../exit-with-parent')`.
 */
export function ownModule({ dirname, filename }: ImportMeta, relativePath: string): string {
  return path.join(dirname, `${relativePath}${path.extname(filename)}`);
}

/** Returns the conditions of exports for a bundler, by which it finds the sources of the packages in the repository. */
export function ownConditions({ filename }: ImportMeta): string[] {
  return path.extname(filename) === '.ts' ? ['module', 'outrigger-source'] : ['module'];
}

/** The folder of the package `outrigger`, absolute. In the repository it is the repository. */
export const runtimeRoot = path.dirname(createRequire(import.meta.url).resolve('outrigger/package.json'));

/** The folder of its modules. */
export const runtimeFolder = path.join(runtimeRoot, path.extname(import.meta.filename) === '.ts' ? 'src' : 'lib');

/** Returns the path of one of them: `runtimeModule('lambda/source-stacks')`. */
export function runtimeModule(name: string): string {
  return path.join(runtimeFolder, `${name}${path.extname(import.meta.filename)}`);
}

/** The arguments of Node for a process without our environment, which finds our packages' sources in the repository. */
export const sourceArguments: readonly string[] =
  path.extname(import.meta.filename) === '.ts' ? ['--conditions=outrigger-source'] : [];
