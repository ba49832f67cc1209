// `outrigger clusters`: the commands of the clusters table. This file has `access`, which prints the shell commands
// that give the functions access to the clusters of the table, or take it away.

import { Command } from 'commander';
import { UserError } from 'outrigger/internal/core/errors';
import { accessEntries } from 'outrigger/internal/generate/rbac/access-entries';
import { watchListOf } from 'outrigger/internal/generate/watch-list';
import { loadProject, readNamespaces, readProjectName } from '../../project/project.ts';
import { acting, jsonOption, outputOption, printError, printJson, printLines } from '../command.ts';
import { type AccessPlan, type AccessTarget, accessPlan, planLines } from './access-plan.ts';
import { decommissionCommand } from './decommission.ts';
import {
  addCommand,
  listCommand,
  migrateCommand,
  pauseCommands,
  removeCommand,
  setWatcherCommand,
} from './edit-commands.ts';
import { moveCommand } from './move/command.ts';
import { openTable, tableLocation } from './table.ts';

type AccessFlags = {
  readonly stage: string;
  readonly region?: string;
  readonly table?: string;
  readonly user?: string;
  readonly fleetWatcher?: string | true;
  readonly revoke?: true;
  readonly output: 'text' | 'json';
};

/** Makes the command. */
export function clustersCommand(): Command {
  const access = new Command('access')
    .description('print the commands that give the functions access to each cluster of the table')
    .argument('[names...]', 'only these clusters')
    .requiredOption('--stage <name>', 'the deployment of the functions')
    .option('--region <name>', 'its AWS region; by default from AWS_REGION or your profile')
    .option('--table <location>', 's3://bucket/key, ssm:/path/ or a JSON file; by default the table of the stage')
    .option(
      '--user <name>',
      'the user of the token or certificate, as kubectl auth whoami prints it: prints how to bind it',
    )
    .option('--fleet-watcher [role-arn]', 'also for a fleet watcher; for EKS clusters with the ARN of its role on AWS')
    .option('--revoke', 'print the commands that take the access away, from the functions of --region')
    .addOption(outputOption())
    .addOption(jsonOption())
    .addHelpText('after', accessText)
    .action(acting(runAccess));
  const commands = [
    listCommand(),
    addCommand(),
    setWatcherCommand(),
    ...pauseCommands(),
    moveCommand(),
    decommissionCommand(),
    removeCommand(),
    migrateCommand(),
    access,
  ];
  return commands.reduce(
    (clusters, command) => clusters.addCommand(command),
    new Command('clusters').description('the clusters table'),
  );
}

const accessText = `
The command changes nothing. It prints commands for a shell; read them and run them.
  outrigger clusters access --stage prod > access.sh
  outrigger clusters access eu-1 --stage prod --table clusters.json   before the entry is added to the table
An EKS cluster admits the role of each function with an access entry, in a group that has exactly that function's
permissions. For an existing entry use aws eks update-access-entry with the same options. The groups have permissions
once the generated roles are in the cluster: kubectl apply --server-side -k dist/kubernetes.
Exit status 1: the table cannot be read, or one of its entries is not valid; the other entries are printed.`;

async function runAccess(
  names: readonly string[],
  { stage, region, table, user, fleetWatcher, revoke, output }: AccessFlags,
): Promise<number> {
  // These values become part of shell commands.
  if (!/^[A-Za-z0-9][A-Za-z0-9-]{0,40}$/.test(stage)) throw new UserError('--stage: letters, digits and - only');
  if (region !== undefined && !/^[a-z0-9-]+$/.test(region)) throw new UserError('--region: one like eu-central-1');
  if (revoke === true && region === undefined) throw new UserError('--revoke: give the --region of the functions');
  if (user !== undefined && !/^[\w:.@/-]+$/.test(user))
    throw new UserError('--user: one name, without spaces or quotes');
  const project = await readProjectName(process.cwd());
  const isArn = typeof fleetWatcher === 'string';
  if (isArn && !/^arn:[\w:/+=,.@-]+$/.test(fleetWatcher))
    throw new UserError('--fleet-watcher: the ARN of a role, like arn:aws:iam::123456789012:role/NAME');
  const target = {
    project,
    stage,
    region,
    user,
    revoke,
    ...(fleetWatcher === undefined ? {} : { fleetWatcher: isArn ? { role: fleetWatcher } : {} }),
  };
  const location = await tableLocation({ stage, table, region });
  const { plans, problems } = await readPlans(names, location, target);
  if (output === 'json') printJson(plans);
  else printLines(plans.flatMap(planLines));
  const unfenced = plans.filter(({ access, steps }) => revoke === true && access !== 'none' && steps.length === 0);
  const open = unfenced.map(
    ({ cluster }) => `cluster "${cluster}": not fenced; give --user NAME, or delete the credential of its functions`,
  );
  for (const problem of [...problems, ...open]) printError(`outrigger clusters access: ${problem}`);
  return problems.length + open.length === 0 ? 0 : 1;
}

async function readPlans(
  names: readonly string[],
  location: string,
  deployment: Omit<AccessTarget, 'watchList'>,
): Promise<{ readonly plans: readonly AccessPlan[]; readonly problems: readonly string[] }> {
  const table = openTable(location, { region: deployment.region });
  const { registry } = await loadProject(process.cwd());
  const namespaces = await readNamespaces(process.cwd());
  const entries = accessEntries(registry, deployment.project, namespaces);
  const target = { ...deployment, watchList: watchListOf(registry, deployment.project, namespaces) };
  const known = await table.list();
  if (known.length === 0)
    throw new UserError(`no cluster in ${location}; put one there, or name another --stage or --table`);
  const plans: AccessPlan[] = [];
  const problems = names
    .filter((name) => !known.includes(name))
    .map((name) => `cluster "${name}": not in ${location}; it has ${known.join(', ')}`);
  for (const name of known.filter((one) => names.length === 0 || names.includes(one))) {
    try {
      const entry = await table.get(name);
      if (entry !== undefined) plans.push(accessPlan(name, entry, entries, target));
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      problems.push(error.message);
    }
  }
  return { plans, problems };
}
