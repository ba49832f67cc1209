// The state machine of a watch: its states, and the transition for each outcome. It is pure; watch.ts executes the
// steps.
//
// - Start without a resourceVersion: list `initial`, then watch.
// - Start with a resourceVersion: probe, list `exact`, then watch.
// - `exact` fails with 410 Gone: probe, list `expired`, then watch.
// - A watch ends or fails: probe, then watch from the last resourceVersion.
// - A watch fails with 410 Gone: probe, list `relist`, then watch.
// - Several watches in a row are silent: probe, list `stalled`, then watch.
// - A probe detects a restore, or another watch reports one: list `restored`, then watch.
// - A probe fails, or a list fails otherwise: repeat it. A list with a resourceVersion is preceded by another probe.
//
// Guarantees: a resourceVersion only comes from a completed list or a watch event. Every start with a resourceVersion
// and every reconnect passes through `probe`. After etcd was restored from a backup, the server accepts a watch from a
// resourceVersion that it has not reached yet, and never sends an event; such a watch must not be opened. The failure
// counts are reset only by a watch event, so a kind that can be listed but not watched does not cause a loop of lists.
import { backoffSeconds, watchBackoff } from '../../core/backoff.ts';
import { ApiError, IdleError, isGone } from '../client/errors.ts';
import { compareVersions } from './resource-version.ts';

/**
 * The reason for a list.
 * - initial: the watch started without a resourceVersion.
 * - exact: the watch started with a resourceVersion, and the list is as of that version.
 * - expired: the resourceVersion at the start is too old.
 * - relist: the watch's resourceVersion is too old.
 * - stalled: the server, or a proxy, may hold back the watch's events.
 * - restored: the server's resourceVersion is older than the watch's, because etcd was restored.
 */
export type ListMode = 'initial' | 'exact' | 'expired' | 'relist' | 'stalled' | 'restored';

/**
 * The failures since the last watch event, and how many of them were a 410 Gone. A watch that the server ended before
 * its first event is one.
 */
export type WatchFailures = { readonly failures: number; readonly gone: number };

type VersionedMode = Exclude<ListMode, 'initial' | 'restored'>;

/** The state of a watch. In a probe, `next` is the step after it. */
export type WatchState = WatchFailures &
  (
    | { readonly step: 'probe'; readonly version: string; readonly next: 'watch' | VersionedMode }
    | { readonly step: 'list'; readonly mode: 'initial' | 'restored' }
    | { readonly step: 'list'; readonly mode: VersionedMode; readonly version: string }
    | { readonly step: 'watch'; readonly version: string; readonly received: boolean }
  );

/**
 * The outcome of a step. `probed` and `listed` have the server's resourceVersion, `received` has that of a watch event.
 * `stalled` means that several watches were silent, `restored` that another watch of the server detected a restore.
 */
export type WatchOutcome =
  | { readonly type: 'probed'; readonly version: string }
  | { readonly type: 'listed'; readonly version: string }
  | { readonly type: 'received'; readonly version: string }
  | { readonly type: 'ended' }
  | { readonly type: 'stalled' }
  | { readonly type: 'restored' }
  | { readonly type: 'failed'; readonly error: unknown };

const noFailures: WatchFailures = { failures: 0, gone: 0 };

/** Returns the initial state of a watch, with or without a resourceVersion to start from. */
export function firstState(start?: string): WatchState {
  return start === undefined
    ? { step: 'list', mode: 'initial', ...noFailures }
    : { step: 'probe', version: start, next: 'exact', ...noFailures };
}

/** Returns the state after an outcome. An outcome that does not belong to the step changes nothing. */
export function nextState(state: WatchState, outcome: WatchOutcome): WatchState {
  if (outcome.type === 'failed') return afterFailure(state, outcome.error);
  if (outcome.type === 'restored') return { step: 'list', mode: 'restored', ...failuresOf(state) };
  switch (state.step) {
    case 'probe':
      if (outcome.type === 'stalled' && state.next === 'watch') return { ...state, next: 'stalled' };
      return outcome.type === 'probed' ? afterProbe(state, outcome.version) : state;
    case 'list':
      if (outcome.type !== 'listed') return state;
      return { step: 'watch', version: outcome.version, received: false, ...failuresOf(state) };
    case 'watch':
      if (outcome.type === 'received') return { ...state, version: outcome.version, received: true, ...noFailures };
      if (outcome.type !== 'ended') return state;
      return reconnect(state, state.received ? noFailures : { ...failuresOf(state), failures: state.failures + 1 });
  }
}

function failuresOf({ failures, gone }: WatchState): WatchFailures {
  return { failures, gone };
}

function afterProbe(state: WatchState & { step: 'probe' }, serverVersion: string): WatchState {
  const { version, next } = state;
  const failures = failuresOf(state);
  const order = compareVersions(serverVersion, version);
  if (order !== undefined && order < 0) return { step: 'list', mode: 'restored', ...failures };
  if (next === 'watch') return { step: 'watch', version, received: false, ...failures };
  return { step: 'list', mode: next, version, ...failures };
}

function afterFailure(state: WatchState, error: unknown): WatchState {
  // A server that sends no bookmarks, or a proxy that closes a watch before the first one, lets every watch of a quiet
  // kind be idle, which is no reason to wait longer.
  const count = error instanceof IdleError ? 1 : state.failures + 1;
  const failures = { failures: count, gone: state.gone + (isGone(error) ? 1 : 0) };
  if (state.step === 'probe') return { ...state, ...failures };
  if (state.step === 'watch') {
    return isGone(error)
      ? { step: 'probe', version: state.version, next: 'relist', ...failures }
      : reconnect(state, failures);
  }
  if (!('version' in state)) return { ...state, ...failures };
  const next = state.mode === 'exact' && isGone(error) ? 'expired' : state.mode;
  return { step: 'probe', version: state.version, next, ...failures };
}

function reconnect(state: WatchState & { step: 'watch' }, failures: WatchFailures): WatchState {
  return { step: 'probe', version: state.version, next: 'watch', ...failures };
}

/** A longer Retry-After is probably a mistake, and would look like a hung watch. */
const maxRetryAfterSeconds = 60;

/**
 * Returns the delay before the next step, in seconds. It is 0 without a failure, and for the first 410 Gone since an
 * event, because a list can follow at once, also after an outage: the server that sent it is available. Otherwise it
 * follows watchBackoff, and is at least the server's Retry-After.
 * @param failures those of the state after the error, which they include
 * @param random in [0, 1), selects the jitter
 */
export function watchBackoffSeconds({ failures, gone }: WatchFailures, error: unknown, random: number): number {
  if (failures === 0 || (gone <= 1 && isGone(error))) return 0;
  const retryAfter = error instanceof ApiError ? Math.min(error.retryAfterSeconds ?? 0, maxRetryAfterSeconds) : 0;
  return Math.max(backoffSeconds(watchBackoff, failures, random), retryAfter);
}
