// The process of the watcher: reads the settings, connects to the cluster (CLUSTER) or to every cluster of a table
// (CLUSTERS) and to the queues, starts the watcher and stops it on a signal without losing changes. Exit code 1 is for
// errors at the start that only the operator can fix. An outage never ends the process.
import type { SQSClient } from '@aws-sdk/client-sqs';
import { type CheckpointDeps, createWatchCheckpoint } from '../checkpoint/checkpoint.ts';
import { callerIdentity } from '../clusters/auth/aws-identity.ts';
import { loadServiceAccount, type ServiceAddress, serviceAccountSource } from '../clusters/auth/service-account.ts';
import { loadKubeconfig } from '../clusters/kubeconfig/load-kubeconfig.ts';
import { SettingsError, toError, UserError } from '../core/errors.ts';
import { ignoredProxy } from '../core/ignored-proxy.ts';
import type { Log } from '../core/log.ts';
import { monotonicNow, sleep } from '../core/time.ts';
import { parseWatchList, type WatchList } from '../core/watch-list.ts';
import { createClient } from '../kube/client/client.ts';
import type { Connection } from '../kube/client/connection.ts';
import { createListLimiter } from '../kube/client/limit-lists.ts';
import { environment, readAwsSettings, readWatcherSettings, type WatcherSettings } from '../settings.ts';
import { createDirectBatch } from '../sqs/direct-batch.ts';
import { createSend } from '../sqs/send.ts';
import { createSqsClient, createSqsTime } from '../sqs/sqs-client.ts';
import { checkApiServer, requireQueues } from './check-start.ts';
import { type ClusterWatcherOptions, startClusterWatcher } from './cluster-watcher.ts';
import { createFleet, tableRefreshSeconds } from './fleet.ts';
import { serveProbes } from './http.ts';
import { createLog } from './log.ts';
import { createMetrics } from './metrics.ts';
import { startWatcher, type Watcher } from './start.ts';
import { startTraces } from './traces.ts';

type Stoppable = Pick<Watcher, 'stop'>;

const userAgent = 'outrigger-watcher';

/** How often SQS is called at the start until it responds. */
const queueRetrySeconds = 1;
const identityRetrySeconds = 60;

/** The pod has 30 s (terminationGracePeriodSeconds). The watch checkpoint is written after the drain. */
const drainSeconds = 10;

const write = (line: string) => process.stdout.write(line);
const readable = process.stdout.isTTY === true;

/**
 * Runs the watcher until SIGTERM or SIGINT, then ends the process.
 * @param watchList the content of watch-list.json, which `outrigger manifests` writes
 */
export async function runWatcher(watchList: unknown): Promise<void> {
  const starting = new AbortController();
  const stopStarting = () => starting.abort();
  process.once('SIGTERM', stopStarting);
  process.once('SIGINT', stopStarting);
  try {
    const watcher = await start(watchList, starting.signal);
    let stopping: Promise<void> | undefined;
    // Ctrl-C reaches the whole process group, and the parent sends SIGTERM as well: both are one stop. The same signal
    // again ends the process at once, as nothing listens any more. It loses nothing: the watch checkpoint is older.
    const stop = () => {
      stopping ??= stopAndExit(watcher);
      return stopping;
    };
    process.once('SIGTERM', stop);
    process.once('SIGINT', stop);
    if (starting.signal.aborted) void stop();
  } catch (thrown) {
    if (starting.signal.aborted) process.exit(0);
    exitWithError(thrown);
  }
}

async function start(content: unknown, signal: AbortSignal): Promise<Stoppable> {
  const settings = readWatcherSettings();
  const watchList = parseWatchList(content);
  const { CLUSTER, CLUSTERS } = settings;
  if (CLUSTERS !== undefined) return await startFleet({ watchList, location: CLUSTERS }, settings, signal);
  return await startOne({ watchList, cluster: CLUSTER ?? '' }, settings, signal);
}

/** Opens the log, and warns of a proxy that the watcher does not use. */
function openLog({ LOG_LEVEL: minLevel }: WatcherSettings, fields = {}): Log {
  const log = createLog(write, { readable, minLevel, fields });
  const reason = ignoredProxy(environment());
  if (reason !== undefined) log.warn('proxy ignored', { reason });
  return log;
}

/** Opens what every watcher sends with. Resolves when the queues were checked once. */
async function openSending(settings: WatcherSettings, log: Log, signal: AbortSignal) {
  const sqs = createSqsClient();
  const hasQueues = await checkQueues(sqs, settings, log, signal);
  const senderId = learnIdentity(sqs, log, signal);
  const toSqsTime = createSqsTime(sqs);
  const send = createSend(sqs, settings.QUEUE_URL_PREFIX, { sendBatch: createDirectBatch(sqs) });
  return { hasQueues, senderId, toSqsTime, traced: await startTraces(send, settings, { log, toSqsTime }) };
}

/** Starts a watcher of one cluster. */
async function startOne(
  { watchList, cluster }: { readonly watchList: WatchList; readonly cluster: string },
  settings: WatcherSettings,
  signal: AbortSignal,
): Promise<Stoppable> {
  const log = openLog(settings, { cluster });
  const { connection, source } = await connectToCluster(settings);
  const client = createClient(connection, { userAgent });
  const unavailable = await checkApiServer(client, source, { signal });
  if (unavailable !== undefined) {
    log.warn('API server unavailable, retrying', { error: unavailable.message });
  }
  const { hasQueues, senderId, toSqsTime, traced } = await openSending(settings, log, signal);
  const watcher = await startWatcher(
    {
      watchList,
      client,
      send: traced.send,
      checkpoint: createCheckpoint({ client, log, project: watchList.project, senderId }, settings),
      log,
      toSqsTime,
      hasQueues,
    },
    { ...optionsOf(settings), cluster, host: settings.HOST, port: settings.PORT },
  );
  return { stop: async (drain) => await watcher.stop(drain).finally(traced.stop) };
}

/** Starts a fleet watcher. A clusters table that cannot be read yet is retried: an outage never ends the process. */
async function startFleet(
  { watchList, location }: { readonly watchList: WatchList; readonly location: string },
  settings: WatcherSettings,
  signal: AbortSignal,
): Promise<Stoppable> {
  const log = openLog(settings);
  // Imported on demand: a watcher of one cluster needs neither the clients of AWS nor kubeconfigs.
  const { openClusters } = await import('../clusters/open-clusters.ts');
  const options = { ...readAwsSettings(), refreshSeconds: tableRefreshSeconds };
  const { table, clusters } = openClusters(location, userAgent, options);
  const { hasQueues, senderId, toSqsTime, traced } = await openSending(settings, log, signal);
  const { send } = traced;
  const metrics = createMetrics();
  const lists = createListLimiter();
  /** The errors of the names in the table that is in use. */
  let logged: ReadonlySet<string> = new Set();
  const fleet = createFleet(
    {
      list: async () => {
        const names = await table.list();
        // The clusters that are known stay watched, and the fleet reports the failure.
        const failure = table.failure();
        if (failure !== undefined) throw failure;
        const misnamed = await table.misnamed();
        for (const error of misnamed) if (!logged.has(error)) log.warn('entry ignored', { error });
        logged = new Set(misnamed);
        return names;
      },
      find: clusters.find,
      start: (cluster, found) => {
        const clusterLog = createLog(write, { readable, minLevel: settings.LOG_LEVEL, fields: { cluster } });
        const client = lists.limit(found);
        return startClusterWatcher(
          {
            watchList,
            client,
            send,
            toSqsTime,
            metrics: metrics.of(cluster),
            log: clusterLog,
            checkpoint: createCheckpoint({ client, log: clusterLog, project: watchList.project, senderId }, settings),
            onWatching: (watching) => clusterLog.info('watching', watching),
          },
          { ...optionsOf(settings), cluster },
        );
      },
      log,
      now: monotonicNow,
      wait: sleep,
      random: Math.random,
    },
    settings.SHARD === undefined ? {} : { shard: settings.SHARD },
  );
  const probes = { ...fleet.probes, ready: () => hasQueues() && fleet.probes.ready() };
  const server = await serveProbes({ probes, metrics }, { host: settings.HOST, port: settings.PORT });
  const following = new AbortController();
  const running = fleet.run(following.signal);
  log.info('fleet watcher started', { port: server.port, ...(settings.SHARD === undefined ? {} : settings.SHARD) });
  return {
    stop: async (drain) => {
      following.abort();
      await running;
      const left = await fleet.stop(drain);
      clusters.close();
      await server.close();
      await traced.stop();
      return left;
    },
  };
}

/**
 * Checks the queues, and again until SQS lets this process send. Returns whether it has: a watcher with a wrong role is
 * not ready, so that a rollout does not replace one that works. A later outage does not count.
 */
async function checkQueues(
  sqs: SQSClient,
  settings: WatcherSettings,
  log: Log,
  signal: AbortSignal,
): Promise<() => boolean> {
  let maySend = false;
  let logged: string | undefined;
  const check = async () => {
    const unavailable = await requireQueues(sqs, settings.QUEUE_URL_PREFIX, { signal });
    maySend = unavailable === undefined;
    if (unavailable !== undefined && unavailable.message !== logged)
      log.warn('SQS unavailable, retrying', { error: unavailable.message });
    logged = unavailable?.message;
  };
  const retry = async () => {
    while (!maySend) {
      await sleep(queueRetrySeconds, signal);
      // A queue that does not exist is an error of the sender, which retries by itself.
      await check().catch(() => undefined);
    }
  };
  await check();
  retry().catch(() => undefined); // It ends when the watcher is stopped.
  return () => maySend;
}

/**
 * Asks STS which role or user SQS names as the sender, logs it, and returns its id once it is known. The cluster's
 * entry needs the id. STS requires no permission. Nothing depends on the answer: a network may have no way to STS. It
 * is asked again, as a new identity of a pod is known to STS only after a while.
 */
function learnIdentity({ config }: SQSClient, log: Log, signal: AbortSignal): () => string | undefined {
  const { stsEndpoint, isQueueElsewhere } = readAwsSettings();
  const { credentials, region } = config;
  let known: string | undefined;
  if (isQueueElsewhere) return () => undefined;
  const ask = async () => {
    for (let tries = 0; ; tries += 1) {
      try {
        const { arn, id } = await callerIdentity({ credentials, region, endpoint: stsEndpoint, now: () => new Date() });
        known = id;
        return log.info('sends as', { arn, id });
      } catch (error) {
        if (tries === 0) log.info('own identity on AWS unknown', { error: toError(error).message });
      }
      await sleep(identityRetrySeconds, signal);
    }
  };
  ask().catch(() => undefined); // It ends when the watcher is stopped.
  return () => known;
}

function createCheckpoint(
  deps: Pick<CheckpointDeps, 'client' | 'log' | 'project' | 'senderId'>,
  { CHECKPOINT_SECONDS: writeSeconds }: WatcherSettings,
) {
  return createWatchCheckpoint({ ...deps, now: Date.now, wait: sleep }, { writeSeconds });
}

function optionsOf(settings: WatcherSettings): Omit<ClusterWatcherOptions, 'cluster'> {
  return {
    namespaces: settings.WATCH_NAMESPACES,
    queues: [settings.QUEUE_URL_PREFIX, settings.QUEUE_GENERATION].join(' '),
    lowPriorityPerSecond: settings.RESYNC_PER_SECOND,
    rateLimit: { perSecond: settings.RATE_LIMIT_PER_SECOND, burst: settings.RATE_LIMIT_BURST },
  };
}

async function stopAndExit(watcher: Stoppable): Promise<void> {
  const log = createLog(write, { readable });
  try {
    const left = await watcher.stop({ drainSeconds });
    if (left > 0) log.warn('stopped before all keys were sent; they are sent after the next start', { keys: left });
    log.info('stopped');
    process.exit(0);
  } catch (thrown) {
    exitWithError(thrown);
  }
}

/** Logs one line, with a stack trace only for unexpected errors, and exits with 1. */
function exitWithError(thrown: unknown): never {
  const error = toError(thrown);
  const isExpected = thrown instanceof SettingsError || thrown instanceof UserError;
  const trace = isExpected ? {} : { stack: error.stack ?? '' };
  createLog(write, { readable }).error('watcher failed to start', { error: error.message, ...trace });
  process.exit(1);
}

/** A connection to the cluster, and where it was read from, for error messages. */
type ClusterConnection = { readonly connection: Connection; readonly source: string };

/** Loads the connection: the pod's service account, or a kubeconfig. Throws a UserError. */
async function connectToCluster(settings: WatcherSettings): Promise<ClusterConnection> {
  const { KUBECONFIG: paths, KUBECONFIG_CONTEXT: context } = settings;
  const address = paths === undefined ? addressOf(settings) : undefined;
  if (address !== undefined) return { connection: await loadServiceAccount(address), source: serviceAccountSource };
  return { connection: await loadKubeconfig({ paths, context }), source: paths ?? 'kubeconfig' };
}

function addressOf({
  KUBERNETES_SERVICE_HOST: host,
  KUBERNETES_SERVICE_PORT: port,
}: WatcherSettings): ServiceAddress | undefined {
  return host === undefined ? undefined : { host, port };
}
