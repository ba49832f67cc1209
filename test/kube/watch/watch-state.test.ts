// The state machine of a watch: its transitions as a table, and its invariants for any order of outcomes. Excluded: the
// requests of each step (watch.test.ts).
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ApiError, ConnectError } from '../../../src/kube/client/errors.ts';
import {
  firstState,
  nextState,
  type WatchFailures,
  type WatchOutcome,
  type WatchState,
  watchBackoffSeconds,
} from '../../../src/kube/watch/watch-state.ts';

const gone = new ApiError('WATCH /x', 410, undefined);
const reset = new ConnectError('reset');
const failed = (error: unknown): WatchOutcome => ({ type: 'failed', error });
type Failures = number | WatchFailures;
/** Failures without a 410, unless they are given in full. */
const counts = (failures: Failures) => (typeof failures === 'number' ? { failures, gone: 0 } : failures);
const probe = (next: 'watch' | 'exact' | 'expired' | 'relist', failures: Failures = 0): WatchState => ({
  step: 'probe',
  version: '50',
  next,
  ...counts(failures),
});
const watch = (received: boolean, failures: Failures = 0, version = '50'): WatchState => ({
  step: 'watch',
  version,
  received,
  ...counts(failures),
});
const list = (mode: 'exact' | 'expired' | 'relist', failures: Failures = 0): WatchState => ({
  step: 'list',
  mode,
  version: '50',
  ...counts(failures),
});
const listNow = (mode: 'initial' | 'restored', failures: Failures = 0): WatchState => ({
  step: 'list',
  mode,
  ...counts(failures),
});

describe('nextState', () => {
  it.each<[string, WatchState, WatchOutcome, WatchState]>([
    [
      'a probe that returns the same version opens the watch',
      probe('watch', 2),
      { type: 'probed', version: '50' },
      watch(false, 2),
    ],
    [
      'a probe that returns a newer version lists as of the start version',
      probe('exact'),
      { type: 'probed', version: '51' },
      list('exact'),
    ],
    [
      'a probe that returns an older version lists the restored server',
      probe('exact'),
      { type: 'probed', version: '49' },
      listNow('restored'),
    ],
    [
      'a probe that returns an older version with fewer digits lists the restored server',
      probe('watch'),
      { type: 'probed', version: '9' },
      listNow('restored'),
    ],
    [
      'a probe that returns an incomparable version of an aggregated API opens the watch',
      probe('watch'),
      { type: 'probed', version: 'abc' },
      watch(false),
    ],
    ['a failed probe is repeated', probe('relist', 1), failed(reset), probe('relist', 2)],
    [
      'an exact list that fails with 410 probes and then lists the newest version',
      list('exact'),
      failed(gone),
      probe('expired', { failures: 1, gone: 1 }),
    ],
    ['an exact list that fails otherwise probes and then starts over', list('exact'), failed(reset), probe('exact', 1)],
    [
      'a relist whose continue token expired probes and then starts over',
      list('relist', 3),
      failed(gone),
      probe('relist', { failures: 4, gone: 1 }),
    ],
    ['a failed initial list is repeated', listNow('initial'), failed(reset), listNow('initial', 1)],
    [
      'a restore that another watch reported lists the restored server',
      probe('watch'),
      { type: 'restored' },
      listNow('restored'),
    ],
    [
      'a failed list of a restored server is repeated',
      listNow('restored', 1),
      failed(gone),
      listNow('restored', { failures: 2, gone: 1 }),
    ],
    [
      'a probe that succeeds keeps the failures',
      probe('relist', { failures: 3, gone: 1 }),
      { type: 'probed', version: '51' },
      list('relist', { failures: 3, gone: 1 }),
    ],
    [
      'a list that succeeds keeps the failures',
      list('relist', { failures: 3, gone: 1 }),
      { type: 'listed', version: '60' },
      watch(false, { failures: 3, gone: 1 }, '60'),
    ],
    [
      'a restore keeps the failures',
      probe('watch', { failures: 3, gone: 1 }),
      { type: 'restored' },
      listNow('restored', { failures: 3, gone: 1 }),
    ],
    [
      'a watch that fails with 410 after an outage counts its first 410',
      watch(false, 4),
      failed(gone),
      probe('relist', { failures: 5, gone: 1 }),
    ],
    [
      'a connection lost after a 410 keeps the count of 410s',
      watch(false, { failures: 1, gone: 1 }),
      failed(reset),
      probe('watch', { failures: 2, gone: 1 }),
    ],
    [
      'a completed list opens the watch at its version',
      listNow('initial', 1),
      { type: 'listed', version: '60' },
      watch(false, 1, '60'),
    ],
    [
      'a watch event advances the version and resets the failures',
      watch(false, { failures: 5, gone: 2 }),
      { type: 'received', version: '61' },
      watch(true, 0, '61'),
    ],
    [
      'a watch that fails with 410 probes and then relists',
      watch(true),
      failed(gone),
      probe('relist', { failures: 1, gone: 1 }),
    ],
    [
      'a watch that loses its connection probes and then resumes at the last version',
      watch(true),
      failed(reset),
      probe('watch', 1),
    ],
    [
      'a watch that the server ended after an event resumes without a failure',
      watch(true),
      { type: 'ended' },
      probe('watch', 0),
    ],
    [
      'a watch that the server ended before the first event counts as a failure',
      watch(false, 2),
      { type: 'ended' },
      probe('watch', 3),
    ],
  ])('nextState: %s', (_, state, outcome, expected) => {
    expect(nextState(state, outcome)).toEqual(expected);
  });

  it('firstState is a probe with a start version, and a list without one', () => {
    expect(firstState('50')).toEqual(probe('exact'));
    expect(firstState()).toEqual(listNow('initial'));
  });

  const version = fc.integer({ min: 1, max: 100 }).map(String);
  const outcome: fc.Arbitrary<WatchOutcome> = fc.oneof(
    fc.record({ type: fc.constantFrom('probed', 'listed', 'received'), version }),
    fc.constantFrom<WatchOutcome>({ type: 'ended' }, failed(gone), failed(reset)),
  );

  it('nextState opens a watch only after a probe or a list since the last failure', () => {
    fc.assert(
      fc.property(fc.array(outcome), (outcomes) => {
        let state = firstState('50');
        for (const next of outcomes) {
          const before = state;
          state = nextState(state, next);
          if (state.step === 'watch' && before.step !== 'watch') expect(['probed', 'listed']).toContain(next.type);
          if (next.type === 'failed' || next.type === 'ended')
            expect(state.step === 'watch' && before.step === 'watch').toBe(false);
        }
      }),
    );
  });

  it('nextState drops the version only for a server with an older version', () => {
    fc.assert(
      fc.property(fc.array(outcome), (outcomes) => {
        let state = firstState('50');
        for (const next of outcomes) {
          const before = state;
          state = nextState(state, next);
          if ('version' in before && !('version' in state)) {
            expect(next).toMatchObject({ type: 'probed' });
            expect(state).toMatchObject({ mode: 'restored' });
          }
        }
      }),
    );
  });
});

describe('watchBackoffSeconds', () => {
  it.each<[number, unknown, number, number]>([
    [0, reset, 0.5, 0],
    [1, reset, 0, 0.8],
    [1, reset, 0.999, 1.6],
    [2, reset, 0, 1.6],
    [6, reset, 0, 15],
    [60, reset, 0.999, 30],
    [1, new ApiError('GET /x', 429, undefined, 20), 0, 20],
    [9, new ApiError('GET /x', 429, undefined, 1), 0, 15],
    [1, new ApiError('GET /x', 503, undefined, 9999), 0, 60],
  ])('watchBackoffSeconds after %d failures, %s, random %d: %d s', (failures, error, random, expected) => {
    expect(watchBackoffSeconds(counts(failures), error, random)).toBeCloseTo(expected, 1);
  });

  it.each<[WatchFailures, unknown, number]>([
    [{ failures: 1, gone: 1 }, gone, 0],
    [{ failures: 2, gone: 2 }, gone, 1.6],
    [{ failures: 5, gone: 1 }, gone, 0],
    [{ failures: 6, gone: 2 }, gone, 15],
    [{ failures: 2, gone: 1 }, reset, 1.6],
  ])('watchBackoffSeconds after %j, the last one %s: %d s', (failures, error, expected) => {
    expect(watchBackoffSeconds(failures, error, 0)).toBeCloseTo(expected, 1);
  });
});
