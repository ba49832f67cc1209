// `outrigger clusters move`: takes a cluster from the functions of one stage to those of another. This file connects
// the steps with AWS and with the cluster.
import { Command } from 'commander';
import { type ClusterEntry, parseEntry } from 'outrigger/internal/clusters/registry/entry';
import { longestRefreshSeconds } from 'outrigger/internal/clusters/registry/source';
import { UserError } from 'outrigger/internal/core/errors';
import { deploymentPrefix } from 'outrigger/internal/core/names';
import { sleep } from 'outrigger/internal/core/time';
import type { KubeClient } from 'outrigger/internal/kube/client/client';
import { retryingClient } from 'outrigger/internal/kube/client/retrying-client';
import { readAwsSettings } from 'outrigger/internal/settings';
import { createSend } from 'outrigger/internal/sqs/send';
import { loadProject, readNamespaces } from '../../../project/project.ts';
import { acting, printLines } from '../../command.ts';
import { type Installation, openInstallation } from '../../installation.ts';
import { connectKubeconfig } from '../../kubeconfig-client.ts';
import { type Place, placeOptions } from '../../place.ts';
import { awsAccess, type RegionFlag, readTableLocation } from '../../stage-table.ts';
import { connectEntry } from '../connect-entry.ts';
import { readEntry } from '../read-entry.ts';
import { changeTable, readTable } from '../table.ts';
import { readWatcher, type WatcherFlags, withWatcherOptions } from '../watcher-options.ts';
import { eksAccessEntries } from './eks-access-entries.ts';
import { createFence } from './fence.ts';
import { readFunctions, type StageFunction } from './functions.ts';
import type { MoveEntries, MoveTiming } from './plan.ts';
import { type MoveDeps, moveCluster } from './run.ts';
import { sendEveryKey } from './send-keys.ts';
import { readWatched } from './watched.ts';

type Flags = RegionFlag &
  WatcherFlags & {
    readonly stage: string;
    readonly to: string;
    readonly entry?: string;
    readonly kubeconfig?: string;
    readonly context?: string;
    readonly queueGeneration: string;
  };

/** Makes the command. */
export function moveCommand(): Command {
  return withWatcherOptions(new Command('move'))
    .description('move a cluster to the functions of another stage, for example to try a version on one cluster')
    .argument('<name>', 'the name of the cluster')
    .requiredOption('--stage <name>', 'the deployment that has the cluster')
    .requiredOption('--to <stage>', 'the deployment that gets it')
    .option('--region <name>', 'the AWS region of both; by default from AWS_REGION or your profile')
    .option(
      '--entry <file>',
      'a JSON file with the entry for the second deployment; by default that of the first (EKS)',
    )
    .option('--kubeconfig <file>', 'the cluster, as an administrator; not needed for EKS')
    .option('--context <name>', 'which context of the kubeconfig')
    .option('--queue-generation <text>', 'QUEUE_GENERATION of the watcher of the second deployment, if it has one', '')
    .addHelpText('after', moveText)
    .action(acting(run));
}

const moveText = `
Examples:
  outrigger clusters move eu-1 --stage prod --to canary
  outrigger clusters move lab --stage prod --to canary --entry lab-canary.json --kubeconfig admin.yaml
Run it in the project of the version that the second deployment has. It takes some minutes, in this order:
  1. The table of the second deployment gets the cluster. Nothing is reconciled there yet.
  2. The functions of the first one stop taking keys of the cluster; reconciles that run are finished.
  3. The first one's permissions in the cluster are removed: access entries on EKS, otherwise the bindings of its user.
  4. The second one gets its permissions. The command waits until a watcher sends to its queues: a fleet watcher does
     within a minute; for a watcher in the cluster, give QUEUE_URL_PREFIX its new value and apply its manifests.
  5. The second one reconciles, and is sent the key of every object. The first one deletes its messages of the cluster.
No key is lost, and no object is reconciled by both at once. Meanwhile nothing of the cluster is reconciled.
It can be ended at any time: run it again, and it continues. status and clusters list name a cluster that is under way.
Refused: one token for both deployments, and a cluster without credentials. There is no way to tell them apart.
Exit status 1: the move is not finished; the last line names the next step.`;

/**
 * The token cache of an API server's authenticator is 2 minutes by default (--authentication-token-webhook-cache-ttl),
 * and a change of access entries is not there at once ("eventually consistent"). Not documented for EKS.
 */
const eksRevokedSeconds = 300;
const marginSeconds = 10;
const watchedPollSeconds = 5;

async function run(name: string, flags: Flags, signal: AbortSignal): Promise<number> {
  const { stage: from, to } = flags;
  if (from === to) throw new UserError('--to: is the stage that has the cluster; name another one');
  const at: RegionFlag = { region: flags.region };
  await using parts = new AsyncDisposableStack();
  const open = async (stage: string): Promise<Stage> => {
    const installation = parts.use(await openInstallation({ stage, folder: '.', ...at }, signal));
    const { project, urlPrefix, lambda } = installation;
    const table = await readTableLocation(deploymentPrefix(stage, project), at, signal);
    return {
      installation,
      table,
      place: { stage, ...at },
      functions: await readFunctions(lambda, { stage, project, urlPrefix }, signal),
    };
  };
  const source = await open(from);
  const target = await open(to);
  if (source.table === target.table)
    throw new UserError(
      `both stages read the table ${source.table}, so every cluster is of both; deploy one with its own`,
    );

  const { registry } = await loadProject(process.cwd());
  const namespaces = await readNamespaces(process.cwd());
  const { project } = source.installation;
  const connect = async (entry: ClusterEntry) => await connectEntry(name, entry, at);
  const admin = await openAdmin(flags, parts);
  const readEntries = async (): Promise<MoveEntries> => {
    const [before, after] = await Promise.all([source, target].map(({ table, place }) => readTable(table, place)));
    return { source: entryIn(before, name), target: entryIn(after, name) };
  };
  /** Lists objects and reads the checkpoint: as the administrator, or with the operator's own credentials of AWS. */
  const operator = async () => {
    if (admin !== undefined) return admin;
    const { target: entry } = await readEntries();
    if (entry === undefined) throw new UserError(`cluster "${name}": is not in the table of ${to} any more`);
    return retryingClient(parts.use(await connect(entry)));
  };
  const targetEntry = await readTargetEntry(name, flags);
  const { credentials, now } = awsAccess(at);
  const queues = [target.installation.urlPrefix, flags.queueGeneration].join(' ');
  const deps: MoveDeps = {
    ...createFence(
      {
        admin,
        connect,
        registry,
        project,
        namespaces,
        wait: sleep,
        eks: (access) => eksAccessEntries(access, { credentials, now, endpoint: readAwsSettings().eksEndpoint }),
        functions: { source: source.functions, target: target.functions },
        at: placeOptions(target.place),
      },
      signal,
    ),
    read: readEntries,
    changeSource: async (change) => {
      await changeTable(source.table, source.place, (entries) => {
        const entry = entryIn(entries, name);
        if (entry === undefined) throw new UserError(`cluster "${name}": is not in the table of ${from} any more`);
        return new Map([...entries, [name, change(entry)]]);
      });
    },
    changeTarget: async (change) => {
      await changeTable(
        target.table,
        target.place,
        (entries) => new Map([...entries, [name, change(entryIn(entries, name))]]),
      );
    },
    targetEntry,
    untilWatched: async () => {
      const client = await operator();
      const watched = { cluster: name, registry, project, namespaces, queues };
      while (!(await readWatched(client, watched, { nowMs: Date.now(), signal })).byOurs)
        await sleep(watchedPollSeconds, signal);
    },
    sendEveryKey: async () => {
      const send = createSend(target.installation.sqs, target.installation.urlPrefix);
      const keys = { cluster: name, project, namespaces, nowMs: Date.now(), signal };
      return await sendEveryKey({ client: await operator(), send, registry }, keys);
    },
    now: Date.now,
    wait: sleep,
    report: (line) => printLines([`${name}: ${line}`]),
  };
  const { source: entry } = await readEntries();
  await moveCluster(deps, { name, from, to, region: flags.region }, timingOf(source.functions, entry), signal);
  return 0;
}

type Stage = {
  readonly installation: Installation;
  readonly table: string;
  readonly place: Place;
  readonly functions: readonly StageFunction[];
};

function timingOf(functions: readonly StageFunction[], entry: ClusterEntry | undefined): MoveTiming {
  const longest = Math.max(...functions.map(({ timeoutSeconds }) => timeoutSeconds)) + marginSeconds;
  return {
    drainSeconds: longestRefreshSeconds + longest,
    fenceSeconds: longest + (entry?.access.type === 'eks' ? eksRevokedSeconds : 0),
    refreshSeconds: longestRefreshSeconds,
  };
}

function entryIn(entries: ReadonlyMap<string, unknown> | undefined, name: string): ClusterEntry | undefined {
  return entries?.has(name) === true ? parseEntry(name, entries.get(name)) : undefined;
}

async function openAdmin({ kubeconfig, context }: Flags, parts: AsyncDisposableStack): Promise<KubeClient | undefined> {
  if (kubeconfig === undefined) return undefined;
  return retryingClient(parts.use(await connectKubeconfig(kubeconfig, context)));
}

/** Chooses the entry for the second stage: the given one, its own of an earlier move, or on EKS that of the first. */
async function readTargetEntry(name: string, { entry: file, ...flags }: Flags): Promise<MoveDeps['targetEntry']> {
  const given = file === undefined ? undefined : parseEntry(name, await readEntry(name, file));
  const watcher = await readWatcher(flags);
  return ({ source, target }) => {
    const own = given ?? target ?? (source?.access.type === 'eks' ? source : undefined);
    if (own === undefined)
      throw new UserError(
        `cluster "${name}": both stages need credentials of their own; give --entry FILE for the second`,
      );
    const isOthers = given === undefined && target === undefined && own.watchers !== undefined;
    if (isOthers && watcher === undefined)
      throw new UserError(
        `cluster "${name}": its entry names watchers; name the one that sends to the second stage: --watcher-role`,
      );
    return watcher === undefined ? own : { ...own, watchers: [watcher] };
  };
}
