// `outrigger clusters list`, `add`, `remove` and `migrate`: the entries of the clusters table.
import { paginateGetParametersByPath, SSMClient } from '@aws-sdk/client-ssm';
import { Command } from 'commander';
import { type ClusterEntry, type EntryWatcher, moveOf } from 'outrigger/internal/clusters/registry/entry';
import { UserError } from 'outrigger/internal/core/errors';
import { parseJson } from 'outrigger/internal/core/json';
import { callWithin } from 'outrigger/internal/sqs/call';
import {
  acting,
  disposable,
  jsonOption,
  type Output,
  outputOption,
  printError,
  printJson,
  printLines,
} from '../command.ts';
import { inRegion, type RegionFlag } from '../stage-table.ts';
import {
  keptFields,
  namesOf,
  type TableEntries,
  withEntry,
  withoutEntry,
  withPaused,
  withWatcher,
} from './edit-table.ts';
import { readEntry } from './read-entry.ts';
import { changeTable, openTable, type TableFlags, tableLocation } from './table.ts';
import { withTableOptions } from './table-options.ts';
import { readWatcher, type WatcherFlags, withWatcherOptions } from './watcher-options.ts';

/** The deadline of all pages of the parameters together. */
const readSeconds = 20;

/** Makes the command that lists the entries. */
export function listCommand(): Command {
  return withTableOptions(new Command('list'))
    .description('list the clusters of the table')
    .addOption(outputOption())
    .addOption(jsonOption())
    .action(acting(runList));
}

/** Makes the command that adds an entry. */
export function addCommand(): Command {
  return withWatcherOptions(withTableOptions(new Command('add')))
    .description('add a cluster to the table')
    .argument('<name>', 'the name of the cluster, which its watcher has too')
    .argument('<file>', 'a JSON file with the entry')
    .option('--replace', 'replace the entry of this cluster', false)
    .addHelpText('after', addText)
    .action(acting(runAdd));
}

async function runAdd(name: string, file: string, { replace, ...flags }: AddFlags): Promise<number> {
  const value = await readEntry(name, file);
  const watcher = await readWatcher(flags);
  let kept: readonly string[] = [];
  const status = await change(flags, (entries) => {
    const added = withEntry(entries, { name, value, replace });
    kept = Object.keys(keptFields(entries, name, value));
    return watcher === undefined ? added : withWatcher(added, name, watcher);
  });
  if (kept.length > 0) printLines([`${name} keeps of its former entry: ${kept.join(', ')}`]);
  return status;
}

type AddFlags = TableFlags & WatcherFlags & { readonly replace: boolean };

const addText = `
Example of an entry:
  {"server": "https://host", "ca": "<base64>", "access": {"type": "eks", "cluster": "prod-1", "region": "eu-central-1"}}
--replace keeps who may send the keys of the cluster, and whether it is paused, decommissioned or moved, unless the file
says it (watchers, paused, decommissioning, movingTo, movingFrom).
Functions read the table again within a minute; a key of a cluster that they do not know yet makes them read at once.
A write is refused if another operator changed the table in the meantime: run the command again.
Exit status 1: nothing was written; the last line names the field and the next step.`;

/** Makes the command that names a watcher in an entry. */
export function setWatcherCommand(): Command {
  return withWatcherOptions(withTableOptions(new Command('set-watcher')))
    .description('name a watcher in the entry of a cluster, or its new id after its role was made again')
    .argument('<name>', 'the name of the cluster')
    .addHelpText('after', setWatcherText)
    .action(acting(runSetWatcher));
}

async function runSetWatcher(name: string, flags: TableFlags & WatcherFlags): Promise<number> {
  const watcher = await readWatcher(flags);
  if (watcher === undefined) throw new UserError('no watcher is named; give --watcher-role');
  return await change(flags, (entries) => withWatcher(entries, name, watcher));
}

const setWatcherText = `
Example:
  outrigger clusters set-watcher prod-1 --stage dev --watcher-role arn:aws:iam::123456789012:role/watcher
Once an entry names a watcher, the functions refuse the changes of that cluster from every other sender.
Exit status 1: nothing was written; the last line names the next step.`;

/** Makes the commands that pause and resume a cluster. */
export function pauseCommands(): readonly Command[] {
  const make = (command: 'pause' | 'resume', description: string, help: string) =>
    withTableOptions(new Command(command))
      .description(description)
      .argument('<name>', 'the name of the cluster')
      .addHelpText('after', help)
      .action(
        acting(async (name: string, flags: TableFlags) => {
          const location = await tableLocation(flags);
          const edit = { paused: command === 'pause', place: flags };
          await changeTable(location, flags, (entries) => withPaused(entries, name, edit));
          printLines([command === 'pause' ? pausedLine(name) : `${name} is resumed within a minute`]);
          return 0;
        }),
      );
  return [
    make('pause', 'pause a cluster: nothing of it is reconciled, and its keys are kept', pauseText),
    make('resume', 'resume a paused cluster', resumeText),
  ];
}

const pausedLine = (name: string) => `${name} is paused within a minute; reconciles that run are finished`;

const pauseText = `
Example:
  outrigger clusters pause prod-1 --stage dev
Functions read the table within a minute. From then on they do not call the cluster: its keys wait in the timers queue,
without an attempt and without a limit of time. Watchers go on; deleted objects wait for their finalizers.
outrigger pause CONTROLLER pauses a controller in every cluster instead.
Exit status 1: nothing was written; the last line names the next step.`;

const resumeText = `
Example:
  outrigger clusters resume prod-1 --stage dev
Each key that waits is reconciled within 15 minutes after that, and each key of a new change at once.
Exit status 1: nothing was written; the last line names the next step.`;

/** Makes the command that removes an entry. */
export function removeCommand(): Command {
  return withTableOptions(new Command('remove'))
    .description('remove a cluster from the table, after it was decommissioned')
    .argument('<name>', 'the name of the cluster')
    .action(
      acting((name: string, flags: TableFlags) => change(flags, (entries) => withoutEntry(entries, name, flags))),
    );
}

/** Makes the command that copies parameters into the table. */
export function migrateCommand(): Command {
  return withTableOptions(new Command('migrate'))
    .description('copy the entries that are parameters of Systems Manager into the table')
    .argument('<path>', 'the path of the parameters, such as /outrigger/dev/clusters/')
    .action(acting(runMigrate));
}

async function runMigrate(path: string, flags: TableFlags): Promise<number> {
  const copied = await readParameters(path, flags);
  const add = (entries: TableEntries, [name, value]: readonly [string, unknown]) =>
    withEntry(entries, { name, value, replace: false });
  return await change(flags, (entries) => [...copied].reduce(add, entries));
}

async function change(flags: TableFlags, edit: (entries: TableEntries) => TableEntries): Promise<number> {
  const location = await tableLocation(flags);
  const after = await changeTable(location, flags, edit);
  printLines([`${location} has ${namesOf(after)}`]);
  return 0;
}

async function runList({ output, ...flags }: TableFlags & { readonly output: Output }): Promise<number> {
  const location = await tableLocation(flags);
  const table = openTable(location, flags);
  const rows: Row[] = [];
  const problems: string[] = [...(await table.misnamed())];
  for (const name of await table.list()) {
    try {
      const entry = await table.get(name);
      if (entry === undefined) continue;
      const { access, server = 'in its kubeconfig', decommissioning = false, paused = false, watchers = [] } = entry;
      const move = moveOf(entry);
      const moving = move === undefined ? {} : { moving: move };
      rows.push({ name, access: access.type, server, decommissioning, paused, ...moving, watchers });
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      problems.push(error.message);
    }
  }
  if (output === 'json') printJson(rows);
  else printLines(rows.map(rowLine));
  for (const problem of problems) printError(`outrigger clusters list: ${problem}`);
  return problems.length === 0 ? 0 : 1;
}

type Row = Pick<ClusterEntry, 'server' | 'decommissioning' | 'paused'> & {
  readonly name: string;
  readonly access: string;
  /** `to STAGE` or `from STAGE`, while a move is under way. */
  readonly moving?: string;
  readonly watchers: readonly EntryWatcher[];
};

function rowLine({ name, access, server, decommissioning, paused, moving, watchers }: Row): string {
  const senders = watchers.map(({ arn, id }) => `  ${arn} (${id})`).join('');
  const state = decommissioning === true ? '  decommissioning' : paused === true ? '  PAUSED' : '';
  const move = moving === undefined ? '' : `  MOVING ${moving}`;
  return `${name}  ${access}  ${server}${state}${move}${senders}`;
}

async function readParameters(path: string, flag: RegionFlag): Promise<ReadonlyMap<string, unknown>> {
  const prefix = `${path.replace(/\/+$/, '')}/`;
  using client = disposable(new SSMClient(inRegion(flag)));
  const copied = await callWithin(readSeconds, undefined, async (abortSignal) => {
    const found = new Map<string, unknown>();
    const path = { Path: prefix, WithDecryption: true };
    for await (const page of paginateGetParametersByPath({ client }, path, { abortSignal }))
      for (const { Name = '', Value = '' } of page.Parameters ?? [])
        found.set(Name.slice(prefix.length), parseJson(Value) ?? null);
    return found;
  });
  if (copied.size === 0) throw new UserError(`${prefix}: no parameters there; name the path of the entries`);
  return copied;
}
