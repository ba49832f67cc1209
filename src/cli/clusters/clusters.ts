// `outrigger clusters`: the clusters table, as far as a person has to do something about it.
import path from 'node:path';
import { SSMClient } from '@aws-sdk/client-ssm';
import { Command, Option } from 'commander';
import { ConnectionProblem } from '../../clusters/connection-problem.ts';
import { openClusterSource } from '../../clusters/open-source.ts';
import { createClusterTable } from '../../clusters/table.ts';
import { accessEntries } from '../../generate/rbac/access-entries.ts';
import { readOperatorSettings } from '../../settings.ts';
import { type AccessPlan, accessPlan, type Deployment, planLines } from './access-plan.ts';
import { OperatorProblem, operate } from '../operate.ts';
import { loadProject } from '../project.ts';

type AccessFlags = {
  readonly stage: string;
  readonly region?: string;
  readonly table?: string;
  readonly user?: string;
  readonly output: 'text' | 'json';
};

/** Makes the command. */
export function clustersCommand(): Command {
  const access = new Command('access')
    .description('print what each cluster of the table needs so that the functions get in')
    .argument('[names...]', 'only these clusters')
    .requiredOption('--stage <name>', 'the deployment whose functions are to get in')
    .option('--region <name>', 'its AWS region; else as AWS_REGION or your profile says')
    .option('--table <place>', 'a JSON file with the table, or ssm:/path/; else that of the stage')
    .option(
      '--user <name>',
      'who a token or certificate stands for, as kubectl auth whoami says: prints how to bind it',
    )
    .addOption(new Option('--output <format>', 'text or json').choices(['text', 'json']).default('text'))
    .addHelpText('after', accessText)
    .action(
      async (names: readonly string[], flags: AccessFlags) =>
        await operate('clusters access', async () => await runAccess(names, flags)),
    );
  return new Command('clusters').description('the clusters table').addCommand(access);
}

const accessText = `
Nothing is changed: what is printed is for a shell, read it and run it.
  outrigger clusters access --stage prod > access.sh
  outrigger clusters access eu-1 --stage prod --table clusters.json   before the entry is put into Systems Manager
An EKS cluster lets in the role of each function by an access entry, in a group that has exactly that function's rights. An entry
that is there already: aws eks update-access-entry, same options. The groups mean something once the generated roles are in the
cluster: kubectl apply --server-side -k infra/kubernetes/generated.
Exit status 1: the table cannot be read, or one of its entries cannot be used; the others are printed all the same.`;

async function runAccess(
  names: readonly string[],
  { stage, region, table, user, output }: AccessFlags,
): Promise<number> {
  // They become part of what a shell runs.
  if (!/^[A-Za-z0-9][A-Za-z0-9-]{0,40}$/.test(stage)) throw new OperatorProblem('--stage: letters, digits and - only');
  if (region !== undefined && !/^[a-z0-9-]+$/.test(region))
    throw new OperatorProblem('--region: one like eu-central-1');
  if (user !== undefined && !/^[\w:.@/-]+$/.test(user))
    throw new OperatorProblem('--user: one name, without spaces or quotes');
  const { plans, problems } = await readPlans(names, placeOf(stage, table), { stage, region, user });
  if (output === 'json') process.stdout.write(`${JSON.stringify(plans, null, 2)}\n`);
  else for (const line of plans.flatMap(planLines)) process.stdout.write(`${line}\n`);
  for (const problem of problems) process.stderr.write(`outrigger clusters access: ${problem}\n`);
  return problems.length === 0 ? 0 : 1;
}

/** A file is said as a path; one that begins like an address would be taken for a table of its own. */
function placeOf(stage: string, table: string | undefined): string {
  const { CLUSTERS } = readOperatorSettings();
  if (table === undefined) return CLUSTERS ?? `ssm:/outrigger/${stage}/clusters/`;
  return table.startsWith('ssm:') ? table : path.resolve(table);
}

async function readPlans(
  names: readonly string[],
  place: string,
  deployment: Deployment,
): Promise<{ readonly plans: readonly AccessPlan[]; readonly problems: readonly string[] }> {
  const ssm = () => new SSMClient(deployment.region === undefined ? {} : { region: deployment.region });
  const table = createClusterTable(openClusterSource(place, ssm), { now: () => new Date() });
  const { registry } = await loadProject(process.cwd());
  const entries = accessEntries(registry);
  const known = await table.list();
  if (known.length === 0)
    throw new OperatorProblem(`no cluster in ${place}; put one there, or name another --stage or --table`);
  const plans: AccessPlan[] = [];
  const problems = names
    .filter((name) => !known.includes(name))
    .map((name) => `cluster "${name}": not in ${place}; it has ${known.join(', ')}`);
  for (const name of known.filter((one) => names.length === 0 || names.includes(one))) {
    try {
      const entry = await table.get(name);
      if (entry !== undefined) plans.push(accessPlan(name, entry, entries, deployment));
    } catch (error) {
      if (!(error instanceof ConnectionProblem)) throw error;
      problems.push(error.message);
    }
  }
  return { plans, problems };
}
