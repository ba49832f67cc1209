// The circuit breaker of the clusters: an unreachable or slow cluster must not occupy the functions of the others.
// After some failures in a row a cluster is not called for a while. Then all keys of one batch try it in parallel,
// which takes no longer than one key would. If only one key probed a recovered cluster, the others would be postponed
// again, for twice as long. A cluster that is much slower than the others is throttled to a part of an instance's time.
// If it is not yet known to be slow, its first response has a time limit. All unreachable and slow clusters together
// get a fifth of an instance's time, however many they are. A cluster with few failures or one slow response may be
// healthy, so it is called even when the others have used up that time. Each instance has its own state, until it ends.
import type { KubeClient } from '../kube/client/client.ts';
import { DeadlineError } from '../kube/client/errors.ts';

/** `open`: the cluster was unreachable, and is not called now. `throttled`: it is slow, and has used its share. */
export type BreakerState = 'closed' | 'open' | 'throttled';

/** The circuit breaker of one instance, with one state for each cluster. */
export type Breaker = ReturnType<typeof createBreaker>;

type Took = { readonly durationMs: number; readonly responseMs?: number | undefined };

/** Creates a breaker. `now` is in milliseconds, of any origin; `random` is in [0, 1). */
export function createBreaker(now: () => number, { random = Math.random } = {}) {
  const clusters = new Map<string, ClusterState>();
  /**
   * When as much time has passed as the time that unreachable and slow clusters took from the others requires. It may
   * be a fifth of the whole time, after a burst: the failures with which one cluster's breaker opens.
   */
  let paidAt = 0;
  let countedUntil = Number.NEGATIVE_INFINITY;
  const stateOf = (cluster: string) => clusters.get(cluster) ?? initialState;

  function isSlow(cluster: string, responseMs: number): boolean {
    // Most responses are fast; all clusters are compared only for a slow one.
    if (responseMs <= slow.responseMs) return false;
    const others = [...clusters].filter(([name, state]) => name !== cluster && !isFailing(state));
    const isFaster = (other = Number.POSITIVE_INFINITY) => other * slow.factor < responseMs;
    return others.some(([, other]) => isFaster(other.responseMs));
  }
  /** Adds the time of a key that has just ended. Keys of one batch run at the same time, so it counts once. */
  function lose(durationMs: number): void {
    paidAt = Math.max(paidAt, now()) + Math.min(durationMs, now() - countedUntil) * (1 + restFactor);
    countedUntil = now();
  }
  /** With a jitter of half: all instances find a slow cluster at the same time, and would call it at the same time. */
  const throttleMs = (durationMs: number) => durationMs * restFactor * (0.5 + random());

  return {
    /** Returns whether a key of the cluster may run. After an open interval all keys may, until the next failure. */
    state: (cluster: string): BreakerState => {
      const state = stateOf(cluster);
      // Unreachable or slow for certain: five failures, or two slow responses, in a row.
      const limitMs = isFailing(state) || state.isSlow ? maxLostMs : 2 * maxLostMs;
      const isLimited = isSuspect(state) && paidAt - now() > limitMs * (1 + restFactor);
      if (now() >= state.openUntil && !isLimited) return 'closed';
      return isFailing(state) || (isLimited && state.failures > 0) ? 'open' : 'throttled';
    },
    /**
     * The time limit of a key's first response, in milliseconds, after which the key is postponed; undefined: no limit.
     * A cluster that failed or was slow before has none when it is called again: its keys must make progress, too.
     */
    firstResponseTimeoutMs: (cluster: string): number | undefined =>
      !isSuspect(stateOf(cluster)) && isSlow(cluster, slowThresholdMs) ? slowThresholdMs : undefined,
    /** Records that the first response of a key timed out, and how long the key took. */
    recordTimeout: (cluster: string, { durationMs }: Took): void => {
      lose(durationMs);
      const state = stateOf(cluster);
      const wasSlow = (state.responseMs ?? 0) > slow.responseMs;
      const openUntil = now() + throttleMs(durationMs);
      clusters.set(cluster, { ...state, isSlow: wasSlow, responseMs: durationMs, openUntil });
    },
    /** Records that the cluster responded: the time of its first response, if any, and how long the key took. */
    recordSuccess: (cluster: string, { responseMs: latest, durationMs }: Took): void => {
      const { responseMs: previous } = stateOf(cluster);
      // Two in a row: a single slow response is not enough.
      const isThrottled = isSlow(cluster, Math.min(latest ?? 0, previous ?? 0));
      if (isThrottled) lose(durationMs);
      const responseMs = latest ?? previous;
      const openUntil = isThrottled ? now() + throttleMs(durationMs) : 0;
      clusters.set(cluster, { failures: 0, isSlow: isThrottled, openUntil, responseMs });
    },
    /** Records that the cluster was unreachable, and how long the key took. */
    recordFailure: (cluster: string, { durationMs }: Took): void => {
      lose(durationMs);
      const state = { ...stateOf(cluster), failures: stateOf(cluster).failures + 1 };
      const openMs = Math.max(minOpenSeconds * 1000, durationMs * restFactor);
      clusters.set(cluster, isFailing(state) ? { ...state, openUntil: now() + openMs } : state);
    },
  };
}

/** What a client has seen of its requests. Times are in milliseconds. */
type Seen = {
  /** The requests so far, without commands in containers, and the time in which at least one was open. */
  requests: number;
  requestMs: number;
  /** The duration of the first request, once it has ended. */
  responseMs?: number;
  /** Whether the first request exceeded its time limit. The outcome of the reconcile is then not about the object. */
  timedOut: boolean;
  /** Whether the cluster had not responded for a second when the signal aborted. An earlier abort says nothing. */
  unanswered: boolean;
};

/** Returns a client that measures its requests. The limit is for a first read of one object alone. */
export function timeRequests(client: KubeClient, monotonicMs: () => number, firstTimeoutMs?: number) {
  const seen: Seen = { requests: 0, requestMs: 0, timedOut: false, unanswered: false };
  let [open, openedAt] = [0, 0];
  const first: KubeClient['request'] = async (request) => {
    const isLimited = request.method === 'GET' && request.query === undefined && firstTimeoutMs !== undefined;
    const startedAt = monotonicMs();
    try {
      return await client.request(isLimited ? { ...request, timeoutSeconds: firstTimeoutMs / 1000 } : request);
    } catch (thrown) {
      seen.timedOut = isLimited && thrown instanceof DeadlineError;
      const isAborted = request.signal?.aborted === true && thrown === request.signal.reason;
      seen.unanswered = isAborted && monotonicMs() - startedAt >= slowThresholdMs;
      throw thrown;
    } finally {
      seen.responseMs = monotonicMs() - startedAt;
    }
  };
  const request: KubeClient['request'] = async (one) => {
    seen.requests += 1;
    if (open === 0) openedAt = monotonicMs();
    open += 1;
    try {
      return await (seen.requests === 1 ? first(one) : client.request(one));
    } finally {
      open -= 1;
      if (open === 0) seen.requestMs += monotonicMs() - openedAt;
    }
  };
  return { client: { ...client, request } satisfies KubeClient, seen };
}

type ClusterState = {
  readonly failures: number;
  readonly responseMs?: number | undefined;
  /** Whether two responses in a row were slow. */
  readonly isSlow: boolean;
  readonly openUntil: number;
};

const initialState: ClusterState = { failures: 0, isSlow: false, openUntil: 0 };
/** Consecutive failures after which the breaker of a cluster opens. */
const maxFailures = 5;
/** The shortest time that the breaker stays open. */
const minOpenSeconds = 10;
/** After an unreachable or slow cluster used some of an instance's time, the other clusters get this multiple of it. */
const restFactor = 4;
/**
 * The lost time after which clusters that are unreachable or slow wait: five connections that are not established
 * within three seconds. A cluster that is only suspected waits after twice as much.
 */
const maxLostMs = 15_000;
/** A cluster is slow if it takes longer, and so many times as long as another one. If all are, the instance is. */
const slow = { responseMs: 500, factor: 4 };
/** Kubernetes' objective for reads of one object (SLO "API call latency"): 99 of 100 within so many milliseconds. */
const slowThresholdMs = 1_000;

function isFailing({ failures }: ClusterState): boolean {
  return failures >= maxFailures;
}

function isSuspect({ failures, responseMs = 0 }: ClusterState): boolean {
  return failures > 0 || responseMs > slow.responseMs;
}
