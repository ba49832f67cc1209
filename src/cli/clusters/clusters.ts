// `outrigger clusters access`: prints the shell commands that give the functions access to the clusters of the table.

import path from 'node:path';
import { SSMClient } from '@aws-sdk/client-ssm';
import { Command, Option } from 'commander';
import { createClusterRegistry } from '../../clusters/registry/registry.ts';
import { openClusterSource } from '../../clusters/registry/source.ts';
import { UserError } from '../../core/errors.ts';
import { clustersLocation } from '../../core/names.ts';
import { accessEntries } from '../../generate/rbac/access-entries.ts';
import { readOperatorSettings } from '../../settings.ts';
import { printError, printJson, printLines, runCommand } from '../command.ts';
import { loadProject, readProjectName } from '../project.ts';
import { type AccessPlan, type AccessTarget, accessPlan, planLines } from './access-plan.ts';

type AccessFlags = {
  readonly stage: string;
  readonly region?: string;
  readonly table?: string;
  readonly user?: string;
  readonly fleetWatcher?: string | true;
  readonly output: 'text' | 'json';
};

/** Makes the command. */
export function clustersCommand(): Command {
  const access = new Command('access')
    .description('print the commands that give the functions access to each cluster of the table')
    .argument('[names...]', 'only these clusters')
    .requiredOption('--stage <name>', 'the deployment of the functions')
    .option('--region <name>', 'its AWS region; by default from AWS_REGION or your profile')
    .option('--table <location>', 'a JSON file with the table, or ssm:/path/; by default the table of the stage')
    .option(
      '--user <name>',
      'the user of the token or certificate, as kubectl auth whoami prints it: prints how to bind it',
    )
    .option('--fleet-watcher [role-arn]', 'also for a fleet watcher; for EKS clusters with the ARN of its role on AWS')
    .addOption(new Option('--output <format>', 'text or json').choices(['text', 'json']).default('text'))
    .addHelpText('after', accessText)
    .action(
      async (names: readonly string[], flags: AccessFlags) =>
        await runCommand('clusters access', async () => await runAccess(names, flags)),
    );
  return new Command('clusters').description('the clusters table').addCommand(access);
}

const accessText = `
The command changes nothing. It prints commands for a shell; read them and run them.
  outrigger clusters access --stage prod > access.sh
  outrigger clusters access eu-1 --stage prod --table clusters.json   before the entry is put into Systems Manager
An EKS cluster admits the role of each function with an access entry, in a group that has exactly that function's
permissions. For an existing entry use aws eks update-access-entry with the same options. The groups have permissions
once the generated roles are in the cluster: kubectl apply --server-side -k infra/kubernetes/generated.
Exit status 1: the table cannot be read, or one of its entries is not valid; the other entries are printed.`;

async function runAccess(
  names: readonly string[],
  { stage, region, table, user, fleetWatcher, output }: AccessFlags,
): Promise<number> {
  // These values become part of shell commands.
  if (!/^[A-Za-z0-9][A-Za-z0-9-]{0,40}$/.test(stage)) throw new UserError('--stage: letters, digits and - only');
  if (region !== undefined && !/^[a-z0-9-]+$/.test(region)) throw new UserError('--region: one like eu-central-1');
  if (user !== undefined && !/^[\w:.@/-]+$/.test(user))
    throw new UserError('--user: one name, without spaces or quotes');
  const project = await readProjectName(process.cwd());
  const isArn = typeof fleetWatcher === 'string';
  if (isArn && !/^arn:[\w:/+=,.@-]+$/.test(fleetWatcher))
    throw new UserError('--fleet-watcher: the ARN of a role, like arn:aws:iam::123456789012:role/NAME');
  const target = {
    ...{ project, stage, region, user },
    ...(fleetWatcher === undefined ? {} : { fleetWatcher: isArn ? { role: fleetWatcher } : {} }),
  };
  const { plans, problems } = await readPlans(names, tableLocation(stage, table, project), target);
  if (output === 'json') printJson(plans);
  else printLines(plans.flatMap(planLines));
  for (const problem of problems) printError(`outrigger clusters access: ${problem}`);
  return problems.length === 0 ? 0 : 1;
}

/** A file's path is made absolute, so that it cannot be mistaken for an `ssm:` location. */
function tableLocation(stage: string, table: string | undefined, project: string): string {
  const { CLUSTERS } = readOperatorSettings();
  if (table === undefined) return CLUSTERS ?? clustersLocation(stage, project);
  return table.startsWith('ssm:') ? table : path.resolve(table);
}

async function readPlans(
  names: readonly string[],
  location: string,
  deployment: AccessTarget,
): Promise<{ readonly plans: readonly AccessPlan[]; readonly problems: readonly string[] }> {
  const ssm = () => new SSMClient(deployment.region === undefined ? {} : { region: deployment.region });
  const table = createClusterRegistry(openClusterSource(location, ssm), { now: () => new Date() });
  const { registry } = await loadProject(process.cwd());
  const entries = accessEntries(registry, deployment.project);
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
      if (entry !== undefined) plans.push(accessPlan(name, entry, entries, deployment));
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      problems.push(error.message);
    }
  }
  return { plans, problems };
}
