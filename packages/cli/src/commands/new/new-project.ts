// `outrigger new project`, and npm create outrigger: makes the current folder a service that can be deployed. The
// folder may be empty, a folder of a monorepo, or have code of its own. Nothing of it is replaced: every change of an
// existing file is shown first, and written only after a confirmation.

import { execFile } from 'node:child_process';
import { glob, readdir } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline/promises';
import { promisify } from 'node:util';
import { Command } from 'commander';
import { UserError } from 'outrigger/internal/core/errors';
import { isRecord, parseJson } from 'outrigger/internal/core/json';
import { projectNameProblem } from 'outrigger/internal/core/names';
import { diffLines } from '../../console/planned-yaml.ts';
import { writeTextFile } from '../../dev/text-file.ts';
import { runtimeRoot } from '../../project/own-module.ts';
import { fileExists, readProjectName, readTextFile } from '../../project/project.ts';
import { acting, printError, printLines } from '../command.ts';
import {
  type FolderContent,
  formatJson,
  mergedGitignore,
  optionalFiles,
  requiredFiles,
  scriptCommands,
  sourceFolders,
  withoutProjectSources,
} from './project-files.ts';
import { mergeManifest, recordField, suggestedName } from './project-manifest.ts';

type Flags = { readonly name?: string; readonly yes?: boolean };

/** Makes the command. */
export function newProjectCommand(): Command {
  return new Command('project')
    .description('make the current folder a service of controllers')
    .option('--name <name>', 'the name of the project: part of every name on AWS and in clusters')
    .option('--yes', 'write without asking')
    .addHelpText('after', helpText)
    .action(acting(run));
}

const helpText = `
Example, in an empty folder:
  npm init --yes
  npm install ../packed/*.tgz       what npm run pack makes in a clone of Outrigger
  npx outrigger new project --yes
  npm install
  npx outrigger new controller Cafe
  npm run check && npm test && npm run demo -- --until-ready

npm create outrigger does the same. It asks for the project's name, shows every change of an existing file as a diff,
and asks before it writes; without a terminal it needs --yes. Existing scripts and files stay, and beside sources the
type of package.json. Scripts whose name is taken get the prefix outrigger:. A repository is made with git init if there
is none.
Exit status: 0 when the project is written; 1 when it is not, and nothing was written.`;

/** The packages that the project's own commands and sources need next to Outrigger. */
const tools = ['@kubernetes/client-node', '@types/node', 'osls', 'typescript', 'vite', 'vitest'];

/** A file with its new text; without `before` it is new. */
type Change = { readonly file: string; readonly text: string; readonly before: string | undefined };

async function run({ name, yes = false }: Flags): Promise<number> {
  const root = process.cwd();
  if (root === runtimeRoot) throw new UserError('this is a project; make another one in a folder of its own');
  const manifest = await readManifest(root);
  if (recordField(manifest, 'outrigger').project !== undefined)
    throw new UserError(`this is the project ${await readProjectName(root)} already; see npx outrigger new controller`);
  const isTerminal = process.stdin.isTTY === true && process.stdout.isTTY === true;
  if (!yes && !isTerminal) {
    throw new UserError(
      'there is no terminal to ask in, so nothing is written; run it with --yes, and with --name NAME for the project',
    );
  }
  const suggestion = suggestedName(typeof manifest?.name === 'string' ? manifest.name : path.basename(root));
  const project = name ?? (yes ? suggestion : await ask('Name of the project', suggestion));
  const problem = projectNameProblem(project);
  if (problem !== undefined) throw new UserError(`--name ${JSON.stringify(project)}: ${problem}`);

  const { changes, hints } = await planProject(root, manifest, project);
  const edited = changes.filter(({ before }) => before !== undefined);
  const added = changes.filter(({ before }) => before === undefined);
  printLines([
    ...edited.flatMap(({ file, before = '', text }) => [`${file}:`, ...changedLines(before, text)]),
    ...added.map(({ file }) => `new: ${file}`),
  ]);
  if (!yes && !/^y(es)?$/i.test(await ask('Write these files? (y/n)', 'n'))) {
    printError('nothing is written');
    return 1;
  }
  for (const { file, text } of changes) {
    const target = path.join(root, file);
    await writeTextFile(target, text, (await repositoryOf(root)) ?? root);
  }
  const initialized = await initRepository(root);
  printLines([
    ...edited.map(({ file }) => `changed: ${file}`),
    ...(initialized ? ['git init'] : []),
    ...hints.map((hint) => `hint: ${hint}`),
    '',
    `Now: npm install, and npx outrigger new controller Cafe. The project is named ${project}.`,
  ]);
  return 0;
}

/** The lines of context around a difference. */
const contextLines = 2;

/** Returns the changed lines, prefixed with `-` or `+`, with the lines around them. */
function changedLines(before: string, after: string): readonly string[] {
  const [old = [], now = []] = [before, after].map((text) => text.replace(/\n$/, '').split('\n'));
  const lines = diffLines(old, now);
  const isNear = (_: unknown, index: number) =>
    lines.slice(Math.max(0, index - contextLines), index + contextLines + 1).some(({ mark }) => mark !== ' ');
  return lines.filter(isNear).map(({ mark, text }) => `${mark} ${text}`);
}

/** Plans the files of a project. Throws UserError for files that are in the way. */
async function planProject(
  root: string,
  manifest: Readonly<Record<string, unknown>> | undefined,
  project: string,
): Promise<{ readonly changes: readonly Change[]; readonly hints: readonly string[] }> {
  const readText = async (file: string) => await readTextFile(path.join(root, file));
  const tsconfig = await readText('tsconfig.json');
  const gitignore = await readText('.gitignore');
  const isModule = manifest?.type === 'module' || !(await hasSources(root));
  const content: FolderContent = {
    project,
    isModule,
    tsconfig,
    hasJest: await hasJest(root, manifest),
  };
  const changes: Change[] = [];
  const inTheWay: string[] = [];
  for (const [file, text] of await requiredFiles(content)) {
    if (!(await fileExists(path.join(root, file)))) changes.push({ file, text, before: undefined });
    else if ((await readText(file).catch(() => undefined)) !== text) inTheWay.push(file);
  }
  if (inTheWay.length > 0)
    throw new UserError(
      `${inTheWay.join(', ')}: there already, and no file is replaced; ` +
        'move what is in the way, or make the project in a folder of its own',
    );

  const packages = await ownPackages();
  const merged = mergeManifest(manifest, { project, isModule, scripts: scriptCommands(content), ...packages });
  const before = await readText('package.json');
  changes.push({ file: 'package.json', text: formatJson(merged.manifest, before), before });
  changes.push({ file: '.gitignore', text: await mergedGitignore(gitignore), before: gitignore });

  const repository = (await repositoryOf(root)) ?? root;
  const workflow = path.join(path.relative(root, repository), '.github/workflows', `${project}.yml`);
  const folder = path.relative(repository, root) || '.';
  for (const [file, text] of await optionalFiles(project, { names: merged.names, workflow, folder })) {
    if (!(await fileExists(path.join(root, file)))) changes.push({ file, text, before: undefined });
  }

  const hints: string[] = [];
  if (tsconfig !== undefined) {
    const text = withoutProjectSources(tsconfig);
    if (text === undefined) hints.push(`exclude ${sourceFolders.join(', ')} in tsconfig.json`);
    else changes.push({ file: 'tsconfig.json', text, before: tsconfig });
  }
  return { changes: changes.filter(({ text, before: old }) => text !== old), hints };
}

/** Whether the folder has sources whose meaning depends on the type of package.json, which npm init writes unasked. */
async function hasSources(root: string): Promise<boolean> {
  for await (const _ of glob('**/*.{js,ts,jsx,tsx}', { cwd: root, exclude: ['**/node_modules'] })) return true;
  return false;
}

async function hasJest(root: string, manifest: Readonly<Record<string, unknown>> | undefined): Promise<boolean> {
  if (manifest?.jest !== undefined) return true;
  if (['dependencies', 'devDependencies'].some((field) => 'jest' in recordField(manifest, field))) return true;
  return (await readdir(root)).some((file) => file.startsWith('jest.config.'));
}

/** The versions of the packages that a project needs: those that this package was tested with. */
async function ownPackages(): Promise<{
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}> {
  const ours = await readManifest(runtimeRoot);
  // osls is in a package.json of its own, so that npm ci of this repository does not install it.
  const infra = await readManifest(path.join(runtimeRoot, 'infra'));
  const pinned = {
    ...recordField(ours, 'devDependencies'),
    ...recordField(ours, 'dependencies'),
    ...recordField(infra, 'dependencies'),
  };
  const versions = (names: readonly string[]) =>
    Object.fromEntries(names.map((one) => [one, String(pinned[one] ?? '')]));
  return {
    dependencies: { outrigger: String(ours?.version ?? ''), ...versions(['zod']) },
    devDependencies: { '@outrigger/cli': String(ours?.version ?? ''), ...versions(tools) },
  };
}

/** Reads a package.json; undefined for none. Throws UserError for one that cannot be parsed. */
async function readManifest(folder: string): Promise<Readonly<Record<string, unknown>> | undefined> {
  const text = await readTextFile(path.join(folder, 'package.json'));
  if (text === undefined) return undefined;
  const value = parseJson(text);
  if (!isRecord(value)) throw new UserError('package.json is not a JSON object; repair it first');
  return value;
}

/** Finds the folder of the repository that a folder is in; undefined for none. */
async function repositoryOf(folder: string): Promise<string | undefined> {
  for (let at = folder; ; at = path.dirname(at)) {
    if (await fileExists(path.join(at, '.git'))) return at;
    if (at === path.dirname(at)) return undefined;
  }
}

/** Makes a repository if there is none. Returns whether it did; without git there is none. */
async function initRepository(root: string): Promise<boolean> {
  if ((await repositoryOf(root)) !== undefined) return false;
  return await promisify(execFile)('git', ['init', '--quiet'], { cwd: root }).then(
    () => true,
    () => false,
  );
}

async function ask(question: string, preset: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    const reply = (await terminal.question(`${question} [${preset}]: `)).trim();
    return reply === '' ? preset : reply;
  } finally {
    terminal.close();
  }
}
