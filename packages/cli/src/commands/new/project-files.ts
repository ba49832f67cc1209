// The files of a new project, for what the folder has already. Nothing is replaced: a file that every project needs and
// that is there with other content is a conflict; lists are extended; other files stay as they are. Pure, except for
// reading the package's own templates.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { isRecord, parseJson } from 'outrigger/internal/core/json';
import { packageRoot } from '../../project/project.ts';
import { samplesFolder } from './controller-files.ts';
import type { ScriptNames } from './project-manifest.ts';

/** The folders with the project's TypeScript. */
export const sourceFolders = ['functions', 'src/controllers', 'src/kinds', 'test/controllers'];

/** Where the tests of controllers are described if the folder has another test runner. */
export const vitestConfig = 'vitest.outrigger.config.mts';
const ownTsconfig = 'tsconfig.outrigger.json';

/** What the folder has. */
export type FolderContent = {
  readonly project: string;
  /** Whether .ts files are ES modules: `type` in package.json is `module`, or nothing depends on it. */
  readonly isModule: boolean;
  /** Whether the folder has Jest, which would run the tests of controllers, too. */
  readonly hasJest: boolean;
  /** The author's tsconfig.json; undefined for none. */
  readonly tsconfig: string | undefined;
};

/** The commands of the scripts, for the files that a folder gets. */
export function scriptCommands({ tsconfig, hasJest }: Pick<FolderContent, 'tsconfig' | 'hasJest'>): ScriptNames {
  return {
    check: `tsc${tsconfig === undefined ? '' : ` -p ${ownTsconfig}`}`,
    test: `vitest run${hasJest ? ` --config ${vitestConfig}` : ''}`,
    demo: `outrigger dev --apply ${samplesFolder}`,
    deploy: 'osls deploy',
  };
}

/** Returns the files that every project needs, as text by path. They are written, or are there with the same text. */
export async function requiredFiles(content: FolderContent): Promise<ReadonlyMap<string, string>> {
  const { project, isModule, hasJest, tsconfig } = content;
  const files = new Map([['serverless.yml', (await template('serverless.txt')).replaceAll('PROJECT', project)]]);
  const inherited = { extends: 'outrigger/tsconfig.json' };
  if (tsconfig === undefined) files.set('tsconfig.json', formatJson(inherited));
  else files.set(ownTsconfig, formatJson({ ...inherited, include: sourceFolders }));
  if (hasJest) files.set(vitestConfig, await template('vitest.txt'));
  // In a folder of CommonJS the project's sources are ES modules by a package.json of their own.
  if (!isModule) for (const folder of sourceFolders.slice(1)) files.set(`${folder}/package.json`, esModules);
  return files;
}

const esModules = '{ "type": "module" }\n';

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

async function template(name: string): Promise<string> {
  return await readFile(path.join(packageRoot, 'src/commands/new/project-templates', name), 'utf8');
}
