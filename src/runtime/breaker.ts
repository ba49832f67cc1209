// One bad cluster must not hold the functions of the others. One that cannot be reached is not called after some failures in a row,
// except by the keys of one batch now and then: by all of them, because side by side they take no longer than one would, and none of a
// cluster that is back is put off again, for twice as long as before, while another one finds that out. One that answers, but far more
// slowly than the others, gets a part of an instance's time, and where it is not yet known to be slow its first answer is not awaited long.
// What an instance knows it learnt itself, and forgets when it ends.

/** What a function may do with a cluster's key now. */
export type Advice = 'try' | 'unreachable' | 'slow';

/** What an instance has learnt of its clusters. */
export type Breaker = {
  /** Tells whether to try. An unreachable cluster is tried once in a while, by everybody until the next failure. */
  advise(cluster: string): Advice;
  /** How long to wait for a first answer before its key is put off, in milliseconds; undefined: as long as it takes. */
  patienceMs(cluster: string): number | undefined;
  /** Takes note of a key that was put off for want of patience, and how long that took. */
  gaveUp(cluster: string, took: { readonly wholeMs: number }): void;
  /** Takes note of a key that got answers: how long the first one took, where there was one, and how long all of the key. */
  reached(cluster: string, took: { readonly answerMs?: number; readonly wholeMs: number }): void;
  /** Takes note that nobody answered, and how long that took. */
  unreachable(cluster: string, took: { readonly wholeMs: number }): void;
};

type State = { readonly failures: number; readonly answerMs?: number; readonly restsUntil: number };

const unknown: State = { failures: 0, restsUntil: 0 };
/** After a bad cluster had some of an instance's time, the others have so many times as much. */
const restFactor = 4;
/** Slow is who takes longer than this, and so many times longer than another: when all are slow it is ourselves. */
const slow = { answerMs: 500, factor: 4 };
/** Kubernetes' own objective for reads of one object (SLO "API call latency"): 99 of 100 within so many milliseconds. */
const patienceMs = 1_000;

/** Creates a breaker. `now` is in milliseconds, of any origin; `random` is in [0, 1). */
export function createBreaker(
  now: () => number,
  { failures = 5, againSeconds = 10, random = Math.random } = {},
): Breaker {
  const states = new Map<string, State>();
  const isOpen = (state: State) => state.failures >= failures;
  const stateOf = (cluster: string) => states.get(cluster) ?? unknown;

  function isSlow(cluster: string, answerMs: number): boolean {
    const others = [...states].filter(([name, state]) => name !== cluster && !isOpen(state));
    const isFaster = (other = Number.POSITIVE_INFINITY) => other * slow.factor < answerMs;
    return answerMs > slow.answerMs && others.some(([, other]) => isFaster(other.answerMs));
  }
  /** Half as long to one and a half times: instances learn at the same time who is slow, and would all give it its turn at the same time. */
  const restMs = (wholeMs: number) => wholeMs * restFactor * (0.5 + random());
  const isInDoubt = ({ failures: failed, answerMs = 0 }: State) => failed > 0 || answerMs > slow.answerMs;
  return {
    advise: (cluster) => {
      const state = stateOf(cluster);
      if (now() < state.restsUntil) return isOpen(state) ? 'unreachable' : 'slow';
      return 'try';
    },
    // Whose turn it is although it is slow is awaited: it must get on as well.
    patienceMs: (cluster) => (!isInDoubt(stateOf(cluster)) && isSlow(cluster, patienceMs) ? patienceMs : undefined),
    gaveUp: (cluster, { wholeMs }) =>
      void states.set(cluster, { ...stateOf(cluster), answerMs: wholeMs, restsUntil: now() + restMs(wholeMs) }),
    reached: (cluster, { answerMs: last, wholeMs }) => {
      const { answerMs: before } = stateOf(cluster);
      // Twice in a row: one slow answer says nothing of the cluster.
      const rests = isSlow(cluster, Math.min(last ?? 0, before ?? 0));
      const answerMs = last ?? before;
      const restsUntil = rests ? now() + restMs(wholeMs) : 0;
      states.set(cluster, { failures: 0, restsUntil, ...(answerMs === undefined ? {} : { answerMs }) });
    },
    unreachable: (cluster, { wholeMs }) => {
      const state = { ...stateOf(cluster), failures: stateOf(cluster).failures + 1 };
      const untilAgainMs = Math.max(againSeconds * 1000, wholeMs * restFactor);
      states.set(cluster, isOpen(state) ? { ...state, restsUntil: now() + untilAgainMs } : state);
    },
  };
}
