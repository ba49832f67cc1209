// Reads and writes the watch checkpoint in its ConfigMap. The stored content is verified before it is used: another
// replica writes it too, it may have been edited by hand, and a cluster that is restored from a backup brings an old
// one back.
import { toError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import { checkpointName, systemNamespace } from '../core/names.ts';
import { redact } from '../core/redact.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { isConflict, isForbidden, isNotFound } from '../kube/client/errors.ts';
import { compareVersions } from '../kube/watch/resource-version.ts';
import { readCheckpoint, readClusterUid, writeCheckpoint } from './config-map.ts';
import { type CheckpointDocument, formatCheckpoint, mergeCheckpoint, parseCheckpoint } from './document.ts';

type Entries = CheckpointDocument['entries'];

/** The state of a watcher, to be merged into the stored checkpoint. */
export type CheckpointChange = {
  readonly entries: Entries;
  /** Entries whose stored version is ignored, even if it is newer. */
  readonly dropped: ReadonlySet<string>;
  readonly lastSeenAtMs: number | undefined;
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
   * Merges a change and writes it. Returns 'restored', without writing, if the ConfigMap is older than it was before.
   */
  write(change: CheckpointChange, signal: AbortSignal): Promise<'written' | 'restored'>;
  /** Reads the identity of the cluster again before the next write: another cluster may have the same address now. */
  recheckCluster(): void;
};

/** Each attempt is a read and a write. Other writers need about as long, so several conflicts in a row are possible. */
const maxAttempts = 6;

/** Creates the store of a cluster's checkpoint. */
export function createCheckpointStore({
  client,
  log,
}: {
  readonly client: KubeClient;
  readonly log: Log;
}): CheckpointStore {
  let cluster: string | undefined;
  /** The newest version of the ConfigMap that was read or written. */
  let newest: string | undefined;

  async function clusterUid(signal: AbortSignal): Promise<string> {
    cluster ??= await readClusterUid(client, { signal });
    if (cluster === undefined) {
      throw new CheckpointUnavailableError('namespace kube-system not found; its uid identifies the cluster');
    }
    return cluster;
  }

  async function requireConfigMap(signal: AbortSignal) {
    const found = await readCheckpoint(client, { signal });
    if (found === undefined) {
      const name = `${systemNamespace}/${checkpointName}`;
      throw new CheckpointUnavailableError(`ConfigMap ${name} not found; apply infra/kubernetes/generated`);
    }
    return found;
  }

  function ignoreStored(reason: string): Entries {
    log.warn('watch checkpoint ignored: all keys are sent', { reason: redact(reason) });
    return new Map();
  }

  async function tryToWrite(change: CheckpointChange, signal: AbortSignal): Promise<'written' | 'restored'> {
    const { entries, dropped, lastSeenAtMs, nowMs } = change;
    const uid = await clusterUid(signal);
    const { text, resourceVersion } = await requireConfigMap(signal);
    const before = newest;
    newest = resourceVersion;
    if (before !== undefined && (compareVersions(resourceVersion, before) ?? 0) < 0) return 'restored';
    const parsed = parseCheckpoint(text);
    if (parsed.type === 'corrupt') log.warn('corrupt watch checkpoint overwritten', { reason: redact(parsed.reason) });
    const stored = parsed.type === 'read' ? parsed.document : undefined;
    const merged = mergeCheckpoint(stored, { cluster: uid, lastSeenAtMs, entries }, { dropped, nowMs });
    const written = await writeCheckpoint(client, { text: formatCheckpoint(merged), resourceVersion }, { signal });
    newest = written.resourceVersion;
    return 'written';
  }

  return {
    read: async (signal) => {
      try {
        const uid = await clusterUid(signal);
        const { text, resourceVersion } = await requireConfigMap(signal);
        newest = resourceVersion;
        const parsed = parseCheckpoint(text);
        if (parsed.type === 'empty') return new Map();
        if (parsed.type === 'corrupt') return ignoreStored(parsed.reason);
        const { document } = parsed;
        return document.cluster === uid ? document.entries : ignoreStored('it belongs to another cluster');
      } catch (error) {
        // Without the permission or the manifests, the watcher still watches; it only has no checkpoint.
        if (error instanceof CheckpointUnavailableError || isForbidden(error) || isNotFound(error)) {
          return ignoreStored(toError(error).message);
        }
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
    recheckCluster: () => {
      cluster = undefined;
    },
  };
}

/** The cluster has no place for the checkpoint, until an operator fixes it. */
class CheckpointUnavailableError extends Error {
  override readonly name = 'CheckpointUnavailableError';
}
