// What is built from a project: the program of each function and of the watcher, and the manifests of a cluster. The
// bundler gets the programs as modules that are in no file. A file functions/NAME.ts of the author takes the place of
// one, or is a further function.
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { UserError } from 'outrigger/internal/core/errors';
import { resyncQueue, timersQueue, wakeFunction } from 'outrigger/internal/core/names';
import { generatedHints } from 'outrigger/internal/generate/definitions';
import { watchListOf } from 'outrigger/internal/generate/watch-list';
import * as z from 'zod';
import { checkStackLimits } from '../aws/limits.ts';
import { capitalized } from '../aws/names.ts';
import { checkResourceLimits } from '../aws/resource-limits.ts';
import { projectManifests, readManifestInput } from './manifests.ts';
import { ownModule, runOwn, runtimeModule } from './own-module.ts';
import { controllerSources } from './project.ts';

/** The folder of the author's own functions. */
const functionsFolder = 'functions';

const entriesShape = z.object({
  /** The programs by the names of their functions. */
  functions: z.record(z.string(), z.string()),
  watcher: z.string(),
  /** The functions that run commands in pods. */
  withExec: z.array(z.string()),
  /** The files of the folder of manifests, by name. */
  manifests: z.record(z.string(), z.string()),
  warnings: z.array(z.string()),
});
/** What is built from a project. */
export type Entries = z.infer<typeof entriesShape>;

/**
 * Makes the entries in a new process, because the sources may have changed since this one has loaded them. Throws
 * UserError with the text of the process.
 */
export async function freshEntries(root: string, signal: AbortSignal): Promise<Entries> {
  return entriesShape.parse(
    JSON.parse(await runOwn([ownModule(import.meta, './print-entries')], { cwd: root, signal })),
  );
}

/** Makes the entries of a project. Throws UserError, and SchemaError for an invalid registry. */
export async function entriesOf(root: string): Promise<Entries> {
  const input = await readManifestInput(root);
  const { registry, crdsOnly, project, namespaces } = input;
  const manifests = await projectManifests(root, input);
  const warnings = [...checkStackLimits(registry), ...generatedHints(registry, crdsOnly)];
  checkResourceLimits(registry);
  const own = await ownFunctions(root);
  const sources = await controllerSources(root, registry);
  const names = registry.map(({ name }) => name);
  const functions = new Map<string, string>();
  for (const name of names) {
    const source = sources.get(name);
    if (source !== undefined) functions.set(name, programOf('reconcile', source.statement, source.value));
    else if (!own.has(name))
      throw new UserError(
        `controller ${name}: no file of src/controllers exports it; export it there, or write ` +
          `${functionsFolder}/${name}.ts yourself`,
      );
  }
  const registered = names.flatMap((name) => sources.get(name) ?? []);
  const imports = [...new Set(registered.map(({ statement }) => statement))].join('\n');
  const list = `[${registered.map(({ value }) => value).join(', ')}]`;
  const options = namespaces === undefined ? '' : `, ${JSON.stringify({ namespaces })}`;
  functions.set(timersQueue, programOf('timers', '', JSON.stringify(names)));
  functions.set(resyncQueue, programOf('resync', imports, list + options));
  if (registry.some(({ declaration }) => declaration.wakes.length > 0))
    functions.set(wakeFunction, programOf('wake', imports, list));
  for (const [name, file] of own) functions.set(name, `export * from './${functionsFolder}/${file}';`);
  const run = JSON.stringify(runtimeModule('watcher/run'));
  const watchList = JSON.stringify(watchListOf(registry, project, namespaces));
  const withExec = registry.filter(({ declaration }) => declaration.exec !== undefined);
  return {
    functions: Object.fromEntries(functions),
    watcher: `import { runWatcher } from ${run};\nawait runWatcher(${watchList});`,
    withExec: withExec.map(({ name }) => name),
    manifests: Object.fromEntries(manifests),
    warnings,
  };
}

/** The functions of the author, by name. */
async function ownFunctions(root: string): Promise<ReadonlyMap<string, string>> {
  const files = await readdir(path.join(root, functionsFolder)).catch(() => []);
  const programs = files.filter((file) => /^[^.]+\.[cm]?ts$/.test(file)).toSorted();
  return new Map(programs.map((file) => [file.replace(/\.[cm]?ts$/, ''), file]));
}

/** The program of a function: its handler, with what it runs. */
function programOf(handler: 'reconcile' | 'timers' | 'resync' | 'wake', imports: string, argument: string): string {
  const create = `create${capitalized(handler)}Handler`;
  const file = JSON.stringify(runtimeModule(`lambda/${handler}-handler`));
  return `import { ${create} } from ${file};\n${imports}\nexport const handler = ${create}(${argument});\n`;
}
