// `outrigger new project`: makes a folder that has the package a service to deploy: the AWS pieces and manifests of this one, an empty
// registry, and the two functions that every service has. Nothing that is there is overwritten.
import { access, cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Command } from 'commander';
import { parseJson } from '../../core/parse-json.ts';
import { isRecord } from '../../kube/record.ts';
import { OperatorProblem, operate } from '../operate.ts';
import { printLines } from '../output.ts';
import { packageRoot } from '../package-root.ts';

/** Makes the command. */
export function newProjectCommand(): Command {
  return new Command('project')
    .description('make the current folder a service: registry, functions, AWS pieces and manifests')
    .addHelpText('after', helpText)
    .action(async () => await operate('new project', async () => await run(process.cwd())));
}

const helpText = `
Example, in an empty folder:
  npm init --yes
  npm install ../outrigger-0.1.0.tgz       what npm pack makes in a clone of Outrigger
  npx outrigger new project
  npm install
  npx outrigger new controller Cafe
  npm run check && npm test && npm run demo -- --until-ready

Exit status: 0 when it is made; 1 when a file that it would write is there already.`;

/** What is the same in every service, from the package's own folder. */
const shared = ['serverless.yml', 'tsconfig.json', 'infra/aws', 'infra/kubernetes'];
/** What is a service's own: made by `generate`, or by its author. */
const own = ['infra/aws/generated', 'infra/kubernetes/generated', 'infra/kubernetes/samples'];

/** What is written from a template. */
const written: Readonly<Record<string, string>> = {
  'registry.txt': 'src/controllers/registry.ts',
  'watcher.txt': 'src/watcher/main.ts',
  'timers.txt': 'functions/timers.ts',
  'resync.txt': 'functions/resync.ts',
  'gitignore.txt': '.gitignore',
};

/** What the project's own commands and sources need beside the package. */
const tools = ['@kubernetes/client-node', '@types/node', 'osls', 'typescript', 'vitest'];
const scripts = {
  build: 'outrigger build',
  generate: 'outrigger generate',
  demo: 'outrigger dev --apply infra/kubernetes/samples',
  check: 'tsc && outrigger generate --check',
  test: 'vitest run',
};

async function run(root: string): Promise<number> {
  if (root === packageRoot) throw new OperatorProblem('this is a project; make another one in a folder of its own');
  const manifest = await readManifest(root);
  const files = [...(await sharedFiles()), ...Object.values(written)];
  for (const file of files) {
    if (await isThere(path.join(root, file)))
      throw new OperatorProblem(`${file} is there already; use an empty folder`);
  }
  for (const place of shared) {
    const from = path.join(packageRoot, place);
    await cp(from, path.join(root, place), { recursive: true, filter: (source) => !own.includes(within(source)) });
  }
  for (const [template, file] of Object.entries(written)) {
    await mkdir(path.dirname(path.join(root, file)), { recursive: true });
    const text = await readFile(path.join(packageRoot, 'src/cli/new-project/templates', template), 'utf8');
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

/** The folder's package.json with what a project needs; what its author wrote there stays. */
async function readManifest(root: string): Promise<object> {
  const [theirs, ours] = await Promise.all([root, packageRoot].map(readJson));
  if (theirs === undefined) {
    throw new OperatorProblem('there is no package.json here; begin with npm init --yes, and install the package');
  }
  const pinned = { ...recordAt(ours, 'devDependencies'), ...recordAt(ours, 'dependencies') };
  const versions = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, pinned[name]]));
  return {
    ...theirs,
    private: true,
    type: 'module',
    scripts: { ...recordAt(theirs, 'scripts'), ...scripts },
    dependencies: { ...versions(['zod']), ...recordAt(theirs, 'dependencies') },
    devDependencies: { ...versions(tools), ...recordAt(theirs, 'devDependencies') },
  };
}

async function readJson(folder: string): Promise<Readonly<Record<string, unknown>> | undefined> {
  const text = await readFile(path.join(folder, 'package.json'), 'utf8').catch(() => undefined);
  const value = text === undefined ? undefined : parseJson(text);
  return isRecord(value) ? value : undefined;
}

function recordAt(manifest: Readonly<Record<string, unknown>> | undefined, field: string): Record<string, unknown> {
  return { ...Object(manifest?.[field]) };
}

async function sharedFiles(): Promise<readonly string[]> {
  const listed = shared.map(async (place) => {
    const entries = await readdir(path.join(packageRoot, place), { recursive: true, withFileTypes: true }).catch(
      () => undefined,
    );
    if (entries === undefined) return [place];
    return entries.filter((entry) => entry.isFile()).map((entry) => within(path.join(entry.parentPath, entry.name)));
  });
  return (await Promise.all(listed)).flat().filter((file) => !own.some((folder) => file.startsWith(`${folder}/`)));
}

function within(file: string): string {
  return path.relative(packageRoot, file);
}

async function isThere(file: string): Promise<boolean> {
  return await access(file).then(
    () => true,
    () => false,
  );
}
