// `outrigger doctor`: checks everything that a deployment needs, and prints a fix for every problem.
import { Command } from 'commander';
import type { ControllerDefinition } from 'outrigger/internal/api/definition';
import { connectTo } from 'outrigger/internal/clusters/connect';
import { parseEntry } from 'outrigger/internal/clusters/registry/entry';
import { loadOrList } from '../../project/list-controllers.ts';
import { acting, formatError, jsonOption, type Output, outputOption, printJson, printLines } from '../command.ts';
import {
  type Installation,
  type InstallationFlags,
  openInstallation,
  requireClusterName,
  withInstallationOptions,
} from '../installation.ts';
import { placeOptions } from '../place.ts';
import { colourOf } from '../terminal.ts';
import { checkAccount, checkPaused } from './check-account.ts';
import { checkAlarms } from './check-alarms.ts';
import { type ClusterReport, checkCluster, type Sender } from './check-cluster.ts';
import { checkQueues } from './check-queues.ts';
import { checkRuns } from './check-runs.ts';
import { checkSameServer } from './check-same-server.ts';
import { checkSenders } from './check-senders.ts';
import { expectedQueues } from './expected-queues.ts';
import { type Finding, failFinding, findingLines, passFinding, warnFinding } from './finding.ts';

type Flags = InstallationFlags & { readonly cluster?: string; readonly output: Output };

/** Makes the command. */
export function doctorCommand(): Command {
  return withInstallationOptions(new Command('doctor'))
    .description(
      'check credentials, queues, functions, clusters, permissions and versions, and print a fix for every finding',
    )
    .option('--cluster <name>', 'only this cluster')
    .addOption(outputOption())
    .addOption(jsonOption())
    .addHelpText('after', helpText)
    .action(acting(run));
}

const helpText = `
Examples:
  outrigger doctor                      the system that runs here (outrigger dev)
  outrigger doctor --stage prod
  outrigger doctor --stage prod --output json | jq '.[] | select(.state != "ok")'

It checks, with your credentials, and changes nothing:
  queues       each exists with its deployed attributes, and has no dead letters
  functions    each queue has one that works and is not paused; its log of the last 15 minutes has no crash, and no
               object that it cannot reach; the account has enough concurrency for all of them (on AWS only)
  clusters     each is reachable, new enough, serves the kinds and gives the functions their permissions (on EKS it is
               asked whether you have them), and its watchers are not down; no two entries have the same server
  senders      the functions check who sent a message, each cluster's entry names its watchers, and IAM has their
               roles with the ids of the entry
  this folder  the Node version of the functions
Exit status: 0 when nothing is wrong, 1 when something is. Warnings do not count.`;

async function run({ cluster, output, ...flags }: Flags, signal: AbortSignal): Promise<number> {
  const { problem, names, ...project } = await loadOrList(process.cwd());
  const registry = problem === undefined ? project.registry : undefined;
  using installation = await openInstallation(flags, signal);
  if (cluster !== undefined) await requireClusterName(cluster, installation);
  const deploy =
    installation.on === 'AWS'
      ? `if it was never deployed: npx osls deploy${placeOptions({ stage: 'STAGE', ...flags })}`
      : 'restart outrigger dev';
  const [{ findings: clusters, senders }, ...parts] = await Promise.all([
    checkClusters(installation, registry, cluster, signal),
    checkQueues(installation, expectedQueues(registry ?? [], names), { deploy, signal }),
    installation.on === 'AWS'
      ? checkAccount(installation, names, { deploy, signal })
      : checkPaused(installation, names, { signal }),
    installation.on === 'AWS' ? checkAlarms(installation, { deploy, signal }) : [],
    checkRuns(installation, names, { folder: flags.folder, signal }),
  ]);
  const checked = await checkSenders(installation, { only: cluster, senders });
  const findings = [
    ...credentialsFinding(installation),
    ...checkFolder(problem),
    ...parts.flat(),
    ...clusters,
    ...checked,
  ];
  if (output === 'json') printJson(findings);
  else printLines(findingLines(findings), colourOf);
  return findings.some(({ state }) => state === 'wrong') ? 1 : 0;
}

/** The queues were found, so the credentials are valid; their URL contains the account. */
function credentialsFinding({ on, urlPrefix }: Installation): readonly Finding[] {
  const [account = ''] = /\d{12}/.exec(urlPrefix) ?? [];
  return on === 'AWS' ? [passFinding('credentials', `accepted; the deployment is in account ${account}`)] : [];
}

function checkFolder(problem: string | undefined): readonly Finding[] {
  const [major = 0] = process.versions.node.split('.').map(Number);
  const node =
    major >= 24
      ? passFinding('node', process.version)
      : warnFinding('node', `${process.version}; functions run on 24`, 'run npm ci, then npx outrigger');
  if (problem === undefined) return [node];
  const unknown = 'its kinds, permissions, watchers, objects and the attributes of its queues were not checked';
  return [node, failFinding('registry', `${problem}; ${unknown}`, 'fix the registry')];
}

async function checkClusters(
  installation: Installation,
  registry: readonly ControllerDefinition[] | undefined,
  only: string | undefined,
  signal: AbortSignal,
): Promise<{ readonly findings: readonly Finding[]; readonly senders: ReadonlyMap<string, Sender> }> {
  const { registry: table, clusters, at } = installation;
  const without = (finding: Finding) => ({ findings: [finding], senders: new Map<string, Sender>() });
  if (table === undefined || clusters === undefined) {
    const fix = 'set CLUSTERS, or give --stage';
    return without(warnFinding('clusters', 'the location of the clusters table is not set', fix));
  }
  try {
    const names = only === undefined ? await table.list() : [only];
    const misnamed = only === undefined ? await table.misnamed() : [];
    const ignored = misnamed.map((error) => failFinding('clusters', 'an entry is ignored', error));
    if (names.length + ignored.length === 0)
      return without(warnFinding('clusters', 'the table is empty', `add a cluster: outrigger clusters add${at}`));
    const reports = await Promise.all(names.map((name) => checkEntry(installation, registry, name, signal)));
    const senders = reports.flatMap(({ sender }, index) =>
      sender === undefined ? [] : [[names[index] ?? '', sender] as const],
    );
    const same = only === undefined ? await checkSameServer(table, names, at) : [];
    const found = reports.flatMap(({ findings }) => findings);
    return { findings: [...ignored, ...same, ...found], senders: new Map(senders) };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    return without(failFinding('clusters', 'the table cannot be read', formatError(error)));
  }
}

async function checkEntry(
  { clusters, project, namespaces, on, urlPrefix, at, registry: table }: Installation,
  registry: readonly ControllerDefinition[] | undefined,
  name: string,
  signal: AbortSignal,
): Promise<ClusterReport> {
  const about = `cluster ${name}`;
  try {
    const found = await clusters?.find(name);
    const client = found === undefined ? undefined : await connectTo(found);
    if (client !== undefined) {
      // The queues on this machine have a generation, which is not known here.
      const queues = on === 'AWS' ? { urlPrefix } : {};
      const { access } = parseEntry(name, await table?.get(name));
      const options = { project, signal, namespaces, ...queues, at, asOperator: access.type === 'eks' };
      const report = await checkCluster(name, client, registry, options);
      if (found?.type !== 'paused') return report;
      const fix = `outrigger clusters resume ${name}${at}`;
      const paused = warnFinding(about, 'PAUSED: nothing of it is reconciled, its keys are postponed', fix);
      return { ...report, findings: [paused, ...report.findings] };
    }
    if (found?.type === 'decommissioning') {
      const fix = 'when its queues are empty, remove its entry from the table';
      return { findings: [warnFinding(about, 'is being decommissioned: its messages are deleted', fix)] };
    }
    const fix = `name one of the clusters that outrigger status${at} shows`;
    return { findings: [failFinding(about, 'is not in the clusters table', fix)] };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    return { findings: [failFinding(about, 'its entry is not valid', formatError(error))] };
  }
}
