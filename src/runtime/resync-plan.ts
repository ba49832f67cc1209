// What a poll of the world makes of each object it lists: was it missed, is it its turn, or is it to be left alone; and when
// it goes out. Pure; the listing and sending are in resync-poll.ts.
import type { Part } from '../core/part.ts';
import { fieldManagerOf, finalizerOf, pausedAnnotation } from '../core/names.ts';
import type { KubeObject } from '../kube/client/object.ts';
import { phaseOf } from '../queue/slots.ts';
import { observedGenerationOf } from './observed.ts';

/** How the world is polled; all in seconds but the last. */
export type ResyncPace = {
  /** How far apart the schedule's ticks are. */
  readonly tickSeconds: number;
  /** How long an unobserved change may be under way before it counts as missed. */
  readonly graceSeconds: number;
  /** At most so many keys a second, for each controller and cluster. */
  readonly perSecond: number;
};

/** What an object is to a poll. */
export type Finding = 'unobserved' | 'regular' | 'left-alone';

/**
 * Judges an object. Unobserved: our controller has not seen its generation, and nobody touched it within the grace. Left
 * alone: paused, or being deleted without our finalizer; a reconcile of it would do nothing.
 */
export function judge(
  object: KubeObject,
  {
    controller,
    part,
    graceSeconds,
    nowMs,
  }: {
    readonly controller: string;
    /** Of a second controller on the kind: it has observed what its own conditions say. */
    readonly part?: Part | undefined;
    readonly graceSeconds: number;
    readonly nowMs: number;
  },
): Finding {
  if (isLeftAlone(object, controller)) return 'left-alone';
  const sinceMs = waitingSinceMs(object, { controller, part });
  return sinceMs !== undefined && nowMs - sinceMs > graceSeconds * 1000 ? 'unobserved' : 'regular';
}

/** Tells whether a reconcile of an object would do nothing. */
function isLeftAlone({ metadata }: KubeObject, controller: string): boolean {
  const { annotations, deletionTimestamp, finalizers } = metadata;
  if (annotations?.[pausedAnnotation] === 'true') return true;
  return deletionTimestamp !== undefined && finalizers?.includes(finalizerOf(controller)) !== true;
}

/**
 * Tells since when a change waits for a controller to observe it, in milliseconds since 1970; undefined when none does, or when
 * the object is to be left alone.
 */
export function waitingSinceMs(
  object: KubeObject,
  { controller, part }: { readonly controller: string; readonly part?: Part | undefined },
): number | undefined {
  if (isLeftAlone(object, controller)) return undefined;
  const { generation = 0 } = object.metadata;
  if ((observedGenerationOf(object.status, part) ?? 0) >= generation) return undefined;
  return lastTouchedMs(object, controller);
}

/** When somebody else last changed what a generation counts: not a status, and not our own finalizer. */
function lastTouchedMs({ metadata }: KubeObject, controller: string): number {
  const { creationTimestamp, deletionTimestamp, managedFields = [] } = metadata;
  const others = managedFields.filter(
    ({ manager, subresource = '' }) => subresource === '' && manager !== fieldManagerOf(controller),
  );
  const times = [creationTimestamp, deletionTimestamp, ...others.map(({ time }) => time)];
  return Math.max(...times.map((time) => Date.parse(time ?? '')).filter((time) => !Number.isNaN(time)), 0);
}

/**
 * Tells when an object's turn is, in seconds since 1970, if it is in this run's slice: every object has one moment in each
 * period, evenly spread over keys, and a run brings those whose moment lies between it and the next tick. Moments that have
 * passed while the list was read are spread over what is left of the tick: at once they would be a burst.
 * @param target the object's key (formatTarget)
 */
export function turnOf(
  target: string,
  {
    runSeconds,
    tickSeconds,
    periodSeconds,
    nowSeconds,
  }: {
    readonly runSeconds: number;
    readonly tickSeconds: number;
    readonly periodSeconds: number;
    readonly nowSeconds: number;
  },
): number | undefined {
  const slices = Math.max(1, Math.round(periodSeconds / tickSeconds));
  const moment = phaseOf(target, slices * tickSeconds);
  const slice = Math.floor(runSeconds / tickSeconds) % slices;
  if (Math.floor(moment / tickSeconds) !== slice) return undefined;
  const turn = Math.floor(runSeconds) + (moment % tickSeconds);
  const now = Math.ceil(nowSeconds);
  const left = Math.floor(runSeconds) + tickSeconds - now;
  return turn >= now ? turn : now + (left > 1 ? phaseOf(target, left) : 0);
}

/** Hands out seconds, each only so many times. */
export type Pacer = {
  /** Takes the first second with room from `preferred` on; undefined, and nothing taken, when that is not before `end`. */
  take(preferred: number, end?: number): number | undefined;
  /** Where another pacer may go on at a time: from which second, and how often any from there on has been handed out at most. */
  rest(now: number): { readonly pacedTo: number; readonly taken: number };
};

/** Creates a pacer that hands out no second before `start`. */
export function createPacer(perSecond: number, start: number): Pacer {
  const taken = new Map<number, number>();
  // From a full second to one that may have room; shortened while it is followed, so that a long full stretch costs nothing.
  const onwards = new Map<number, number>();
  const find = (from: number): number => {
    const passed: number[] = [];
    let second = from;
    for (let next = onwards.get(second); next !== undefined; next = onwards.get(second)) {
      passed.push(second);
      second = next;
    }
    for (const one of passed) onwards.set(one, second);
    return second;
  };
  return {
    take: (preferred, end = Number.POSITIVE_INFINITY) => {
      const second = find(Math.max(start, Math.ceil(preferred)));
      if (second >= end) return undefined;
      const count = (taken.get(second) ?? 0) + 1;
      taken.set(second, count);
      if (count >= perSecond) onwards.set(second, second + 1);
      return second;
    },
    rest: (now) => {
      const free = find(Math.max(start, Math.ceil(now)));
      const pacedTo = taken.has(free) ? free + 1 : free;
      const later = [...taken].filter(([second]) => second >= pacedTo).map(([, count]) => count);
      return { pacedTo, taken: Math.max(0, ...later) };
    },
  };
}
