// Reads and writes the watch checkpoint in its ConfigMap. The stored content is verified before it is used: another
// replica writes it too, it may have been edited by hand, and a cluster that is restored from a backup brings an old
// one back.
import { toError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import { clusterNames } from '../core/names.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { readClusterUid } from '../kube/client/cluster-uid.ts';
import { isConflict, isForbidden, isNotFound } from '../kube/client/errors.ts';
import { compareVersions } from '../kube/watch/resource-version.ts';
import type { ClusterIdentity } from '../kube/watch/restore-detection.ts';
import { readCheckpoint, writeCheckpoint } from './config-map.ts';
import { type CheckpointDocument, formatCheckpoint, mergeCheckpoint, parseCheckpoint } from './document.ts';

type Entries = CheckpointDocument['entries'];

/** The uid of the cluster, and the newest version of the ConfigMap that was read or written; none before the first. */
type KnownCluster = { readonly cluster?: string; readonly newest?: string | undefined };

/** The state of a watcher, to be merged into the stored checkpoint. */
export type CheckpointChange = {
  /** The version of each entry. */
  readonly versions: ReadonlyMap<string, string>;
  /** Entries whose stored version is ignored, even if it is newer. */
  readonly dropped: ReadonlySet<string>;
  /** How long ago every served kind had an event; undefined if one had none. */
  readonly lastSeenAgeMs: () => number | undefined;
  /** For how long a watch has failed; undefined if none has. */
  readonly failingMs: () => number | undefined;
  /** The id by which SQS names this watcher as a sender; undefined while it is not known. */
  readonly senderId?: string | undefined;
  /** The time by the clock of this machine. It is used only if the API server's response has none. */
  readonly nowMs: number;
};

/** The store of a cluster's checkpoint. */
export type CheckpointStore = {
  /**
   * Reads the entries. Returns none, and logs a warning, if they cannot be trusted. Rejects if the API server does not
   * respond.
   */
  read(signal: AbortSignal): Promise<Entries>;
  /**
   * Merges a change and writes it. Writes nothing if the result is not 'same', with one exception: that the versions
   * are ahead of etcd is known only from the response.
   */
  write(change: CheckpointChange, signal: AbortSignal): Promise<ClusterIdentity>;
  /**
   * Compares the cluster with the one before: by the uid of its namespace kube-system, and by the version of the
   * ConfigMap. A cluster that cannot be compared counts as the same.
   */
  verify(signal: AbortSignal): Promise<ClusterIdentity>;
  /** The identity of the cluster as it was last read; undefined before that. */
  clusterUid(): string | undefined;
  /** Accepts the cluster as it is at the next request: a watch has detected the restore. */
  acceptCluster(): void;
};

/** Each attempt is a read and a write. Other writers need about as long, so several conflicts in a row are possible. */
const maxAttempts = 6;

/** Creates the store of a cluster's checkpoint. */
export function createCheckpointStore({
  client,
  log,
  project,
}: {
  readonly client: KubeClient;
  readonly log: Log;
  /** Absent: the default project. */
  readonly project?: string | undefined;
}): CheckpointStore {
  let known: KnownCluster = {};
  const versionsAhead = createVersionsAhead();

  async function readUid(signal: AbortSignal): Promise<string> {
    const uid = await readClusterUid(client, { signal });
    if (uid === undefined) {
      throw new CheckpointUnavailableError('namespace kube-system not found; its uid identifies the cluster');
    }
    return uid;
  }

  /**
   * Compares the cluster with the one that was known when the request was sent, and remembers it. A response that a
   * write or another read has overtaken has an older version without a restore.
   */
  function identify(before: KnownCluster, uid: string, version: string): ClusterIdentity {
    const isOther = (one: KnownCluster) => one.cluster !== undefined && one.cluster !== uid;
    const wasNewer = (one: KnownCluster) => one.newest !== undefined && isOlder(version, one.newest);
    if (isOther(known)) {
      if (!isOther(before)) return 'same';
      versionsAhead.forget();
      known = { cluster: uid, newest: version };
      return 'other cluster';
    }
    const isRestored = wasNewer(before) && wasNewer(known);
    known = { cluster: uid, newest: isRestored || !wasNewer(known) ? version : known.newest };
    return isRestored ? 'restored' : 'same';
  }

  async function requireConfigMap(signal: AbortSignal) {
    const found = await readCheckpoint(client, { project, signal });
    if (found === undefined) {
      const { namespace, checkpoint } = clusterNames(project);
      throw new CheckpointUnavailableError(`ConfigMap ${namespace}/${checkpoint} not found; apply dist/kubernetes`);
    }
    return found;
  }

  function ignoreStored(reason: string): Entries {
    log.warn('watch checkpoint ignored: all keys are sent', { reason });
    return new Map();
  }

  async function tryToWrite(change: CheckpointChange, signal: AbortSignal): Promise<ClusterIdentity> {
    const { versions, dropped, lastSeenAgeMs, failingMs, senderId } = change;
    const before = known;
    const uid = await readUid(signal);
    // By the clock of the API server, as its readers and other watchers see it.
    const { text, resourceVersion, readAtMs: nowMs = change.nowMs } = await requireConfigMap(signal);
    const identity = identify(before, uid, resourceVersion);
    if (identity !== 'same') return identity;
    const entries = new Map([...versions].map(([name, version]) => [name, { version, confirmedAtMs: nowMs }] as const));
    // Not before the read: a process that was suspended since then would look as if it had just had an event.
    const [lastSeenAtMs, reconnectingSinceMs] = [lastSeenAgeMs(), failingMs()].map((ageMs) =>
      ageMs === undefined ? undefined : nowMs - ageMs,
    );
    const parsed = parseCheckpoint(text);
    if (parsed.type === 'corrupt') log.warn('corrupt watch checkpoint overwritten', { reason: parsed.reason });
    const stored = parsed.type === 'read' ? parsed.document : undefined;
    const ours = { cluster: uid, lastSeenAtMs, reconnectingSinceMs, senderId, entries };
    const merged = mergeCheckpoint(stored, ours, { dropped, nowMs });
    const sent = known;
    const written = await writeCheckpoint(
      client,
      { text: formatCheckpoint(merged), resourceVersion },
      { project, signal },
    );
    identify(sent, uid, written.resourceVersion);
    return versionsAhead.compare(versions, written.resourceVersion) ? 'restored' : 'same';
  }

  return {
    read: async (signal) => {
      try {
        const before = known;
        const uid = await readUid(signal);
        const { text, resourceVersion } = await requireConfigMap(signal);
        identify(before, uid, resourceVersion);
        const parsed = parseCheckpoint(text);
        if (parsed.type === 'empty') return new Map();
        if (parsed.type === 'corrupt') return ignoreStored(parsed.reason);
        const { document } = parsed;
        return document.cluster === uid ? document.entries : ignoreStored('it belongs to another cluster');
      } catch (error) {
        // Without the permission or the manifests, the watcher still watches; it only has no checkpoint.
        if (isUnavailable(error)) return ignoreStored(toError(error).message);
        throw error;
      }
    },
    write: async (change, signal) => {
      for (let attempts = 1; ; attempts += 1) {
        try {
          return await tryToWrite(change, signal);
        } catch (error) {
          if (!isConflict(error) || attempts === maxAttempts) throw error;
        }
      }
    },
    verify: async (signal) => {
      try {
        const before = known;
        const uid = await readUid(signal);
        const { resourceVersion } = await requireConfigMap(signal);
        return identify(before, uid, resourceVersion);
      } catch (error) {
        if (isUnavailable(error)) return 'same';
        throw error;
      }
    },
    clusterUid: () => known.cluster,
    acceptCluster: () => {
      known = {};
    },
  };
}

/** Compares the versions of the watches with etcd's own, which the API server returns for a write. */
type VersionsAhead = {
  /** Returns whether the watches must list everything: their versions are ahead of `written`, or were. */
  compare(versions: ReadonlyMap<string, string>, written: string): boolean;
  /** Forgets everything: the versions of another cluster follow. */
  forget(): void;
};

/**
 * After a restore, an API server that was not restarted can answer lists and watches from a cache with the lost
 * history. Its versions are ahead of etcd's, and it sends no change until etcd has passed them. A list is therefore
 * needed twice: when this is detected, and when etcd has passed them. A collection counts only once its version was not
 * ahead: another etcd may store it (--etcd-servers-overrides).
 */
function createVersionsAhead(): VersionsAhead {
  const comparable = new Set<string>();
  /** The versions that were ahead, by collection. */
  const ahead = new Map<string, string>();

  return {
    compare: (versions, written) => {
      let mustList = false;
      for (const [name, version] of versions) {
        const lost = ahead.get(name);
        const isAhead = isOlder(written, version);
        if (!isAhead && lost !== undefined) {
          ahead.delete(name);
          // Below the lost version, the collection was listed from the restored state in the meantime.
          if (!isOlder(written, lost)) mustList = true;
        }
        if (isAhead && comparable.delete(name)) {
          ahead.set(name, version);
          mustList = true;
        }
        if (!isAhead) comparable.add(name);
      }
      return mustList;
    },
    forget: () => {
      comparable.clear();
      ahead.clear();
    },
  };
}

function isOlder(version: string, than: string): boolean {
  return (compareVersions(version, than) ?? 0) < 0;
}

/** Returns whether the cluster has no checkpoint: the ConfigMap, its namespace or the permission is missing. */
function isUnavailable(error: unknown): boolean {
  return error instanceof CheckpointUnavailableError || isForbidden(error) || isNotFound(error);
}

/** The cluster has no place for the checkpoint, until an operator fixes it. */
class CheckpointUnavailableError extends Error {
  override readonly name = 'CheckpointUnavailableError';
}
