// The state machine of a watch: its transitions as a table, and its invariants for any order of outcomes. Excluded: the
// requests of each step (watch.test.ts).
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ApiError, ConnectError } from '../../../src/kube/client/errors.ts';
import {
  firstState,
  nextState,
  type WatchOutcome,
  type WatchState,
  watchBackoffSeconds,
} from '../../../src/kube/watch/watch-state.ts';

const gone = new ApiError('WATCH /x', 410, undefined);
const reset = new ConnectError('reset');
const failed = (error: unknown): WatchOutcome => ({ type: 'failed', error });
const probe = (next: 'watch' | 'exact' | 'expired' | 'relist', failures = 0): WatchState => ({
  step: 'probe',
  version: '50',
  next,
  failures,
});
const watch = (received: boolean, failures = 0, version = '50'): WatchState => ({
  step: 'watch',
  version,
  received,
  failures,
});
const list = (mode: 'exact' | 'expired' | 'relist', failures = 0): WatchState => ({
  step: 'list',
  mode,
  version: '50',
  failures,
});
const listNow = (mode: 'initial' | 'restored', failures = 0): WatchState => ({ step: 'list', mode, failures });

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
      probe('expired', 1),
    ],
    ['an exact list that fails otherwise probes and then starts over', list('exact'), failed(reset), probe('exact', 1)],
    [
      'a relist whose continue token expired probes and then starts over',
      list('relist', 3),
      failed(gone),
      probe('relist', 4),
    ],
    ['a failed initial list is repeated', listNow('initial'), failed(reset), listNow('initial', 1)],
    [
      'a restore that another watch reported lists the restored server',
      probe('watch'),
      { type: 'restored' },
      listNow('restored'),
    ],
    ['a failed list of a restored server is repeated', listNow('restored', 1), failed(gone), listNow('restored', 2)],
    [
      'a completed list opens the watch at its version',
      listNow('initial', 1),
      { type: 'listed', version: '60' },
      watch(false, 1, '60'),
    ],
    [
      'a watch event advances the version and resets the failures',
      watch(false, 5),
      { type: 'received', version: '61' },
      watch(true, 0, '61'),
    ],
    ['a watch that fails with 410 probes and then relists', watch(true), failed(gone), probe('relist', 1)],
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
    [1, gone, 0.5, 0],
    [2, gone, 0, 1.6],
    [1, new ApiError('GET /x', 429, undefined, 20), 0, 20],
    [9, new ApiError('GET /x', 429, undefined, 1), 0, 15],
    [1, new ApiError('GET /x', 503, undefined, 9999), 0, 60],
  ])('watchBackoffSeconds after %d failures, %s, random %d: %d s', (failures, error, random, expected) => {
    expect(watchBackoffSeconds(failures, error, random)).toBeCloseTo(expected, 1);
  });
});
