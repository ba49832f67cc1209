// Plans the resync of each listed object: whether a change of it is unobserved, whether it is due for its periodic
// reconcile, and when its key is sent. Pure; list-kind.ts lists the objects and sends the keys.

import type { StatusSlice } from '../api/status-slice.ts';
import { observedGenerationOf } from '../api/status-slice.ts';
import { fieldManagerOf, finalizerOf, pausedAnnotation } from '../core/names.ts';
import type { KubeObject } from '../kube/client/object.ts';
import { resyncOffset } from '../timers/slots.ts';

/** The rate of the resync. All times are in seconds. */
export type ResyncRate = {
  /** The interval between resync runs. */
  readonly runIntervalSeconds: number;
  /** The age from which an unobserved change counts as missed. */
  readonly missedAfterSeconds: number;
  /** The highest number of keys per second, for each controller and cluster. */
  readonly perSecond: number;
};

/**
 * The decision about one object: it has an unobserved change, such a change that is older than three further runs, the
 * key of the change is likely in the queue, it is due at its periodic time only, or it is skipped.
 */
export type ResyncDecision = 'unobserved' | 'overdue' | 'queued' | 'periodic' | 'skip';

/** A run that lists objects while their controller's queue is busy. */
export type BusyRun = {
  /** The start of the run, in milliseconds since 1970 by the clock of the API server. */
  readonly startedMs: number;
  readonly intervalSeconds: number;
};

/**
 * Decides about one object. `unobserved`: the controller has not observed its generation, and the last change is older
 * than `missedAfterSeconds`, or that far in the future, as after a correction of the API server's clock. `overdue`: it
 * is older than `overdueAfterSeconds`, and the status would show that it was observed. `queued`: the change is missed,
 * in a busy run other than the first three after it and every sixth one, which is another one for each object: a
 * controller that is paused for a day finds 27 copies of a key, and not 144. `skip`: the object is paused, or it is
 * being deleted without the controller's finalizer. A reconcile of it would do nothing.
 */
export function planObject(
  object: KubeObject,
  {
    controller,
    project,
    statusSlice,
    hasEvidence = true,
    isObserved,
    missedAfterSeconds,
    overdueAfterSeconds = Number.POSITIVE_INFINITY,
    nowMs,
    busyRun,
  }: {
    readonly controller: string;
    /** Absent: the default project. */
    readonly project?: string | undefined;
    /** For a second controller on the kind. Its conditions show the generation that it has observed. */
    readonly statusSlice?: StatusSlice | undefined;
    /** Whether the object shows what the controller has observed. */
    readonly hasEvidence?: boolean;
    readonly isObserved?: ((object: KubeObject) => boolean) | undefined;
    readonly missedAfterSeconds: number;
    readonly overdueAfterSeconds?: number;
    /** By the clock of the API server. */
    readonly nowMs: number;
    /** Absent: the controller's queue is idle, or its depth is unknown. */
    readonly busyRun?: BusyRun | undefined;
  },
): ResyncDecision {
  if (isSkipped(object, controller, project)) return 'skip';
  if (!hasEvidence) return 'periodic';
  const sinceMs = unobservedSinceMs(object, { controller, project, statusSlice, isObserved });
  const isMissed = sinceMs !== undefined && Math.abs(nowMs - sinceMs) > missedAfterSeconds * 1000;
  if (!isMissed) return 'periodic';
  if (busyRun !== undefined && !isSentIn(busyRun, object, sinceMs)) return 'queued';
  // The annotation of a foreign object may be missing after a failure. An object that keeps failing is not overdue.
  const isOverdue = isObserved === undefined && Math.abs(nowMs - sinceMs) > overdueAfterSeconds * 1000;
  return isOverdue ? 'overdue' : 'unobserved';
}

/** A busy run sends the keys of one in so many older changes. */
const busyShare = 6;

/**
 * Returns whether a busy run sends the key of a change. That the key is in the queue is only likely: the queue may be
 * busy with other keys, and the cluster may have been paused in the first runs. So no key waits for more than an hour.
 */
function isSentIn({ startedMs, intervalSeconds }: BusyRun, { metadata }: KubeObject, sinceMs: number): boolean {
  const runs = Math.floor(Math.abs(startedMs - sinceMs) / (intervalSeconds * 1000));
  return runs < 3 || (runs + resyncOffset(metadata.uid ?? metadata.name, busyShare)) % busyShare === 0;
}

/**
 * Returns when the unobserved change of an object was made, in milliseconds since 1970; undefined if there is none, or
 * if it is skipped.
 */
export function unobservedSinceMs(
  object: KubeObject,
  {
    controller,
    project,
    statusSlice,
    isObserved = (one) => (observedGenerationOf(one.status, statusSlice) ?? 0) >= (one.metadata.generation ?? 0),
  }: {
    readonly controller: string;
    readonly project?: string | undefined;
    readonly statusSlice?: StatusSlice | undefined;
    /** For a controller whose evidence is not in the status. */
    readonly isObserved?: ((object: KubeObject) => boolean) | undefined;
  },
): number | undefined {
  if (isSkipped(object, controller, project)) return undefined;
  if (isObserved(object)) return undefined;
  return lastChangedMs(object, controller, project);
}

/**
 * Returns when an object is due for its periodic reconcile, in seconds since 1970; undefined if it is not due in this
 * resync run. Each object has one fixed time in the period, evenly spread over keys. A run sends the objects whose time
 * is between it and the next run. Times that pass while the list is read are spread over the rest of the interval, to
 * avoid a burst.
 * @param key the object's key (formatReconcileKey)
 */
export function resyncDueAt(
  key: string,
  {
    runSeconds,
    runIntervalSeconds,
    periodSeconds,
    nowSeconds,
  }: {
    readonly runSeconds: number;
    readonly runIntervalSeconds: number;
    readonly periodSeconds: number;
    readonly nowSeconds: number;
  },
): number | undefined {
  const runs = Math.max(1, Math.round(periodSeconds / runIntervalSeconds));
  const offset = resyncOffset(key, runs * runIntervalSeconds);
  const run = Math.floor(runSeconds / runIntervalSeconds) % runs;
  if (Math.floor(offset / runIntervalSeconds) !== run) return undefined;
  const dueAt = Math.floor(runSeconds) + (offset % runIntervalSeconds);
  const now = Math.ceil(nowSeconds);
  const remaining = Math.floor(runSeconds) + runIntervalSeconds - now;
  return dueAt >= now ? dueAt : now + (remaining > 1 ? resyncOffset(key, remaining) : 0);
}

/** Assigns seconds to keys, at most `perSecond` keys to each second. */
export type ResyncRateLimiter = {
  /**
   * Takes the first free second from `preferred` on. Returns undefined, and takes nothing, if that second is not before
   * `end`.
   */
  take(preferred: number, end?: number): number | undefined;
  /**
   * Returns the start of a following rate limiter: its first second, and the most keys that any second from there on
   * already has.
   */
  scheduled(now: number): { readonly scheduledUntil: number; readonly scheduledPerSecond: number };
};

/** Creates a rate limiter that assigns no second before `start`. */
export function createResyncRateLimiter(perSecond: number, start: number): ResyncRateLimiter {
  const taken = new Map<number, number>();
  // From a full second to a later one that may be free. Links are shortened when they are followed, so long full
  // stretches stay cheap.
  const nextFree = new Map<number, number>();
  const find = (from: number): number => {
    const passed: number[] = [];
    let second = from;
    for (let next = nextFree.get(second); next !== undefined; next = nextFree.get(second)) {
      passed.push(second);
      second = next;
    }
    for (const one of passed) nextFree.set(one, second);
    return second;
  };
  return {
    take: (preferred, end = Number.POSITIVE_INFINITY) => {
      const second = find(Math.max(start, Math.ceil(preferred)));
      if (second >= end) return undefined;
      const count = (taken.get(second) ?? 0) + 1;
      taken.set(second, count);
      if (count >= perSecond) nextFree.set(second, second + 1);
      return second;
    },
    scheduled: (now) => {
      const free = find(Math.max(start, Math.ceil(now)));
      const scheduledUntil = taken.has(free) ? free + 1 : free;
      const later = [...taken].filter(([second]) => second >= scheduledUntil).map(([, count]) => count);
      return { scheduledUntil, scheduledPerSecond: Math.max(0, ...later) };
    },
  };
}

/** Returns whether a reconcile of an object would do nothing. */
function isSkipped({ metadata }: KubeObject, controller: string, project: string | undefined): boolean {
  const { annotations, deletionTimestamp, finalizers } = metadata;
  if (annotations?.[pausedAnnotation] === 'true') return true;
  return deletionTimestamp !== undefined && finalizers?.includes(finalizerOf(controller, project)) !== true;
}

/**
 * Returns when another field manager last changed the object. The status and the controller's own finalizer do not
 * count.
 */
function lastChangedMs({ metadata }: KubeObject, controller: string, project: string | undefined): number {
  const { creationTimestamp, deletionTimestamp, managedFields = [] } = metadata;
  const own = fieldManagerOf(controller, project);
  const others = managedFields.filter(({ manager, subresource = '' }) => subresource === '' && manager !== own);
  const times = [creationTimestamp, deletionTimestamp, ...others.map(({ time }) => time)];
  return Math.max(...times.map((time) => Date.parse(time ?? '')).filter((time) => !Number.isNaN(time)), 0);
}
