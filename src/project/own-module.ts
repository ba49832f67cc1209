// The path of a module that is not imported, but passed to a new process or to the bundler. It is TypeScript in the
// repository, and JavaScript in the package.
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
