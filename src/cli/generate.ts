// `outrigger generate`: writes every file that follows from the registry, or with --check lists the files that are out
// of date.

import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { Command } from 'commander';
import type { AnyCustomKind } from '../api/custom-kind.ts';
import type { ControllerDefinition } from '../api/definition.ts';
import { SchemaError, UserError } from '../core/errors.ts';
import { wakeFunction } from '../core/names.ts';
import { errorCode } from '../dev/explain-error.ts';
import { removeFile } from '../dev/replace-file.ts';
import { readTextFile, writeTextFile } from '../dev/text-file.ts';
import { checkStackLimits } from '../generate/aws/limits.ts';
import { checkResourceLimits } from '../generate/aws/resource-limits.ts';
import { generatedFiles, generatedFolders, generatedHints } from '../generate/files.ts';
import {
  controllerFunction,
  functionFile,
  functionsFolder,
  isGeneratedFunction,
  registryFile,
  sharedFunctions,
} from '../generate/functions.ts';
import { ZodCopyError } from '../generate/zod-copy.ts';
import { printError, printLines } from './command.ts';
import { findControllerModules } from './controller-modules.ts';
import { handlerSourceOf, loadProject, readNamespaces, readProjectName } from './project.ts';
import { secondZodError } from './zod-copies.ts';

/** Makes the command. */
export function generateCommand(): Command {
  return new Command('generate')
    .description('write functions, CRDs, RBAC, the watch list and the AWS resources from the registry')
    .option('--check', 'write nothing; fail when a file is stale, missing or left over')
    .addHelpText('after', helpText)
    .action(async ({ check = false }: { readonly check?: boolean }) => {
      try {
        const { registry, crdsOnly } = await loadProject(process.cwd());
        const warnings = checkStackLimits(registry);
        checkResourceLimits(registry);
        const differences = await generate(registry, process.cwd(), { check, kinds: crdsOnly });
        for (const warning of warnings) printError(`warning: ${warning}`);
        for (const hint of generatedHints(registry, crdsOnly)) printError(`hint: ${hint}`);
        for (const hint of removalHints(differences)) printError(`hint: ${hint}`);
        for (const { file, what } of differences) printLines([`${check ? what : done[what]}: ${file}`]);
        if (!check || differences.length === 0) return;
        printError(`${differences.length} generated files are out of date; run npm run generate`);
      } catch (error) {
        if (!(error instanceof SchemaError || error instanceof UserError)) throw error;
        printError(`outrigger generate: ${error.message}`);
      }
      process.exitCode = 1;
    });
}

const helpText = `
Examples:
  outrigger generate             after every change of a schema, or of what a controller owns, reads, watches or needs
  outrigger generate --check     in CI

It writes infra/kubernetes/generated, infra/aws/generated and the functions (functions/<controller>.ts, timers.ts,
resync.ts). All of them are committed. A function without the generated header is your own, and stays as it is.
Exit status: 0 when every file is up to date, or has been written; 1 when a file is out of date, or cannot be generated.
The error then names the path of the field. More controllers than one stack can hold are an error, too; from 80 % of a
limit of AWS there is a warning.`;

/** A generated file that does not follow from the registry. */
export type Difference = { readonly file: string; readonly what: 'stale' | 'missing' | 'left over' };

/** What `generate` did about a difference, as it is printed. */
export const done = { stale: 'updated', missing: 'created', 'left over': 'deleted' } as const;

/** Says of each controller whose function is left over what it leaves in the clusters. */
export function removalHints(differences: readonly Difference[]): readonly string[] {
  return differences.flatMap(({ file, what }) => {
    const name = path.basename(file, '.ts');
    if (what !== 'left over' || file !== functionFile(name) || name === wakeFunction) return [];
    return [
      `${name} was renamed or removed: a deployment deletes its queue and its dead letters, and a finalizer of it ` +
        `blocks deletions until outrigger detach KIND --controller ${name} ` +
        '(docs/operating.md#rename-or-remove-a-controller)',
    ];
  });
}

/**
 * Brings the generated files below a root up to date, or with `check` only lists the differences. Throws SchemaError,
 * and UserError for a controller whose function cannot import it.
 */
export async function generate(
  controllers: readonly ControllerDefinition[],
  root: string,
  { check, kinds = [] }: { readonly check: boolean; readonly kinds?: readonly AnyCustomKind[] },
): Promise<readonly Difference[]> {
  const namespaces = await readNamespaces(root);
  const project = await readProjectName(root);
  const files = await withCopies(root, () => generatedFiles(controllers, kinds, project, namespaces));
  const present = await functionsBelow(root);
  const wanted = new Map([...files, ...(await wantedFunctions(controllers, root, { present, namespaces }))]);
  const differences: Difference[] = [];
  for (const [file, text] of wanted) {
    const before = await readTextFile(path.join(root, file));
    if (before === text) continue;
    differences.push({ file, what: before === undefined ? 'missing' : 'stale' });
    if (check) continue;
    await writeTextFile(path.join(root, file), text, root);
  }
  const inFolders = await Promise.all(generatedFolders.map((folder) => filesOf(root, folder)));
  for (const file of [...inFolders.flat(), ...present.generated].filter((one) => !wanted.has(one))) {
    differences.push({ file, what: 'left over' });
    if (!check) await removeFile(path.join(root, file), { within: root });
  }
  return differences;
}

/** Calls a function, whose error about a second zod then names every copy. */
async function withCopies<T>(root: string, make: () => T): Promise<T> {
  try {
    return make();
  } catch (error) {
    throw error instanceof ZodCopyError ? await secondZodError(error.message, root) : error;
  }
}

/** The functions of a project that exist: those that `generate` wrote, and those of the author. */
type PresentFunctions = { readonly generated: ReadonlySet<string>; readonly own: ReadonlySet<string> };

async function functionsBelow(root: string): Promise<PresentFunctions> {
  const files = (await filesOf(root, functionsFolder)).filter((file) => file.endsWith('.ts'));
  const isGenerated = new Map<string, boolean>();
  for (const file of files)
    isGenerated.set(file, isGeneratedFunction((await readTextFile(path.join(root, file))) ?? ''));
  const select = (wanted: boolean) => new Set(files.filter((file) => isGenerated.get(file) === wanted));
  return { generated: select(true), own: select(false) };
}

/** Makes every function but the author's own, as text by path. */
async function wantedFunctions(
  controllers: readonly ControllerDefinition[],
  root: string,
  {
    present: { own },
    namespaces,
  }: { readonly present: PresentFunctions; readonly namespaces: readonly string[] | undefined },
): Promise<ReadonlyMap<string, string>> {
  const source = await handlerSourceOf(root);
  const modules = await findControllerModules(root, controllers);
  const wanted = new Map([...sharedFunctions(source, controllers, namespaces)].filter(([file]) => !own.has(file)));
  for (const { name } of controllers) {
    const file = functionFile(name);
    if (own.has(file)) continue;
    const module = modules.find(({ controller }) => controller === name);
    if (module === undefined) {
      throw new UserError(
        `${file} cannot be generated: ${registryFile} imports controller ${name} from no file that exports it; ` +
          'export it there, or write the function yourself',
      );
    }
    wanted.set(file, controllerFunction(module, source));
  }
  return wanted;
}

async function filesOf(root: string, folder: string): Promise<readonly string[]> {
  const entries = await readdir(path.join(root, folder), { withFileTypes: true }).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  });
  return entries.filter((entry) => entry.isFile()).map(({ name }) => `${folder}/${name}`);
}
