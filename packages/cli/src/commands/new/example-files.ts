// The files of an example of the package, for `outrigger new controller --example`. Its folder is laid out as a project
// is, so they are copied as they are: the controller, its sample, its test, and what these import.
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { UserError } from 'outrigger/internal/core/errors';
import { runtimeRoot } from '../../project/own-module.ts';
import { readTextFile } from '../../project/project.ts';
import { samplesFolder } from './controller-files.ts';

const examplesFolder = path.join(runtimeRoot, 'examples');
/** What each project has. */
const known = /^(?:outrigger|zod|vitest|node:)/;
const imports = /from '([^']+)'/g;

/** The files as text by path, and the packages that they need beside those of each project. */
export type ExampleFiles = { readonly files: ReadonlyMap<string, string>; readonly packages: readonly string[] };

/** Reads an example. Throws UserError with the names of all examples for an unknown one. */
export async function exampleFiles(name: string): Promise<ExampleFiles> {
  const samples = await readdir(path.join(examplesFolder, samplesFolder));
  const names = samples.map((file) => path.basename(file, '.yaml')).toSorted();
  if (!names.includes(name))
    throw new UserError(`there is no example ${JSON.stringify(name)}; the examples are ${names.join(', ')}`);
  const files = new Map<string, string>();
  const packages = new Set<string>();
  const open = [`src/controllers/${name}.ts`, `test/controllers/${name}.test.ts`, `${samplesFolder}/${name}.yaml`];
  for (const file of open) {
    if (files.has(file)) continue;
    const text = (await readTextFile(path.join(examplesFolder, file))) ?? '';
    files.set(file, text);
    for (const [, target = ''] of file.endsWith('.ts') ? text.matchAll(imports) : []) {
      if (target.startsWith('.')) open.push(path.posix.join(path.posix.dirname(file), target));
      else if (!known.test(target)) packages.add(target);
    }
  }
  return { files, packages: [...packages] };
}
