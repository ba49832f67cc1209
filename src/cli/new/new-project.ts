// `outrigger new project`: turns a folder that has the package installed into a service that can be deployed. The
// service gets the AWS resources and manifests of this repository, an empty registry, and the two functions that every
// service has. No existing file is overwritten.

import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Command } from 'commander';
import { UserError } from '../../core/errors.ts';
import { isRecord, parseJson } from '../../core/json.ts';
import { registryFile, sharedFunctions } from '../../generate/functions.ts';
import { printLines, runCommand } from '../command.ts';
import { fileExists, packageRoot } from '../project.ts';

/** Makes the command. */
export function newProjectCommand(): Command {
  return new Command('project')
    .description('make the current folder a service: registry, functions, AWS resources and manifests')
    .addHelpText('after', helpText)
    .action(async () => await runCommand('new project', async () => await run(process.cwd())));
}

const helpText = `
Example, in an empty folder:
  npm init --yes
  npm install ../outrigger-0.1.0.tgz       what npm pack makes in a clone of Outrigger
  npx outrigger new project
  npm install
  npx outrigger new controller Cafe
  npm run check && npm test && npm run demo -- --until-ready

Exit status: 0 when the project is written; 1 when one of its files exists already.`;

/** The same in every service; copied from the package's own folder. */
const shared = ['serverless.yml', 'tsconfig.json', 'infra/aws', 'infra/kubernetes'];
/** Specific to a service: made by `generate`, or by its author. */
const own = ['infra/aws/generated', 'infra/kubernetes/generated', 'infra/kubernetes/samples'];

/** Written from a template. */
const templates: Readonly<Record<string, string>> = {
  'registry.txt': registryFile,
  'watcher.txt': 'src/watcher/main.ts',
  'gitignore.txt': '.gitignore',
};

/** The packages that the project's own commands and sources need next to Outrigger. */
const tools = ['@kubernetes/client-node', '@types/node', 'osls', 'typescript', 'vitest'];
const scripts = {
  build: 'outrigger build',
  generate: 'outrigger generate',
  demo: 'outrigger dev --apply infra/kubernetes/samples',
  check: 'tsc && outrigger generate --check',
  test: 'vitest run',
};

async function run(root: string): Promise<number> {
  if (root === packageRoot) throw new UserError('this is a project; make another one in a folder of its own');
  const manifest = await readManifest(root);
  const written = new Map([...(await filledTemplates()), ...sharedFunctions('package', [])]);
  const files = [...(await sharedFiles()), ...written.keys()];
  for (const file of files) {
    if (await fileExists(path.join(root, file))) throw new UserError(`${file} is there already; use an empty folder`);
  }
  for (const one of shared) {
    const from = path.join(packageRoot, one);
    await cp(from, path.join(root, one), {
      recursive: true,
      filter: (source) => !own.includes(pathInPackage(source)),
    });
  }
  for (const [file, text] of written) {
    await mkdir(path.dirname(path.join(root, file)), { recursive: true });
    await writeFile(path.join(root, file), text);
  }
  await writeFile(path.join(root, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
  printLines([
    ...files.map((file) => `new: ${file}`),
    'changed: package.json',
    '',
    'Now: npm install, and npx outrigger new controller Cafe.',
  ]);
  return 0;
}

async function filledTemplates(): Promise<ReadonlyMap<string, string>> {
  const folder = path.join(packageRoot, 'src/cli/new/project-templates');
  const files = Object.entries(templates).map(
    async ([template, file]) => [file, await readFile(path.join(folder, template), 'utf8')] as const,
  );
  return new Map(await Promise.all(files));
}

/** Adds what a project needs to the folder's package.json. The author's own entries stay. */
async function readManifest(root: string): Promise<object> {
  const [theirs, ours] = await Promise.all([root, packageRoot].map(readJson));
  if (theirs === undefined) {
    throw new UserError('there is no package.json here; begin with npm init --yes, and install the package');
  }
  const pinned = { ...recordField(ours, 'devDependencies'), ...recordField(ours, 'dependencies') };
  const versions = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, pinned[name]]));
  return {
    ...theirs,
    private: true,
    type: 'module',
    scripts: { ...recordField(theirs, 'scripts'), ...scripts },
    dependencies: { ...versions(['zod']), ...recordField(theirs, 'dependencies') },
    devDependencies: { ...versions(tools), ...recordField(theirs, 'devDependencies') },
  };
}

async function readJson(folder: string): Promise<Readonly<Record<string, unknown>> | undefined> {
  const text = await readFile(path.join(folder, 'package.json'), 'utf8').catch(() => undefined);
  const value = text === undefined ? undefined : parseJson(text);
  return isRecord(value) ? value : undefined;
}

function recordField(manifest: Readonly<Record<string, unknown>> | undefined, field: string): Record<string, unknown> {
  return { ...Object(manifest?.[field]) };
}

async function sharedFiles(): Promise<readonly string[]> {
  const listed = shared.map(async (one) => {
    const entries = await readdir(path.join(packageRoot, one), { recursive: true, withFileTypes: true }).catch(
      () => undefined,
    );
    if (entries === undefined) return [one];
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => pathInPackage(path.join(entry.parentPath, entry.name)));
  });
  return (await Promise.all(listed)).flat().filter((file) => !own.some((folder) => file.startsWith(`${folder}/`)));
}

function pathInPackage(file: string): string {
  return path.relative(packageRoot, file);
}
