// `outrigger new controller`: writes everything that a kind needs in one step, so that an author starts from a system
// that runs with it. If one file cannot be written or edited, none is.

import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { Command } from 'commander';
import type { ControllerDefinition } from 'outrigger/internal/api/definition';
import { UserError } from 'outrigger/internal/core/errors';
import { writeTextFile } from '../../dev/text-file.ts';
import { nameProblem } from '../../project/check-registry.ts';
import {
  fileExists,
  isRepository,
  loadProject,
  readTextFile,
  registryFile,
  requireProject,
} from '../../project/project.ts';
import { acting, printLines } from '../command.ts';
import { type NewNames, newFiles, newNames, registryLines } from './controller-files.ts';
import { type SourceFile, withEntry, withImport } from './edit-source.ts';
import { exampleFiles } from './example-files.ts';
import { newProjectCommand } from './new-project.ts';
import { vitestConfig } from './project-files.ts';

type Flags = { readonly group?: string; readonly clusterScoped?: boolean; readonly example?: string };

/** Makes the command. */
export function newCommand(): Command {
  const controller = new Command('controller')
    .description('write a kind and its controller, with test and sample')
    .argument('[name]', 'Cafe, WaterTank or water-tank')
    .option('--group <group>', 'API group of the kind, in a domain of yours; NAME.example.com by default')
    .option('--cluster-scoped', 'objects of the kind have no namespace; what they own is in the namespace default')
    .option('--example <example>', 'copy an example of the package in place of a new kind: cron-job, external-dns, ...')
    .addHelpText('after', helpText)
    .action(acting(run));
  return new Command('new')
    .description('write a new project, or a new controller')
    .addCommand(newProjectCommand())
    .addCommand(controller);
}

const helpText = `
Examples:
  outrigger new controller Cafe --group cafe.example.org
  outrigger new controller Tenant --cluster-scoped
  outrigger new controller --example cron-job                    the CronJob of the kubebuilder book, with its test
  npm run check && npm test && npm run demo -- --until-ready     all pass with the new kind

It writes the controller (src/controllers), its line in the registry if there is one, a test (test/controllers) and a
sample (samples).
No existing file is overwritten. To undo it: git restore . && git clean -f src test samples`;

/** Names that a variable of the new sources cannot have: keywords of TypeScript, and names that these sources use. */
const reservedVariables = new Set([
  // A lookup by name in an object would find these.
  ...Object.getOwnPropertyNames(Object.prototype),
  ...(
    'await break case catch class const continue debugger default delete do else enum eval export extends false ' +
    'finally for function if implements import in instanceof interface let new null package private protected public ' +
    'return static super switch this throw true try typeof var void while with yield ' +
    'arguments undefined registry file expect it context object text z'
  ).split(' '),
]);

/** Names that the kind cannot have: the new sources use them. */
const reservedKinds = new Set(['ConfigMap', 'Promise', 'ResultOf']);

async function run(given: string | undefined, { group, clusterScoped = false, example }: Flags): Promise<number> {
  const root = process.cwd();
  if (example !== undefined && (given !== undefined || group !== undefined || clusterScoped))
    throw new UserError('--example copies a kind as it is; leave out the name, --group and --cluster-scoped');
  if (example !== undefined) return await runExample(root, example);
  const { registry } = await loadProject(root);
  const names = { ...checkedNames(registry, given ?? '', group), isClusterScoped: clusterScoped };
  const list = await readTextFile(path.join(root, registryFile));
  const besideJest = await fileExists(path.join(root, vitestConfig));
  const files = await newFiles(names, { inRepository: await isRepository(root), besideJest });
  await requireAbsent(root, files.keys());
  const changed = new Map<string, string>();
  if (list !== undefined) changed.set(registryFile, listedIn({ file: registryFile, text: list }, names));
  for (const [file, text] of [...files, ...changed]) await writeTextFile(path.join(root, file), text, root);
  await formatSources(root, [...files.keys(), ...changed.keys()]);
  printLines([
    ...[...files.keys()].map((file) => `new: ${file}`),
    ...[...changed.keys()].map((file) => `changed: ${file}`),
    '',
    `Now: npm run check, npm test, npm run demo -- --until-ready; then make src/controllers/${names.name}.ts yours.`,
  ]);
  return 0;
}

/** Copies an example of the package. */
async function runExample(root: string, example: string): Promise<number> {
  await requireProject(root);
  const { files, packages } = await exampleFiles(example);
  await requireAbsent(root, files.keys());
  for (const [file, text] of files) await writeTextFile(path.join(root, file), text, root);
  const hasRegistry = await fileExists(path.join(root, registryFile));
  printLines([
    ...[...files.keys()].map((file) => `new: ${file}`),
    ...packages.map((one) => `hint: npm install ${one}`),
    ...(hasRegistry ? [`hint: ${registryFile} chooses the controllers; add those of ${example}.ts`] : []),
    '',
    'Now: npm run check, and npm test. What it shows: docs/examples.md in the package outrigger.',
  ]);
  return 0;
}

async function requireAbsent(root: string, files: Iterable<string>): Promise<void> {
  for (const file of files) {
    if (await fileExists(path.join(root, file))) throw new UserError(`${file} is there already; choose another name`);
  }
}

function checkedNames(registry: readonly ControllerDefinition[], given: string, group: string | undefined): NewNames {
  const names = newNames(given, group);
  const is = `${JSON.stringify(given)} is`;
  if (names === undefined) throw new UserError(`${is} not a name; write one like Cafe, WaterTank or water-tank`);
  if (reservedVariables.has(names.variable) || reservedKinds.has(names.kind))
    throw new UserError(`${is} a word that TypeScript or these sources use; choose another`);
  if (!/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$/.test(names.group)) {
    throw new UserError(
      `--group ${JSON.stringify(names.group)}: a domain in lower case is needed, like cafe.example.org`,
    );
  }
  const { name, kind, group: domain } = names;
  const problem = nameProblem(name);
  if (problem !== undefined) throw new UserError(`${is} not the name of a controller: ${problem}`);
  const isSame = ({ declaration: { resource }, ...one }: ControllerDefinition) =>
    one.name === name || (resource.kind === kind && resource.group === domain);
  if (registry.some(isSame)) throw new UserError(`there is a ${kind} already; choose another name`);
  return names;
}

function listedIn(registry: SourceFile, names: NewNames): string {
  const { imported, opening, entry } = registryLines(names);
  return withEntry(withImport(registry, imported), opening, entry).text;
}

/** Formats the written sources with the project's formatter, if it has one: the order of imports, and long names. */
async function formatSources(root: string, files: readonly string[]): Promise<void> {
  const formatter = path.join(root, 'node_modules/@biomejs/biome/bin/biome');
  if (!(await fileExists(formatter))) return;
  const sources = files.filter((file) => file.endsWith('.ts'));
  await promisify(execFile)(process.execPath, [formatter, 'check', '--write', ...sources], { cwd: root });
}
