// What a watch does next, decided purely: every step it can be in, and where each outcome leads. watch.ts does it.
//
// Guarantees: the version only ever comes from a finished list or a frame. Every start and every reconnect passes through
// `probe`: a watch from a version that the server has yet to reach (etcd restored from a backup) is accepted and stays
// silent for ever, so it must never be opened. Backoff is forgotten only when a watch brought a frame: a kind that lists
// but cannot be watched does not become a loop of lists.
import { ApiError, isGone } from './client/errors.ts';
import { compareVersions } from './resource-version.ts';

/**
 * Why everything is listed. initial: there is no version of ours. exact: as of the version given at the start. expired: the
 * version given at the start is too old. relist: the watch lost its place. restored: the server is older than our version.
 */
export type ListMode = 'initial' | 'exact' | 'expired' | 'relist' | 'restored';

/** Where a watch stands. `failures` counts those in a row. */
export type WatchState =
  | {
      readonly step: 'probe';
      readonly version: string;
      readonly before: 'watch' | 'exact' | 'expired' | 'relist';
      readonly failures: number;
    }
  | { readonly step: 'list'; readonly mode: 'initial' | 'restored'; readonly failures: number }
  | {
      readonly step: 'list';
      readonly mode: 'exact' | 'expired' | 'relist';
      readonly version: string;
      readonly failures: number;
    }
  | { readonly step: 'watch'; readonly version: string; readonly heard: boolean; readonly failures: number };

/** What a step came to. probed and listed carry the server's version, heard that of a frame. restored: another watch found out. */
export type WatchOutcome =
  | { readonly type: 'probed'; readonly version: string }
  | { readonly type: 'listed'; readonly version: string }
  | { readonly type: 'heard'; readonly version: string }
  | { readonly type: 'ended' }
  | { readonly type: 'restored' }
  | { readonly type: 'failed'; readonly error: unknown };

/** Returns the first state of a watch: from a version, or from nothing. */
export function firstState(start?: string): WatchState {
  return start === undefined
    ? { step: 'list', mode: 'initial', failures: 0 }
    : { step: 'probe', version: start, before: 'exact', failures: 0 };
}

/** Returns the state after an outcome. Outcomes that a step cannot have leave it as it is. */
export function nextState(state: WatchState, outcome: WatchOutcome): WatchState {
  if (outcome.type === 'failed') return afterFailure(state, outcome.error);
  if (outcome.type === 'restored') return { step: 'list', mode: 'restored', failures: state.failures };
  switch (state.step) {
    case 'probe':
      return outcome.type === 'probed' ? afterProbe(state, outcome.version) : state;
    case 'list':
      if (outcome.type !== 'listed') return state;
      return { step: 'watch', version: outcome.version, heard: false, failures: state.failures };
    case 'watch':
      if (outcome.type === 'heard') return { ...state, version: outcome.version, heard: true, failures: 0 };
      if (outcome.type === 'ended') return resume(state, state.heard ? 0 : state.failures + 1);
      return state;
  }
}

function afterProbe(state: WatchState & { step: 'probe' }, serverVersion: string): WatchState {
  const { version, before, failures } = state;
  const order = compareVersions(serverVersion, version);
  if (order !== undefined && order < 0) return { step: 'list', mode: 'restored', failures };
  if (before === 'watch') return { step: 'watch', version, heard: false, failures };
  return { step: 'list', mode: before, version, failures };
}

function afterFailure(state: WatchState, error: unknown): WatchState {
  const failures = state.failures + 1;
  if (state.step === 'probe') return { ...state, failures };
  if (state.step === 'watch') {
    return isGone(error)
      ? { step: 'probe', version: state.version, before: 'relist', failures }
      : resume(state, failures);
  }
  if (!('version' in state)) return { ...state, failures };
  const before = state.mode === 'exact' && isGone(error) ? 'expired' : state.mode;
  return { step: 'probe', version: state.version, before, failures };
}

function resume(state: WatchState & { step: 'watch' }, failures: number): WatchState {
  return { step: 'probe', version: state.version, before: 'watch', failures };
}

const FIRST_BACKOFF_SECONDS = 1.6;
const MAX_BACKOFF_SECONDS = 30;
/** A longer Retry-After is a mistake, and would look like a watch loop that has died. */
const MAX_RETRY_AFTER_SECONDS = 60;

/**
 * Returns how long to wait before going on, in seconds: 0 when nothing failed and for the first "too old" in a row (there
 * is nothing to wait for), otherwise 0.8 to 1.6 s, doubling up to 15 to 30 s, and never less than the server's Retry-After.
 * `random` is in [0, 1).
 */
export function backoffSeconds(failures: number, error: unknown, random: number): number {
  if (failures === 0 || (failures === 1 && isGone(error))) return 0;
  const most = Math.min(MAX_BACKOFF_SECONDS, FIRST_BACKOFF_SECONDS * 2 ** (failures - 1));
  const asked = error instanceof ApiError ? Math.min(error.retryAfterSeconds ?? 0, MAX_RETRY_AFTER_SECONDS) : 0;
  return Math.max((most * (1 + random)) / 2, asked);
}
