// The watcher's process: settings, cluster, queues, and an end that loses nothing. It ends with 1 for what only its owner can
// mend, found at the start; an outage never ends it.
import { ConnectionProblem } from '../clusters/connection-problem.ts';
import { SettingsError, toError } from '../core/errors.ts';
import { redact } from '../core/redact.ts';
import { parseWatchList } from '../core/watch-list.ts';
import { createClient } from '../kube/client/client.ts';
import { waitReally } from '../core/time.ts';
import { createSend } from '../queue/send.ts';
import { createSqsClient } from '../queue/sqs-client.ts';
import { readWatcherSettings } from '../settings.ts';
import { checkApiServer, checkQueues } from './check-start.ts';
import { steadyNow } from './clock.ts';
import { createCursor } from './cursor.ts';
import { createDirectBatch } from '../sqs/direct-batch.ts';
import { createLog } from './log.ts';
import { reachCluster } from './reach-cluster.ts';
import { startWatcher, type Watcher } from './start.ts';

/** A pod has 30 s (terminationGracePeriodSeconds); the cursor is written after this. */
const drainSeconds = 10;

const write = (line: string) => process.stdout.write(line);
const readable = process.stdout.isTTY === true;

/**
 * Runs the watcher until this process is told to end, and ends the process.
 * @param watchList what `outrigger generate` wrote to watch-list.json
 */
export async function runWatcher(watchList: unknown): Promise<void> {
  const starting = new AbortController();
  const stopStarting = () => starting.abort();
  process.once('SIGTERM', stopStarting);
  process.once('SIGINT', stopStarting);
  try {
    const watcher = await start(watchList, starting.signal);
    const stop = () => void end(watcher);
    process.once('SIGTERM', stop);
    process.once('SIGINT', stop);
    if (starting.signal.aborted) stop();
  } catch (thrown) {
    if (starting.signal.aborted) process.exit(0);
    fail(thrown);
  }
}

async function start(watchList: unknown, signal: AbortSignal): Promise<Watcher> {
  const settings = readWatcherSettings();
  const log = createLog(write, { readable, least: settings.LOG_LEVEL, fields: { cluster: settings.CLUSTER } });
  const { connection, source } = await reachCluster(settings);
  const client = createClient(connection, { userAgent: 'outrigger-watcher' });
  const sqs = createSqsClient();
  const away = await checkApiServer(client, source, { signal });
  if (away !== undefined) log.warn('no answer from the API server yet, going on', { error: redact(away.message) });
  await checkQueues(sqs, settings.QUEUE_URL_PREFIX, { signal });
  return await startWatcher(
    {
      watchList: parseWatchList(watchList),
      client,
      send: createSend(sqs, settings.QUEUE_URL_PREFIX, { sendBatch: createDirectBatch(sqs) }),
      cursor: createCursor(
        { client, log, now: steadyNow, wait: waitReally },
        { writeSeconds: settings.CURSOR_SECONDS },
      ),
      log,
    },
    {
      cluster: settings.CLUSTER,
      namespace: settings.WATCH_NAMESPACE,
      queues: [settings.QUEUE_URL_PREFIX, settings.QUEUES_ID].join(' '),
      bulkPerSecond: settings.RESYNC_PER_SECOND,
      pace: { perSecond: settings.FORWARD_PER_SECOND, burst: settings.FORWARD_BURST },
      host: settings.HOST,
      port: settings.PORT,
    },
  );
}

async function end(watcher: Watcher): Promise<void> {
  const log = createLog(write, { readable });
  try {
    const left = await watcher.stop({ drainSeconds });
    if (left > 0) log.warn('keys not sent before the end; the next start sends them', { keys: left });
    log.info('stopped');
    process.exit(0);
  } catch (thrown) {
    fail(thrown);
  }
}

/** One line for a person; a trace only for what should not happen. */
function fail(thrown: unknown): never {
  const error = toError(thrown);
  const known = thrown instanceof SettingsError || thrown instanceof ConnectionProblem;
  const trace = known ? {} : { stack: redact(error.stack ?? '') };
  createLog(write, { readable }).error('the watcher cannot run', { error: redact(error.message), ...trace });
  process.exit(1);
}
