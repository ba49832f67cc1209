// `outrigger new controller`: everything that a kind needs, at once, so that the first thing an author sees is a system that runs with
// it. Nothing is written unless all of it can be.
import { execFile } from 'node:child_process';
import { access, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { Command } from 'commander';
import type { Registered } from '../../core/controller.ts';
import { nameProblem } from '../../generate/check-registry.ts';
import { ownModule } from '../../local/own-module.ts';
import { type Source, withEntry, withImport } from './edit-source.ts';
import { type NewNames, newFiles, newLines, newNames } from './controller-files.ts';
import { newProjectCommand } from './new-project.ts';
import { OperatorProblem, operate } from '../operate.ts';
import { printLines } from '../output.ts';
import { loadProject } from '../project.ts';

/** Makes the command. */
export function newCommand(): Command {
  const controller = new Command('controller')
    .description('write a kind and its controller, with function, test and sample, and generate what follows from it')
    .argument('<name>', 'Cafe, WaterTank or water-tank')
    .option('--group <group>', 'API group of the kind, in a domain of yours; NAME.example.com by default')
    .addHelpText('after', helpText)
    .action(
      async (name: string, flags: { readonly group?: string }) =>
        await operate('new controller', async () => await run(process.cwd(), name, flags.group)),
    );
  return new Command('new').description('begin something new').addCommand(newProjectCommand()).addCommand(controller);
}

const helpText = `
Examples:
  outrigger new controller Cafe --group cafe.example.org
  npm run check && npm test && npm run demo -- --until-ready     green at once, with the new kind in them

It writes the controller (src/controllers), its line in the registry, its function (functions), a test (test/controllers), a sample
(infra/kubernetes/samples) and, where the repository has them, what its tests must know of every kind; then it runs generate.
Nothing that is there is overwritten. To take it back: git restore . && git clean -f src functions test infra`;

/** What a variable of the new sources cannot be called: words of TypeScript, and names that these sources use. */
const words = new Set(
  (
    'await break case catch class const continue debugger default delete do else enum eval export extends false finally for function if ' +
    'implements import in instanceof interface let new null package private protected public return static super switch this throw true ' +
    'try typeof var void while with yield arguments undefined registry file swap expect it context object text z'
  ).split(' '),
);

async function run(root: string, given: string, group: string | undefined): Promise<number> {
  const { registry } = await loadProject(root);
  const names = checked(registry, given, group);
  const sources = await readSources(root, names);
  const files = await newFiles(names, {
    listed: sources,
    isRepository: await isThere(path.join(root, 'src/outrigger.ts')),
  });
  for (const file of files.keys()) {
    if (await isThere(path.join(root, file)))
      throw new OperatorProblem(`${file} is there already; choose another name`);
  }
  const changed = editsOf(names, sources);
  for (const [file, text] of [...files, ...changed]) {
    await mkdir(path.dirname(path.join(root, file)), { recursive: true });
    await writeFile(path.join(root, file), text);
  }
  await tidy(root, [...files.keys(), ...changed.keys()]);
  const generated = await generateAnew(root);
  printLines([
    ...[...files.keys()].map((file) => `new: ${file}`),
    ...[...changed.keys()].map((file) => `changed: ${file}`),
    ...generated,
    '',
    `Now: npm run check, npm test, npm run demo -- --until-ready; then make src/controllers/${names.name}.ts yours.`,
  ]);
  return 0;
}

function checked(registry: readonly Registered[], given: string, group: string | undefined): NewNames {
  const names = newNames(given, group);
  const is = `${JSON.stringify(given)} is`;
  if (names === undefined) throw new OperatorProblem(`${is} no name; write one like Cafe, WaterTank or water-tank`);
  if (words.has(names.variable))
    throw new OperatorProblem(`${is} a word that TypeScript or these sources use; choose another`);
  if (!/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$/.test(names.group)) {
    throw new OperatorProblem(
      `--group ${JSON.stringify(names.group)}: a domain in lower case is needed, like cafe.example.org`,
    );
  }
  const { name, kind, group: domain } = names;
  const unfit = nameProblem(name);
  if (unfit !== undefined) throw new OperatorProblem(`${is} no controller's name: ${unfit}`);
  const isSame = ({ declares: { resource }, ...one }: Registered) =>
    one.name === name || (resource.kind === kind && resource.group === domain);
  if (registry.some(isSame)) throw new OperatorProblem(`there is a ${kind} already; choose another name`);
  return names;
}

/** Reads the sources that list every controller, as far as they are there. */
async function readSources(root: string, names: NewNames): Promise<ReadonlyMap<string, Source>> {
  const found = new Map<string, Source>();
  for (const { file } of newLines(names)) {
    const text = await readFile(path.join(root, file), 'utf8').catch(() => undefined);
    if (text !== undefined) found.set(file, { file, text });
  }
  return found;
}

function editsOf(names: NewNames, sources: ReadonlyMap<string, Source>): ReadonlyMap<string, string> {
  return new Map(
    newLines(names).flatMap(({ file, imported, opening, entry }) => {
      const source = sources.get(file);
      return source === undefined
        ? []
        : [[file, withEntry(withImport(source, imported), opening, entry).text] as const];
    }),
  );
}

/** Formats what was written as the project formats its sources, where it has the formatter: order of imports, long names. */
async function tidy(root: string, files: readonly string[]): Promise<void> {
  const formatter = path.join(root, 'node_modules/@biomejs/biome/bin/biome');
  if (!(await isThere(formatter))) return;
  const sources = files.filter((file) => file.endsWith('.ts'));
  await promisify(execFile)(process.execPath, [formatter, 'check', '--write', ...sources], { cwd: root });
}

/** In a process of its own, because this one has the registry as it was. */
async function generateAnew(root: string): Promise<readonly string[]> {
  const command = ownModule(import.meta, '../main');
  const { stdout } = await promisify(execFile)(process.execPath, [command, 'generate'], { cwd: root });
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => `generated: ${line.replace(/^.*: /, '')}`);
}

async function isThere(file: string): Promise<boolean> {
  return await access(file).then(
    () => true,
    () => false,
  );
}
