// The watch checkpoint: for each collection, the version up to which SQS has accepted every change. The watcher reads
// it once at the start, resumes each watch at that version, and writes it at intervals.
//
// Guarantees: when a version is written, SQS has accepted every change up to it. A checkpoint that cannot be trusted,
// or not be read for lack of permission, costs a full list and never causes a gap. A failed write is logged and
// retried; an older version on the server only costs extra messages. Assumption: after the report of a restore, a watch
// loop drops its version.
import { toError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import type { Wait } from '../core/time.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { isComparable } from '../kube/watch/resource-version.ts';
import type { ClusterIdentity } from '../kube/watch/restore-detection.ts';
import type { ListWatchItem } from '../kube/watch/watch.ts';
import { watchBackoffSeconds } from '../kube/watch/watch-state.ts';
import { createCheckpointStore } from './store.ts';

/** The watch checkpoint of one cluster. Collections are identified by the names of their entries (entryNameOf). */
export type WatchCheckpoint = {
  /**
   * Reads the version to resume at; undefined when there is none. Rejects when the API server does not respond.
   * @param former the name that version 0.1 gave the entry: its version is continued once, and the entry removed
   */
  start(name: string, options: StartOptions): Promise<string | undefined>;
  /**
   * Records a version up to which SQS accepted everything. Cheap: it is called for every event and written at
   * intervals.
   */
  accepted(name: string, version: string): void;
  /** Records that SQS accepted a message, so the checkpoint is written sooner. */
  sent(): void;
  /** Drops a collection's version: the cluster was restored from a backup, and its versions start again. */
  drop(name: string): void;
  /**
   * Compares the cluster with the one that the checkpoint was read from. A cluster that cannot be compared counts as
   * the same. Rejects when the API server does not respond.
   */
  verify(signal: AbortSignal): Promise<ClusterIdentity>;
  /**
   * Writes the checkpoint at intervals until the signal aborts. `lastSeenAgeMs` is how long ago every served kind had
   * an event, `failingMs` for how long a watch has failed. `onRestored` is called if a write shows that the cluster was
   * restored or replaced. Never rejects.
   */
  run(options: {
    readonly lastSeenAgeMs: () => number | undefined;
    readonly failingMs?: () => number | undefined;
    readonly onRestored: () => void;
    readonly signal: AbortSignal;
  }): Promise<void>;
  /** The identity of the cluster as it was last read; undefined before that. */
  clusterUid(): string | undefined;
  /** Writes the checkpoint now. Never rejects. */
  flush(): Promise<void>;
};

/** The options of reading a version to resume at. */
export type StartOptions = { readonly former?: string; readonly signal: AbortSignal };

/** A checkpoint that stores nothing: every start forwards everything. */
export const noCheckpoint: WatchCheckpoint = {
  start: async () => undefined,
  accepted: () => undefined,
  sent: () => undefined,
  drop: () => undefined,
  verify: async () => 'same',
  run: async () => undefined,
  clusterUid: () => undefined,
  flush: async () => undefined,
};

/** The dependencies of a checkpoint. */
export type CheckpointDeps = {
  readonly client: KubeClient;
  readonly log: Log;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly wait: Wait;
  /** Absent: the default project. */
  readonly project?: string | undefined;
  /** The id by which SQS names this watcher as a sender; undefined while it is not known. */
  readonly senderId?: () => string | undefined;
};

/** The dependencies of reading the version to resume at. */
export type ReadStartDeps = {
  readonly checkpoint: Pick<WatchCheckpoint, 'start'>;
  readonly wait: Wait;
  /** In [0, 1), for jitter. */
  readonly random: () => number;
  readonly onError: (item: ListWatchItem & { type: 'error' }) => void;
};

/**
 * The wait before the first write, which happens as soon as every kind had an event, so that the watcher is not
 * reported as down.
 */
const firstSeconds = 1;
/** The deadline of the last write, within the time that a pod has to terminate. */
const flushSeconds = 5;

/**
 * Creates the checkpoint of a cluster. It is written every `writeSeconds` while SQS accepts messages, otherwise half as
 * often.
 */
export function createWatchCheckpoint(
  { client, log, now, wait, project, senderId = () => undefined }: CheckpointDeps,
  { writeSeconds = 30 }: { readonly writeSeconds?: number } = {},
): WatchCheckpoint {
  const store = createCheckpointStore({ client, log, project });
  const versions = new Map<string, string>();
  /** The former names of entries. */
  const formers = new Map<string, string>();
  let dropped = new Set<string>();
  /** The number of drops: a restore that the watches reported during a write is not reported again by the write. */
  let drops = 0;
  let stored: ReturnType<typeof store.read> | undefined;
  /** Whether a message was accepted since the last write. */
  let sent = false;
  /** Whether a version changed since the last write. */
  let moved = false;
  let lastSeenAgeMs: () => number | undefined = () => undefined;
  let failingMs: () => number | undefined = () => undefined;
  let onRestored: () => void = () => undefined;
  let writing = Promise.resolve();
  let loggedError = '';

  async function write(signal: AbortSignal): Promise<void> {
    const written = new Map(versions);
    // A former entry ends with the first version, or the drop, of the one that replaced it: it would be outdated later.
    const ended = [...formers].flatMap(([name, former]) => (written.has(name) || dropped.has(name) ? former : []));
    const change = {
      versions: written,
      dropped: new Set([...dropped, ...ended]),
      lastSeenAgeMs,
      failingMs,
      senderId: senderId(),
      nowMs: now(),
    };
    const before = { sent, moved, drops };
    dropped = new Set();
    sent = false;
    moved = false;
    try {
      const identity = await store.write(change, signal);
      if (identity !== 'same') {
        // These versions are not of the cluster's present state. The loops list everything and record new ones.
        for (const [name, version] of written) if (versions.get(name) === version) versions.delete(name);
        dropped = new Set([...dropped, ...change.dropped, ...written.keys()]);
        moved = true;
        if (drops === before.drops) {
          logIdentity(identity);
          onRestored();
        }
      }
      loggedError = '';
    } catch (thrown) {
      dropped = new Set([...dropped, ...change.dropped]);
      sent ||= before.sent;
      moved ||= before.moved;
      const error = toError(thrown).message;
      // Who stops the watcher interrupts a write; the last one, which follows, ends by its deadline.
      const isStopped = signal.aborted && toError(signal.reason).name !== 'TimeoutError';
      if (error !== loggedError && !isStopped) log.warn('watch checkpoint not written, retrying', { error });
      loggedError = error;
    }
  }

  function logIdentity(identity: Exclude<ClusterIdentity, 'same'>): void {
    log.warn(
      identity === 'restored'
        ? 'cluster restored from a backup: watch checkpoint reset'
        : 'another cluster responds at this address: watch checkpoint reset',
    );
  }

  /** Writes after the write in progress, if any. */
  async function writeNext(signal: AbortSignal): Promise<void> {
    writing = writing.then(async () => await write(signal));
    await writing;
  }

  return {
    start: async (name, { former, signal }) => {
      stored ??= store.read(signal);
      if (former !== undefined) formers.set(name, former);
      try {
        const entries = await stored;
        return (entries.get(name) ?? entries.get(former ?? name))?.version;
      } catch (error) {
        stored = undefined;
        throw error;
      }
    },
    clusterUid: store.clusterUid,
    accepted: (name, version) => {
      if (!isComparable(version) || versions.get(name) === version) return;
      versions.set(name, version);
      moved = true;
    },
    sent: () => {
      sent = true;
    },
    drop: (name) => {
      versions.delete(name);
      dropped.add(name);
      drops += 1;
      moved = true;
      store.acceptCluster();
    },
    verify: async (signal) => {
      const identity = await store.verify(signal);
      if (identity !== 'same') logIdentity(identity);
      return identity;
    },
    run: async (options) => {
      const { signal } = options;
      lastSeenAgeMs = options.lastSeenAgeMs;
      failingMs = options.failingMs ?? failingMs;
      onRestored = options.onRestored;
      let elapsed = 0;
      let isFirst = true;
      const isDue = () => {
        if (elapsed >= 2 * writeSeconds) return true;
        return isFirst ? lastSeenAgeMs() !== undefined : sent && moved;
      };
      while (!signal.aborted) {
        // Driven by time, not by new versions: each write creates a version, which comes back as a bookmark of every
        // kind.
        const seconds = isFirst ? Math.min(firstSeconds, writeSeconds) : writeSeconds;
        await wait(seconds, signal).catch(() => undefined);
        if (signal.aborted) return;
        elapsed += seconds;
        if (!isDue()) continue;
        elapsed = 0;
        isFirst = false;
        await writeNext(signal);
      }
    },
    flush: async () => await writeNext(AbortSignal.timeout(flushSeconds * 1000)),
  };
}

/**
 * Reads the version that a collection's loop resumes at, and retries until the API server responds: without a version
 * the loop would forward everything. Returns undefined if the checkpoint has no version. Rejects when the signal
 * aborts.
 */
export async function readStart(
  { checkpoint, wait, random, onError }: ReadStartDeps,
  name: string,
  options: StartOptions,
): Promise<string | undefined> {
  const { signal } = options;
  for (let failures = 1; ; failures += 1) {
    try {
      return await checkpoint.start(name, options);
    } catch (error) {
      signal.throwIfAborted();
      const retryInSeconds = watchBackoffSeconds({ failures, gone: failures }, error, random());
      onError({ type: 'error', error, retryInSeconds });
      await wait(retryInSeconds, signal);
    }
  }
}
