// Where an operator's command works: which queues, which clusters. By option on AWS, else as the environment says, else on the
// system that `outrigger dev` runs in this folder. It is said aloud, because some of these commands change things.
import path from 'node:path';
import { GetQueueUrlCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { SSMClient } from '@aws-sdk/client-ssm';
import type { Command } from 'commander';
import { type Clusters, createClusters } from '../clusters/connect.ts';
import { openClusterSource } from '../clusters/open-source.ts';
import { type ClusterTable, createClusterTable } from '../clusters/table.ts';
import type { Environment } from '../core/controller.ts';
import { timersQueue } from '../core/names.ts';
import { localCluster } from '../dev/cluster-access.ts';
import { createLocalSqsClient } from '../dev/sqs-server.ts';
import { type DevState, readStateFile } from '../dev/state-file.ts';
import { callWithin } from '../queue/call-within.ts';
import { isMissingQueue, reasonOf } from '../queue/failed-call.ts';
import { createSqsClient } from '../queue/sqs-client.ts';
import { environment, readOperatorSettings } from '../settings.ts';
import { OperatorProblem } from './operate.ts';

/** The options that say where. */
export type PlaceFlags = { readonly stage?: string; readonly region?: string; readonly folder: string };

/** Where a command works. */
export type Place = {
  /** What runs here, or a deployment on AWS. */
  readonly on: 'this machine' | 'AWS';
  readonly sqs: SQSClient;
  readonly urlPrefix: string;
  /** The option and the setting of that name; undefined where neither was given. */
  readonly region: string | undefined;
  /** Who is in the clusters table; undefined as `clusters` is. */
  readonly table: ClusterTable | undefined;
  /** The clusters table; undefined where nothing says where it is. */
  readonly clusters: Clusters | undefined;
  /** The cluster that is meant when none is named. */
  readonly defaultCluster: string | undefined;
  /** What a controller's settings are read from. */
  readonly environment: Environment;
  close(): void;
};

const callSeconds = 10;

/** Gives a command the options that say where, and their explanation. */
export function withPlace(command: Command): Command {
  return command
    .option('--stage <name>', 'the deployment of that stage on AWS, as osls deploy --stage named it')
    .option('--region <name>', 'its AWS region; else as AWS_REGION or your profile says')
    .option('--folder <path>', 'where outrigger dev wrote its state.json', '.outrigger')
    .addHelpText('after', whereText);
}

const whereText = `
Where it works: on AWS with --stage, or with QUEUE_URL_PREFIX (and CLUSTERS) in the environment as the functions have them;
else on the system that runs here (outrigger dev), which .outrigger/state.json describes.`;

/** Opens the place. Throws OperatorProblem and DevProblem, which say how to name one. */
export async function openPlace({ stage, region, folder }: PlaceFlags, signal: AbortSignal): Promise<Place> {
  const settings = readOperatorSettings();
  const at = region === undefined ? {} : { region };
  if (stage !== undefined || settings.QUEUE_URL_PREFIX !== undefined) {
    const sqs = createSqsClient(at);
    const urlPrefix = stage === undefined ? (settings.QUEUE_URL_PREFIX ?? '') : await prefixOf(sqs, stage, signal);
    const table = stage === undefined ? settings.CLUSTERS : `ssm:/outrigger/${stage}/clusters/`;
    const more = { defaultCluster: undefined, environment: environment() };
    return place({ on: 'AWS', sqs, urlPrefix, clusters: table, ...more }, at);
  }
  const file = path.join(folder, 'state.json');
  const state = await readStateFile(file);
  const timers = state?.queues[timersQueue];
  if (state === undefined || timers === undefined) {
    throw new OperatorProblem(`nothing runs here (no ${file}): start outrigger dev, or name a deployment with --stage`);
  }
  return place(
    {
      on: 'this machine',
      sqs: createLocalSqsClient(state.queueEndpoint),
      urlPrefix: timers.slice(0, -timersQueue.length),
      clusters: path.join(folder, 'clusters.json'),
      defaultCluster: localCluster,
      environment: { ...environment(), ...settingsOf(state) },
    },
    at,
  );
}

function place(
  parts: Omit<Place, 'close' | 'clusters' | 'table' | 'region'> & { readonly clusters: string | undefined },
  at: { readonly region?: string },
): Place {
  process.stderr.write(`queues: ${parts.urlPrefix}\n`);
  const now = () => new Date();
  const source = parts.clusters === undefined ? undefined : openClusterSource(parts.clusters, () => new SSMClient(at));
  const table = source === undefined ? undefined : createClusterTable(source, { now });
  const clusters =
    table === undefined ? undefined : createClusters(table, { now, client: { userAgent: 'outrigger-cli' } });
  const close = () => {
    parts.sqs.destroy();
    clusters?.close();
  };
  return { ...parts, region: at.region, table, clusters, close };
}

/** Every deployment has a timers queue, and a queue's URL says the account, which nobody should have to know. */
async function prefixOf(sqs: SQSClient, stage: string, signal: AbortSignal): Promise<string> {
  const QueueName = `outrigger-${stage}-${timersQueue}`;
  try {
    const { QueueUrl = '' } = await callWithin(callSeconds, signal, (abortSignal) =>
      sqs.send(new GetQueueUrlCommand({ QueueName }), { abortSignal }),
    );
    return QueueUrl.slice(0, -timersQueue.length);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (!isMissingQueue(error)) throw new OperatorProblem(`--stage ${stage}: ${reasonOf(error)}`, { cause: error });
    throw new OperatorProblem(
      `--stage ${stage}: there is no queue ${QueueName} in this account and region; name another --stage or --region, or deploy this one`,
    );
  }
}

/** The sample worlds of one machine, under the names of the settings that say where they are (`PLANT_URL`). */
function settingsOf({ worlds }: DevState): Environment {
  return Object.fromEntries(Object.entries(worlds).map(([name, url]) => [`${name.toUpperCase()}_URL`, url]));
}
