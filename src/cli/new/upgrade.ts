// `outrigger upgrade`: brings the files that a project got from the package to the installed version, as a three-way
// merge. `outrigger new project` has stored what the files were (base-file.ts). What the author changed stays.
import path from 'node:path';
import { createInterface } from 'node:readline/promises';
import { Command } from 'commander';
import { UserError } from '../../core/errors.ts';
import { removeFile } from '../../dev/replace-file.ts';
import { readTextFile, writeTextFile } from '../../dev/text-file.ts';
import { printError, printLines, runCommand } from '../command.ts';
import { packageVersion } from '../package-version.ts';
import { readProjectName } from '../project.ts';
import { baseFile, formatBase, parseBase } from './base-file.ts';
import { diffLines } from './diff-lines.ts';
import { type FileMerge, type Files, mergeFiles } from './merge-files.ts';
import { copiedTexts } from './project-files.ts';

type Flags = { readonly yes?: true; readonly markers?: true };

/** Makes the command. */
export function upgradeCommand(): Command {
  return new Command('upgrade')
    .description('bring serverless.yml and infra/ of the project to the installed version of Outrigger')
    .option('--yes', 'write without asking')
    .option('--markers', 'write files with conflicts, too, with markers in them')
    .addHelpText('after', helpText)
    .action(async (flags: Flags) => await runCommand('upgrade', async () => await upgrade(process.cwd(), flags)));
}

const helpText = `
Example:
  npm install outrigger@0.2.0 && npx outrigger upgrade --yes && npm run generate

It compares three versions of each file: the one that the project was made with or last upgraded to (${baseFile}),
the project's, and the installed package's. Your changes stay. Where both changed the same lines it shows a
conflict and writes nothing. It shows every change as a diff, and asks before it writes; without a terminal it only
shows them. Exit status: 0 when the files are those of the installed version; 1 when they are not.`;

/** Upgrades the project in a folder. Returns the exit status. */
export async function upgrade(root: string, flags: Flags): Promise<number> {
  const project = await readProjectName(root);
  const read = async (file: string) => await readTextFile(path.join(root, file));
  const stored = await read(baseFile);
  if (stored === undefined)
    throw new UserError(`there is no ${baseFile} here; run it in a project that outrigger new project has made`);
  const base = parseBase(stored);
  const [version, theirs] = [packageVersion(), await copiedTexts(project)];
  const ours = new Map<string, string>();
  for (const file of new Set([...theirs.keys(), ...base.files.keys()])) {
    const text = await read(file);
    if (text !== undefined) ours.set(file, text);
  }
  const merges = mergeFiles({ base: base.files, ours, theirs }, version);
  printLines([`${base.version} -> ${version}`, ...merges.flatMap(describeMerge)]);

  const conflicts = merges.filter((one) => one.conflicts.length > 0);
  if (conflicts.length > 0) {
    const places = conflicts.flatMap(({ file, conflicts: lines }) => lines.map((line) => `${file}:${line}`));
    if (flags.markers !== true)
      throw new UserError(
        `${places.join(', ')}: changed here and in ${version}, so nothing is written; ` +
          'run it with --markers to write the files with markers, and resolve them',
      );
    await write(root, merges, { version, theirs });
    throw new UserError(`${places.join(', ')}: resolve the markers; the other files are upgraded`);
  }
  const next = formatBase(version, theirs);
  if (next === stored) return 0;
  if (flags.yes !== true && merges.length > 0 && !(await confirmed())) {
    printError('nothing is written');
    return 1;
  }
  await write(root, merges, { version, theirs });
  printLines([`${merges.length} files are upgraded. Now: npm run generate, and npm run check.`]);
  return 0;
}

/** Writes the files, and last the base: a command that was stopped starts again from the old one. */
async function write(
  root: string,
  merges: readonly FileMerge[],
  { version, theirs }: { readonly version: string; readonly theirs: Files },
): Promise<void> {
  const texts = [...merges, { file: baseFile, text: formatBase(version, theirs) }];
  for (const { file, text } of texts) {
    const target = path.join(root, file);
    if (text === undefined) await removeFile(target, { within: root });
    else await writeTextFile(target, text, root);
  }
}

function describeMerge({ file, before, text }: FileMerge): readonly string[] {
  if (text === undefined) return [`removed: ${file}`];
  if (before === undefined) return [`new: ${file}`];
  return [`${file}:`, ...diffLines(before, text)];
}

/** Asks in a terminal. Without one the reply is no. */
async function confirmed(): Promise<boolean> {
  if (process.stdin.isTTY !== true || process.stdout.isTTY !== true) return false;
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return /^y(es)?$/i.test((await terminal.question('Write these files? (y/n) [n]: ')).trim());
  } finally {
    terminal.close();
  }
}
