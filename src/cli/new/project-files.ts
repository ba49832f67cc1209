// The files of a new project, for what the folder has already. Nothing is replaced: a file that every project needs and
// that is there with other content is a conflict; lists are extended; other files stay as they are. Pure, except for
// reading the package's own templates.
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { isRecord, parseJson } from '../../core/json.ts';
import { clusterNames, deploymentPrefix } from '../../core/names.ts';
import { registryFile, sharedFunctions } from '../../generate/functions.ts';
import { packageVersion } from '../package-version.ts';
import { packageRoot } from '../project.ts';
import { baseFile, formatBase } from './base-file.ts';
import type { ScriptNames } from './project-manifest.ts';

/** The same in every project, apart from its name; copied from the package's own folder. */
const copied = ['serverless.yml', 'infra/aws', 'infra/kubernetes'];
/** Specific to a project: made by `generate`, or by its author. */
const own = ['infra/aws/generated/', 'infra/kubernetes/generated/', 'infra/kubernetes/samples/'];
/** The folders with the project's TypeScript. */
const sourceFolders = ['functions', 'infra/aws', 'src/controllers', 'src/kinds', 'src/watcher', 'test/controllers'];

/** Where the tests of controllers are described if the folder has another test runner. */
export const vitestConfig = 'vitest.outrigger.config.mts';
const ownTsconfig = 'tsconfig.outrigger.json';

/** What the folder has. */
export type FolderContent = {
  readonly project: string;
  /** Whether .ts files are ES modules: `type` in package.json is `module`. */
  readonly isModule: boolean;
  /** Whether the folder has Jest, which would run the tests of controllers, too. */
  readonly hasJest: boolean;
  /** The author's tsconfig.json; undefined for none. */
  readonly tsconfig: string | undefined;
};

/** The commands of the scripts, for the files that a folder gets. */
export function scriptCommands({ tsconfig, hasJest }: Pick<FolderContent, 'tsconfig' | 'hasJest'>): ScriptNames {
  return {
    build: 'outrigger build',
    generate: 'outrigger generate',
    demo: 'outrigger dev --apply infra/kubernetes/samples',
    check: `tsc${tsconfig === undefined ? '' : ` -p ${ownTsconfig}`} && outrigger generate --check`,
    test: `vitest run${hasJest ? ` --config ${vitestConfig}` : ''}`,
  };
}

/** Returns the files that every project needs, as text by path. They are written, or are there with the same text. */
export async function requiredFiles(content: FolderContent): Promise<ReadonlyMap<string, string>> {
  const { project, isModule, hasJest, tsconfig } = content;
  const copies = await copiedTexts(project);
  const files = new Map(copies);
  files.set(baseFile, formatBase(packageVersion(), copies));
  files.set(registryFile, await template('registry.txt'));
  files.set('src/watcher/main.ts', await template('watcher.txt'));
  for (const [file, text] of sharedFunctions('package', [])) files.set(file, text);
  files.set(tsconfig === undefined ? 'tsconfig.json' : ownTsconfig, await ownCompilerOptions());
  if (hasJest) files.set(vitestConfig, await template('vitest.txt'));
  // In a folder of CommonJS the project's sources are ES modules by a package.json of their own.
  if (!isModule) for (const folder of sourceFolders) files.set(`${folder}/package.json`, '{ "type": "module" }\n');
  return files;
}

/** Returns the files that are copied from the package, as a project of this name has them. */
export async function copiedTexts(project: string): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>();
  for (const file of await copiedFiles()) {
    const text = await readFile(path.join(packageRoot, file), 'utf8');
    files.set(file, file.startsWith('infra/kubernetes/') ? renamed(text, project) : text);
  }
  return files;
}

/** Returns the files that a project gets if they are absent, as text by path. */
export async function optionalFiles(
  project: string,
  { names, workflow, folder }: { readonly names: ScriptNames; readonly workflow: string; readonly folder: string },
): Promise<ReadonlyMap<string, string>> {
  const filled = (text: string) =>
    Object.entries(names)
      .reduce((result, [what, name]) => result.replaceAll(`SCRIPT_${what.toUpperCase()}`, name), text)
      .replaceAll('PROJECT', project)
      .replaceAll('FOLDER', folder);
  return new Map([
    ['README.md', filled(await template('readme.txt'))],
    [workflow, filled(await template('workflow.txt'))],
  ]);
}

/** Adds the missing lines to a .gitignore. */
export async function mergedGitignore(theirs: string | undefined): Promise<string> {
  const ours = await template('gitignore.txt');
  if (theirs === undefined) return ours;
  const has = new Set(theirs.split('\n').map((line) => line.trim().replace(/^\/|\/$/g, '')));
  const missing = ours.split('\n').filter((line) => line !== '' && !has.has(line.replace(/\/$/, '')));
  if (missing.length === 0) return theirs;
  return `${theirs}${theirs === '' || theirs.endsWith('\n') ? '' : '\n'}${missing.join('\n')}\n`;
}

/**
 * Excludes the project's folders from the author's own compilation, which may be CommonJS. Returns undefined for a file
 * that is no plain JSON: its author has to exclude them.
 */
export function withoutProjectSources(tsconfig: string): string | undefined {
  const parsed = parseJson(tsconfig);
  if (!isRecord(parsed)) return undefined;
  // A list of files alone includes no folder.
  if (Array.isArray(parsed.files) && parsed.include === undefined) return tsconfig;
  const options = isRecord(parsed.compilerOptions) ? parsed.compilerOptions : {};
  const outDir = typeof options.outDir === 'string' ? [options.outDir] : [];
  // The default of tsc, which an exclude replaces.
  const before = Array.isArray(parsed.exclude) ? parsed.exclude : ['node_modules', ...outDir];
  const exclude = [...new Set([...before, ...sourceFolders, vitestConfig])];
  return formatJson({ ...parsed, exclude }, tsconfig);
}

/** Formats a document with the indentation of the text before; two spaces without one. */
export function formatJson(value: unknown, before = ''): string {
  const [, indent = '  '] = /^\{\r?\n([ \t]+)/.exec(before) ?? [];
  return `${JSON.stringify(value, undefined, indent)}\n`;
}

async function ownCompilerOptions(): Promise<string> {
  const parsed = parseJson(await readFile(path.join(packageRoot, 'tsconfig.json'), 'utf8'));
  const ours = isRecord(parsed) && isRecord(parsed.compilerOptions) ? parsed.compilerOptions : {};
  // The condition leads to the sources of our packages, in their repository.
  const { customConditions: _, ...compilerOptions } = ours;
  return `${JSON.stringify({ compilerOptions, include: sourceFolders }, undefined, 2)}\n`;
}

/** Gives the watcher's manifests the names of a project. */
function renamed(text: string, project: string): string {
  const names = clusterNames(project);
  return text
    .replaceAll(/outrigger-(dev|prod|<stage>)-/g, (_, stage: string) => deploymentPrefix(stage, project))
    .replaceAll('outrigger-system', names.namespace)
    .replaceAll('outrigger-watcher', names.watcher)
    .replaceAll('outrigger:resync', names.resyncIdentity)
    .replaceAll('outrigger:watcher', names.watcherIdentity)
    .replaceAll('ssm:/outrigger/', `ssm:/${project}/`)
    .replaceAll(/name: outrigger$/gm, `name: ${names.flowSchema}`);
}

async function copiedFiles(): Promise<readonly string[]> {
  const listed = copied.map(async (one) => {
    const folder = path.join(packageRoot, one);
    const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => undefined);
    if (entries === undefined) return [one];
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => path.relative(packageRoot, path.join(entry.parentPath, entry.name)));
  });
  return (await Promise.all(listed)).flat().filter((file) => !own.some((folder) => file.startsWith(folder)));
}

async function template(name: string): Promise<string> {
  return await readFile(path.join(packageRoot, 'src/cli/new/project-templates', name), 'utf8');
}
