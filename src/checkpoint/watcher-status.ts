// Whether the watchers of a cluster work, determined from outside. A watcher may only send keys, and one that is down
// sends none. The resync and the CLI therefore read the watch checkpoint, where the watchers store when they last
// received events.
import { toError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import { type Metrics, metricNames } from '../core/metrics.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { isForbidden } from '../kube/client/errors.ts';
import { readCheckpoint } from './config-map.ts';
import { type CheckpointDocument, parseCheckpoint } from './document.ts';

/**
 * Bookmarks arrive every 60 s, and the checkpoint is written every 60 s, so a working watcher can look two minutes old.
 * The rest is time for a watcher that restarts.
 */
const downAfterSeconds = 300;
/** Clocks differ by less, unless one is wrong. */
const maxSkewSeconds = 120;
/**
 * A new cluster gets its roles and its checkpoint first, then its entry in the clusters table, and its watchers last.
 * For this long no alarm is raised.
 */
const startupGraceSeconds = 1_800;

/** The dependencies of recording the watcher status. */
export type WatcherStatusDeps = {
  readonly log: Log;
  readonly metrics: Metrics;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Absent: the default project. */
  readonly project?: string | undefined;
};

/**
 * Counts WatcherDown for one cluster: 1 if its watchers received no events recently, or could not send their keys, or
 * their status is missing, 0 if they work or are still being installed. Counts nothing if the API server does not
 * respond; other requests to that cluster then report it. Never rejects.
 */
export async function recordWatcherDown(
  cluster: string,
  client: KubeClient,
  { log, metrics, now, project }: WatcherStatusDeps,
  { signal }: { readonly signal: AbortSignal },
): Promise<void> {
  try {
    const { unknown, ...status } = await readWatcherStatus(client, now(), { project, signal });
    // The resync has the permission, unless the roles of the functions are not applied.
    const down = unknown === undefined ? status.down : ({ reason: unknown, level: 'warn' } as const);
    if (down !== undefined) log[down.level]('watcher down', { reason: down.reason });
    if (down?.level === 'warn') metrics.trouble(cluster, 'watcher-down');
    metrics.count(metricNames.watcherDown, down?.level === 'warn' ? 1 : 0, { cluster });
  } catch (thrown) {
    log.warn('watcher status unknown', { error: toError(thrown).message });
  }
}

/** The status of a cluster's watchers, as far as the checkpoint shows it. */
export type WatcherStatus = {
  /** How long ago every kind had an event; undefined if no watcher has stored that yet. */
  readonly lastSeenSeconds?: number;
  /** For how long a watch fails; absent if none does. */
  readonly reconnectingSeconds?: number;
  /** The id by which SQS names the watcher as a sender, as the watcher wrote it. */
  readonly senderId?: string | undefined;
  /** The entries of the checkpoint, which name the queues of the watchers that wrote them. */
  readonly entries?: CheckpointDocument['entries'];
  /** When it was read, by the clock of the API server, which the times of the entries are compared with. */
  readonly readAtMs?: number;
  /** Why the watchers seem to be down: a warning, or info while they are being installed. Undefined if they work. */
  readonly down?: { readonly reason: string; readonly level: 'info' | 'warn' };
  /** Why nothing is known of the watchers: the caller has no permission to read the checkpoint. */
  readonly unknown?: string;
};

/**
 * Reads the status from the checkpoint. Throws the client's errors, except for a missing permission.
 * @param localMs milliseconds since 1970, used only if the API server's response has no time
 */
export async function readWatcherStatus(
  client: KubeClient,
  localMs: number,
  { project, signal }: { readonly project?: string | undefined; readonly signal: AbortSignal },
): Promise<WatcherStatus> {
  const warn = (reason: string): WatcherStatus => ({ down: { reason, level: 'warn' } });
  try {
    const configMap = await readCheckpoint(client, { project, signal });
    if (configMap === undefined) return warn('no watch checkpoint; apply dist/kubernetes');
    const { readAtMs = localMs } = configMap;
    const parsed = parseCheckpoint(configMap.text);
    if (parsed.type === 'corrupt') return warn(`the watch checkpoint is corrupt: ${parsed.reason}`);
    if (parsed.type === 'empty') {
      // As installed: the watchers are installed next, or were forgotten.
      const reason = 'no watcher has started yet';
      const isNew = readAtMs - configMap.createdAtMs <= startupGraceSeconds * 1000;
      return isNew ? { down: { reason, level: 'info' } } : warn(reason);
    }
    const { lastSeenAtMs, reconnectingSinceMs, senderId, entries } = parsed.document;
    if (lastSeenAtMs === undefined) return warn('no watcher has received an event yet');
    const secondsSince = (ms: number) => Math.max(0, Math.round((readAtMs - ms) / 1000));
    const written = {
      entries,
      readAtMs,
      senderId,
      ...(reconnectingSinceMs === undefined ? {} : { reconnectingSeconds: secondsSince(reconnectingSinceMs) }),
    };
    const lastSeenSeconds = secondsSince(lastSeenAtMs);
    const aheadSeconds = Math.round((lastSeenAtMs - readAtMs) / 1000);
    // It would look recent for as long after the watchers are down.
    if (aheadSeconds > maxSkewSeconds)
      return { ...written, ...warn(`the last event is ${aheadSeconds} s in the future: a clock is wrong`) };
    return lastSeenSeconds > downAfterSeconds
      ? {
          lastSeenSeconds,
          ...written,
          ...warn(`no event received, or no key accepted by one of the queues, for ${lastSeenSeconds} s`),
        }
      : { lastSeenSeconds, ...written };
  } catch (error) {
    if (isForbidden(error)) return { unknown: `no permission to read the watch checkpoint: ${error.message}` };
    throw error;
  }
}
