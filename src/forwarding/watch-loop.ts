// A change enters this folder here, as a watch event. One loop follows one collection. It reduces the object to a
// TrackedObject (tracked-objects.ts), determines which keys the change affects (predicates.ts) and adds them to the
// forwarder (forwarder.ts). It also advances the low watermark, up to which the watch checkpoint may be written. How a
// watch survives errors of its server is kube/watch/watch.ts. watch-loops.ts connects the loops of a cluster.
import { noCheckpoint, readStart, type WatchCheckpoint } from '../checkpoint/checkpoint.ts';
import { isCheckpointConfigMap } from '../checkpoint/config-map.ts';
import { entryNameOf } from '../checkpoint/document.ts';
import { toError } from '../core/errors.ts';
import { type Key, keyOf } from '../core/key.ts';
import type { Log } from '../core/log.ts';
import type { Wait } from '../core/time.ts';
import type { WatchedResource } from '../core/watch-list.ts';
import type { KubeClient } from '../kube/client/client.ts';
import type { PartialObjectMetadata } from '../kube/watch/partial-metadata.ts';
import { compareVersions } from '../kube/watch/resource-version.ts';
import type { RestoreDetection } from '../kube/watch/restore-detection.ts';
import { type ListWatchItem, listAndWatch } from '../kube/watch/watch.ts';
import type { ListMode } from '../kube/watch/watch-state.ts';
import { type ChangeSource, deduplicationSeconds } from '../sqs/deduplication.ts';
import { createAckTracker, type PendingAcks } from './acknowledgements.ts';
import type { Forwarder } from './forwarder.ts';
import { type LoopHealth, observedClient } from './health.ts';
import { type AffectedKey, affectedKeys, allOwners, type ObjectChange } from './predicates.ts';
import { createOwnerRequeues, type OwnerRequeues } from './requeue-owners.ts';
import { createTrackedObjects, desiredMetadata, type TrackedObject, toTrackedObject } from './tracked-objects.ts';

/** The dependencies of a loop. */
export type WatchLoopDeps = {
  readonly client: KubeClient;
  readonly forwarder: Pick<Forwarder, 'add' | 'addLowPriority'>;
  readonly checkpoint: WatchCheckpoint;
  readonly health: LoopHealth;
  /** Shared by all loops of the cluster. */
  readonly restoreDetection: RestoreDetection;
  readonly log: Log;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly wait: Wait;
  /** In [0, 1), for jitter. */
  readonly random: () => number;
  /** A value that was never used before, for the name of a run. */
  readonly nonce: () => string;
  /**
   * Sends every primary of these controllers at low priority: a list does not show which of their children were
   * deleted.
   */
  readonly requeueOwners: (controllers: readonly string[], acks: PendingAcks, missedUntilMs?: number) => void;
};

/** The cluster and the queues. */
export type WatchScope = {
  readonly cluster: string;
  /** Identifies the queues: the watch checkpoint has separate entries for other queues. */
  readonly queues?: string | undefined;
};

/** The loop of one collection. */
export type WatchLoop = {
  /** Follows the collection until the signal aborts. Never throws. */
  run(signal: AbortSignal): Promise<void>;
  /**
   * Sends every object at low priority, once the collection is listed, for a controller whose primaries the objects
   * are.
   */
  readonly requeueOwners: OwnerRequeues['request'];
  /** The number of known objects. */
  objects(): number;
  /** The version up to which SQS accepted everything; undefined while it is unknown. */
  lowWatermark(): string | undefined;
};

/** The restore generations of one collection. */
export type RestoreGenerations = {
  /** Begins a generation: the cluster was restored. `name` was never used before. */
  begin(name: string): void;
  /** Adds the current generation to a source. */
  stamp(source: ChangeSource): ChangeSource;
};

/** The wait after a bug broke the loop, before it is restarted. */
const restartSeconds = 5;
/**
 * Twice the time in which SQS deduplicates: keys that were queued during the restore are sent a little later than that.
 */
const generationMs = 2 * deduplicationSeconds * 1000;

/** Creates the loop of one collection. */
export function createWatchLoop(
  deps: WatchLoopDeps,
  {
    resource,
    cluster,
    ...scope
  }: WatchScope & { readonly resource: WatchedResource; readonly namespace?: string | undefined },
): WatchLoop {
  const { forwarder, health, log, now } = deps;
  // The versions of an aggregated API have no defined order, so they are never compared.
  const checkpoint = resource.aggregated === true ? noCheckpoint : deps.checkpoint;
  const namespace = resource.namespaced ? scope.namespace : undefined;
  const entryName = entryNameOf(resource, { cluster, namespace, queues: scope.queues });
  const former = entryNameOf(resource, { namespace, queues: scope.queues });
  const objects = createTrackedObjects();
  const createAcks = () => createAckTracker((version) => checkpoint.accepted(entryName, version));
  let acks = createAcks();
  const collection = { resource, cluster };
  const ownerRequeues = createOwnerRequeues(sendAll, now);
  const restoreGenerations = createRestoreGenerations({ now });
  const client = observedClient(deps.client, health);
  let run = '';
  /** The list in progress: when its first page arrived, and whether all of its objects are sent at low priority. */
  let listing: { firstPageMs?: number; readonly inBulk: boolean } = { inBulk: false };

  function addChange(key: Key, before: TrackedObject | undefined, change: ObjectChange): void {
    addKeys(affectedKeys(collection, key, before, change));
  }

  function addKeys(affected: readonly AffectedKey[]): void {
    for (const { target, source } of affected) {
      forwarder.add({ target, source: restoreGenerations.stamp(source), observedAt: now(), acks });
    }
  }

  function addLowPriority(affected: readonly AffectedKey[], runName: string, pendingAcks: PendingAcks): void {
    for (const { target } of affected) {
      forwarder.addLowPriority({ target, observedAt: now(), run: runName, acks: pendingAcks });
    }
  }

  function onChanged(metadata: PartialObjectMetadata): void {
    const key = keyOf(metadata);
    const after = toTrackedObject(resource, metadata);
    addChange(key, objects.get(key), { type: 'changed', after });
    objects.put(key, after);
  }

  function onDeleted(metadata: PartialObjectMetadata): void {
    const key = keyOf(metadata);
    const last = toTrackedObject(resource, metadata);
    addChange(key, objects.get(key), { type: 'gone', version: metadata.resourceVersion, last });
    objects.delete(key);
  }

  /** Handles an object of a list. A known object is compared; for an unknown one the mode of the list decides. */
  function onListed(metadata: PartialObjectMetadata, mode: ListMode, start: string | undefined): void {
    const key = keyOf(metadata);
    if (objects.get(key) !== undefined || mode === 'relist' || mode === 'stalled') {
      onChanged(metadata);
      return;
    }
    const after = toTrackedObject(resource, metadata);
    if (mode === 'initial' || mode === 'restored') addLowPriority(allOwners(collection, key, after), run, acks);
    if (mode === 'expired' && isNewer(metadata.resourceVersion, start)) addKeys(allOwners(collection, key, after));
    objects.put(key, after);
  }

  function sendAll(controller: string, pendingAcks: PendingAcks): void {
    const runName = newRun();
    for (const [key, object] of objects.entries()) {
      const affected = allOwners(collection, key, object).filter(({ target }) => target.controller === controller);
      addLowPriority(affected, runName, pendingAcks);
    }
  }

  function newRun(): string {
    return `watcher-${deps.nonce()}`;
  }

  function beginList(mode: ListMode): void {
    health.listing();
    run = newRun();
    if (mode === 'restored') {
      log.warn('cluster restored from a backup: all keys are sent');
      objects.clear();
      // A new tracker: keys from before the restore no longer hold back the low watermark, keys from now on do.
      acks.reset();
      acks = createAcks();
      checkpoint.drop(entryName);
      restoreGenerations.begin(run);
    }
    const inBulk = (mode === 'initial' || mode === 'restored') && objects.size() === 0;
    listing = { inBulk };
    objects.beginListing();
  }

  function endList(mode: ListMode, version: string): void {
    const missing = objects.endListing();
    for (const [key, before] of missing) addChange(key, before, { type: 'gone', version });
    // A quiet kind of a server without bookmarks is listed as stalled every few minutes.
    if (mode !== 'exact' && mode !== 'stalled') {
      const controllers = resource.subscribers.filter(({ as }) => as !== 'primary').map(({ controller }) => controller);
      deps.requeueOwners([...new Set(controllers)], acks, listing.firstPageMs);
    }
    acks.advance(version);
    ownerRequeues.complete(listing.inBulk ? listing.firstPageMs : undefined);
    log.info('collection listed', { mode, objects: objects.size(), gone: missing.length });
  }

  function logError({ error, retryInSeconds }: ListWatchItem & { type: 'error' }): void {
    const message = toError(error).message;
    health.recordError(error);
    const write = health.isNewError(message) ? log.warn : log.debug;
    write('watch failed, retrying', { error: message, retryInSeconds: Math.round(retryInSeconds * 10) / 10 });
  }

  function onItem(item: ListWatchItem, start: string | undefined): void {
    // Everything that arrives from the server, including a page of a list, counts as an event.
    if (item.type !== 'error' && item.type !== 'listing') health.received();
    switch (item.type) {
      case 'error':
        logError(item);
        break;
      case 'listing':
        beginList(item.mode);
        break;
      case 'page':
        // The list shows the state before this moment: the later pages are of the same version.
        listing.firstPageMs ??= now();
        for (const one of item.items) if (!isCheckpointConfigMap(resource, one)) onListed(one, item.mode, start);
        break;
      case 'listed':
        endList(item.mode, item.resourceVersion);
        break;
      case 'changed':
      case 'deleted': {
        const take = item.type === 'changed' ? onChanged : onDeleted;
        if (!isCheckpointConfigMap(resource, item.metadata)) take(item.metadata);
        acks.advance(item.metadata.resourceVersion);
        break;
      }
      case 'bookmark':
        acks.advance(item.resourceVersion);
        break;
    }
  }

  async function follow(start: string | undefined, signal: AbortSignal): Promise<void> {
    const { wait, random, restoreDetection } = deps;
    const { labelSelector, fieldSelector, aggregated = false } = resource;
    const target = { resource, namespace, labelSelector, fieldSelector, metadata: desiredMetadata(resource) };
    const options = { start, signal, wait, random, restoreDetection, comparable: !aggregated };
    for await (const item of listAndWatch(client, target, options)) onItem(item, start);
  }

  return {
    run: async (signal) => {
      let start: string | undefined;
      let isStartKnown = false;
      while (!signal.aborted) {
        try {
          if (!isStartKnown)
            start = await readStart({ ...deps, checkpoint, onError: logError }, entryName, { former, signal });
          isStartKnown = true;
          await follow(start, signal);
        } catch (thrown) {
          if (signal.aborted) return;
          // The tracked objects show what was forwarded, so a restart loses nothing.
          log.error('watch loop failed, restarting', { error: toError(thrown).message });
          health.restarted();
          await deps.wait(restartSeconds, signal).catch(() => undefined);
        }
      }
    },
    requeueOwners: ownerRequeues.request,
    objects: objects.size,
    lowWatermark: () => acks.lowWatermark(),
  };
}

/**
 * Creates the restore generations of a collection that was never restored. A restored etcd assigns versions again, so
 * the same version can be another change of the same object, and SQS would drop its message as a duplicate. For
 * generationMs after a restore the generation is therefore part of the deduplication id. Each watcher names its own
 * generation, so in that time two replicas send the same change twice. `now` is in milliseconds of a clock that is
 * never set back.
 */
export function createRestoreGenerations({ now }: { readonly now: () => number }): RestoreGenerations {
  let generation: { readonly name: string; readonly untilMs: number } | undefined;
  return {
    begin: (name) => {
      generation = { name, untilMs: now() + generationMs };
    },
    stamp: (source) => {
      if (generation !== undefined && now() >= generation.untilMs) generation = undefined;
      return generation === undefined ? source : { ...source, restoreGeneration: generation.name };
    },
  };
}

/** Versions that cannot be compared count as newer: an extra message is harmless. */
function isNewer(version: string, than: string | undefined): boolean {
  return than === undefined || (compareVersions(version, than) ?? 1) > 0;
}
