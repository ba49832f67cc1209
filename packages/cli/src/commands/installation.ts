// The installation that an operator's command works on: its queues and clusters. It is a deployment on AWS, chosen by
// options or by the environment, or the system that `outrigger dev` runs in this folder. Its queues are printed,
// because some commands change it.

import path from 'node:path';
import type { LambdaClientConfig } from '@aws-sdk/client-lambda';
import { GetQueueUrlCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { Command } from 'commander';
import type { Environment } from 'outrigger/internal/api/definition';
import { type Clusters, connectTo, createClusters } from 'outrigger/internal/clusters/connect';
import {
  type ClusterRegistry,
  type ClusterSource,
  createClusterRegistry,
} from 'outrigger/internal/clusters/registry/registry';
import { createDeferredSource, createFileSource, openClusterSource } from 'outrigger/internal/clusters/registry/source';
import { isClusterName } from 'outrigger/internal/core/cluster-name';
import { UserError } from 'outrigger/internal/core/errors';
import { deploymentPrefix, resyncQueue, timersQueue } from 'outrigger/internal/core/names';
import type { KubeClient } from 'outrigger/internal/kube/client/client';
import { environment, readOperatorSettings } from 'outrigger/internal/settings';
import { callWithin, isMissingQueue, sqsErrorReason } from 'outrigger/internal/sqs/call';
import { createSqsClient } from 'outrigger/internal/sqs/sqs-client';
import { localCluster } from '../dev/cluster-access.ts';
import { endedProcessOf } from '../dev/folder-lock.ts';
import { localRegion } from '../dev/lambda/account.ts';
import { createLocalSqsClient, urlPrefixOf } from '../dev/sqs-server.ts';
import { type DevState, readStateFile } from '../dev/state-file.ts';
import { readNamespaces, readProjectName } from '../project/project.ts';
import { printError, printIgnoredProxy } from './command.ts';
import { readGiven } from './given-settings.ts';
import { devFolder, placeOptions } from './place.ts';
import {
  awsAccess,
  type Deployed,
  inRegion,
  type RegionFlag,
  readDeployed,
  readTableLocation,
  readVariables,
} from './stage-table.ts';

/** The options that choose an installation. */
export type InstallationFlags = {
  readonly stage?: string;
  readonly region?: string | undefined;
  readonly folder: string;
};

/** The queues and clusters that a command works on. */
export type Installation = Disposable & {
  /** The name of the project. */
  readonly project: string;
  /** The only namespaces of the project; undefined: all. */
  readonly namespaces: readonly string[] | undefined;
  /** The system that runs here, or a deployment on AWS. */
  readonly on: 'this machine' | 'AWS';
  readonly sqs: SQSClient;
  /** How to make a client of Lambda, whose mappings can be paused. */
  readonly lambda: LambdaClientConfig;
  /** ` --stage prod --region eu-central-1`: how a printed command of outrigger chooses it, too. */
  readonly at: string;
  /** From --region; undefined without it. */
  readonly region: string | undefined;
  readonly urlPrefix: string;
  /** The entries of the clusters table; undefined if `clusters` is. */
  readonly registry: ClusterRegistry | undefined;
  /** Connects to the clusters of the table; undefined if the location of the table is not known. */
  readonly clusters: Clusters | undefined;
  /** The cluster of a key without one. */
  readonly defaultCluster: string | undefined;
  /** Reads the variables that have the settings of controllers. Throws UserError. */
  readonly environment: () => Promise<Environment>;
  /** Reads what is deployed; undefined if that is not known here. */
  readonly deployed: () => Promise<Deployed | undefined>;
};

const callSeconds = 10;
const lambdaAttempts = 2;

/** Adds the options that choose an installation, and their help. */
export function withInstallationOptions(command: Command): Command {
  return command
    .option('--stage <name>', 'the deployment of that stage on AWS, as osls deploy --stage named it')
    .option('--region <name>', 'its AWS region; by default from AWS_REGION or your profile')
    .option('--folder <path>', 'the folder with the state.json of outrigger dev', devFolder)
    .addHelpText('after', installationText);
}

const installationText = `
The installation: a deployment on AWS with --stage, or with QUEUE_URL_PREFIX (and CLUSTERS) in the environment as the
functions have them. Otherwise the system that runs here (outrigger dev), which .outrigger/state.json describes.`;

/** Opens the installation. Throws UserError if there is none, with the options that name one. */
export async function openInstallation(
  { stage, region, folder }: InstallationFlags,
  signal: AbortSignal,
): Promise<Installation> {
  const settings = readOperatorSettings();
  const project = await readProjectName(process.cwd());
  const namespaces = await readNamespaces(process.cwd());
  const at = inRegion({ region });
  if (stage !== undefined || settings.QUEUE_URL_PREFIX !== undefined) {
    const sqs = createSqsClient(at);
    const urlPrefix =
      stage === undefined
        ? (settings.QUEUE_URL_PREFIX ?? '')
        : await queueUrlPrefix(sqs, { prefix: deploymentPrefix(stage, project), stage, at }, signal);
    const source =
      stage === undefined
        ? sourceAt(settings.CLUSTERS, at)
        : createDeferredSource(async () => {
            const location = await readTableLocation(deploymentPrefix(stage, project), at, signal);
            return openClusterSource(location, awsAccess(at));
          });
    return connect({
      project,
      namespaces,
      on: 'AWS',
      sqs,
      urlPrefix,
      source,
      defaultCluster: undefined,
      environment: async () => environment(),
      lambda: { maxAttempts: lambdaAttempts, ...at },
      at: placeOptions({ stage, region }),
      region,
      deployed: async () =>
        stage === undefined ? undefined : await readDeployed(deploymentPrefix(stage, project), at, signal),
    });
  }
  const file = path.join(folder, 'state.json');
  const state = await readStateFile(file);
  if (state?.queues[timersQueue] === undefined) {
    throw new UserError(`nothing runs here (no ${file}): start outrigger dev, or name a deployment with --stage`);
  }
  const ended = await endedProcessOf(folder);
  if (ended !== undefined) printError(`the outrigger dev of ${folder} was killed (process ${ended}); start it again`);
  return connect({
    project,
    namespaces,
    on: 'this machine',
    sqs: createLocalSqsClient(state.queueEndpoint),
    at: placeOptions({ folder }),
    region,
    lambda: localLambda(state),
    urlPrefix: urlPrefixOf(state.queues),
    source: createFileSource(path.join(folder, 'clusters.json')),
    defaultCluster: localCluster,
    environment: async () => await localSettings(state),
    // Its queues give every sender the same id.
    deployed: async () => ({ senderCheck: 'off' }),
  });
}

/** Whether `outrigger dev` runs in a folder. Throws UserError for a state file of another format. */
export async function isLocalRunning(folder: string): Promise<boolean> {
  const state = await readStateFile(path.join(folder, 'state.json'));
  return state !== undefined && (await endedProcessOf(folder)) === undefined;
}

/** The client of the Lambda API of the local system. */
export function localLambda({ lambda: endpoint }: Pick<DevState, 'lambda'>): LambdaClientConfig {
  return {
    maxAttempts: lambdaAttempts,
    endpoint,
    region: localRegion,
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  };
}

function connect({
  source,
  ...parts
}: Omit<Installation, typeof Symbol.dispose | 'clusters' | 'registry'> & {
  readonly source: ClusterSource | undefined;
}): Installation {
  printError(`queues: ${parts.urlPrefix}`);
  if (parts.on === 'AWS') printIgnoredProxy();
  const now = () => new Date();
  const registry = source === undefined ? undefined : createClusterRegistry(source, { now });
  const clusters =
    registry === undefined ? undefined : createClusters(registry, { now, client: { userAgent: 'outrigger-cli' } });
  const end = () => {
    parts.sqs.destroy();
    clusters?.close();
  };
  return { ...parts, registry, clusters, [Symbol.dispose]: end };
}

function sourceAt(location: string | undefined, at: RegionFlag): ClusterSource | undefined {
  return location === undefined ? undefined : openClusterSource(location, awsAccess(at));
}

/**
 * Finds the prefix of the queues' URLs, which contains the account id: every deployment has a timers queue. If that was
 * deleted, a function knows the prefix, so that doctor can print how to create it again.
 */
async function queueUrlPrefix(
  sqs: SQSClient,
  { prefix, stage, at }: { readonly prefix: string; readonly stage: string; readonly at: RegionFlag },
  signal: AbortSignal,
): Promise<string> {
  const QueueName = `${prefix}${timersQueue}`;
  try {
    const { QueueUrl = '' } = await callWithin(callSeconds, signal, (abortSignal) =>
      sqs.send(new GetQueueUrlCommand({ QueueName }), { abortSignal }),
    );
    return QueueUrl.slice(0, -timersQueue.length);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (!isMissingQueue(error)) throw new UserError(`--stage ${stage}: ${sqsErrorReason(error)}`, { cause: error });
    const known = await readVariables(`${prefix}${resyncQueue}`, at, signal).catch(() => undefined);
    signal.throwIfAborted();
    if (known?.QUEUE_URL_PREFIX !== undefined) return known.QUEUE_URL_PREFIX;
    throw new UserError(
      `--stage ${stage}: there is no queue ${QueueName} in this account and region; ` +
        'name another --stage or --region, or deploy this one',
    );
  }
}

/**
 * Reads the settings of controllers as the functions of the local system have them: the URLs of its simulators
 * (`PLANT_URL`), unless another one is given. Throws UserError.
 */
export async function localSettings(
  { simulators }: Pick<DevState, 'simulators'>,
  set: readonly string[] = [],
): Promise<Environment> {
  const urls = Object.entries(simulators).map(([name, url]) => [`${name.toUpperCase()}_URL`, url]);
  return {
    ...Object.fromEntries(urls),
    ...(await readGiven({ set, environment: environment(), root: process.cwd() })),
  };
}

/**
 * Returns the named cluster, or the only cluster of `outrigger dev`. Throws UserError, also for a name that the
 * clusters table does not have. Where the location of the table is not known, the name is not checked.
 */
export async function requireClusterName(
  given: string | undefined,
  { defaultCluster, registry }: Pick<Installation, 'defaultCluster' | 'registry'>,
): Promise<string> {
  const name = given ?? defaultCluster;
  if (name === undefined) throw new UserError('no cluster is named; name one with --cluster');
  if (!isClusterName(name)) throw new UserError(`--cluster ${JSON.stringify(name)}: not the name of a cluster`);
  const all = (await registry?.list()) ?? [name];
  if (all.includes(name)) return name;
  throw new UserError(`cluster ${JSON.stringify(name)}: is not in the clusters table; name one of ${all.join(', ')}`);
}

/** Connects to a cluster of the table. Throws UserError, also for an entry that is not valid. */
export async function clusterClient(
  installation: Pick<Installation, 'clusters'>,
  cluster: string,
): Promise<KubeClient> {
  const found = await requireRegistry(installation.clusters).find(cluster);
  const client = await connectTo(found);
  if (client !== undefined) return client;
  const reason = found.type === 'decommissioning' ? 'is being decommissioned' : 'is not in the clusters table';
  throw new UserError(`cluster ${JSON.stringify(cluster)}: ${reason}; name one with --cluster`);
}

/** Returns the clusters table. Throws UserError if its location is not known. */
export function requireRegistry<T>(table: T | undefined): T {
  if (table !== undefined) return table;
  throw new UserError(
    'the location of the clusters table is not set; set CLUSTERS (s3://bucket/clusters.json), or give --stage',
  );
}
