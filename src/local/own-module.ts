// Where a module of ours is that is not imported but handed on, to a process of its own or to the bundler: TypeScript in the
// repository, JavaScript beside the same files in the package.
import path from 'node:path';

/** Finds a module by its place, seen from the module that asks, without an ending: `ownModule(import.meta, '../dev/exit-with-parent')`. */
export function ownModule({ dirname, filename }: ImportMeta, place: string): string {
  return path.join(dirname, `${place}${path.extname(filename)}`);
}
