// Which module exports a controller: a controller's function imports it from there. The registry holds values only, so
// its imports are followed, and the export that is the same object as the controller is taken.

import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ControllerDefinition } from '../api/definition.ts';
import { isRecord } from '../core/json.ts';
import { readTextFile } from '../dev/text-file.ts';
import { type ControllerModule, functionsFolder, registryFile } from '../generate/functions.ts';

/** Finds the modules of a project's controllers. A controller that no module exports is left out. */
export async function findControllerModules(
  root: string,
  controllers: readonly ControllerDefinition[],
): Promise<readonly ControllerModule[]> {
  if (controllers.length === 0) return [];
  const exported: { value: unknown; specifier: string; exportName: string }[] = [];
  for (const file of await importedFiles(root)) {
    const loaded: unknown = await import(pathToFileURL(path.join(root, file)).href);
    if (!isRecord(loaded)) continue;
    const specifier = path.posix.relative(functionsFolder, file);
    for (const [exportName, value] of Object.entries(loaded)) exported.push({ value, specifier, exportName });
  }
  return controllers.flatMap((controller) => {
    const found = exported.find(({ value }) => value === controller);
    if (found === undefined) return [];
    return [{ controller: controller.name, specifier: found.specifier, exportName: found.exportName }];
  });
}

/** Lists the files that the registry imports, and the registry itself, by their paths in the project. */
async function importedFiles(root: string): Promise<readonly string[]> {
  const text = (await readTextFile(path.join(root, registryFile))) ?? '';
  const imports = text.matchAll(/^(?:import|export)\s(?!type\s)[^;'"]*?\sfrom\s+(['"])(\.{1,2}\/[^'"]+)\1/gm);
  const files = [...imports].map(([, , specifier = '']) =>
    path.posix.join(path.posix.dirname(registryFile), specifier),
  );
  return text === '' ? [] : [...new Set([...files, registryFile])];
}
