// What a watch does next, as a table, and what holds in whatever order things go wrong. Excluded: doing it (watch.test.ts).
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ApiError, ConnectError } from '../../src/kube/client/errors.ts';
import {
  backoffSeconds,
  firstState,
  nextState,
  type WatchOutcome,
  type WatchState,
} from '../../src/kube/watch-state.ts';

const gone = new ApiError('WATCH /x', 410, undefined);
const reset = new ConnectError('reset');
const failed = (error: unknown): WatchOutcome => ({ type: 'failed', error });
const probe = (before: 'watch' | 'exact' | 'expired' | 'relist', failures = 0): WatchState => ({
  step: 'probe',
  version: '50',
  before,
  failures,
});
const watch = (heard: boolean, failures = 0, version = '50'): WatchState => ({
  step: 'watch',
  version,
  heard,
  failures,
});
const list = (mode: 'exact' | 'expired' | 'relist', failures = 0): WatchState => ({
  step: 'list',
  mode,
  version: '50',
  failures,
});
const blank = (mode: 'initial' | 'restored', failures = 0): WatchState => ({ step: 'list', mode, failures });

describe('the next state', () => {
  it.each<[string, WatchState, WatchOutcome, WatchState]>([
    ['the same version: go on watching', probe('watch', 2), { type: 'probed', version: '50' }, watch(false, 2)],
    ['a newer version: list at the cursor', probe('exact'), { type: 'probed', version: '51' }, list('exact')],
    ['an older version: restored', probe('exact'), { type: 'probed', version: '49' }, blank('restored')],
    [
      'an older version with fewer digits: restored',
      probe('watch'),
      { type: 'probed', version: '9' },
      blank('restored'),
    ],
    [
      'a version of an aggregated API: cannot tell, go on',
      probe('watch'),
      { type: 'probed', version: 'abc' },
      watch(false),
    ],
    ['a probe fails: probe again', probe('relist', 1), failed(reset), probe('relist', 2)],
    ['the cursor is too old: list now', list('exact'), failed(gone), probe('expired', 1)],
    ['the exact list breaks off: from the start of it', list('exact'), failed(reset), probe('exact', 1)],
    [
      'a continue token of a relist is too old: from the start of it',
      list('relist', 3),
      failed(gone),
      probe('relist', 4),
    ],
    ['the first list breaks off: again', blank('initial'), failed(reset), blank('initial', 1)],
    ['another watch has found the server restored: listed', probe('watch'), { type: 'restored' }, blank('restored')],
    ['a list of a restored server breaks off: again', blank('restored', 1), failed(gone), blank('restored', 2)],
    ['listed: watch from there', blank('initial', 1), { type: 'listed', version: '60' }, watch(false, 1, '60')],
    ['heard: on, and all is forgiven', watch(false, 5), { type: 'heard', version: '61' }, watch(true, 0, '61')],
    ['the watch lost its place: list', watch(true), failed(gone), probe('relist', 1)],
    ['the watch is lost: on from the last version', watch(true), failed(reset), probe('watch', 1)],
    ['the server ended the watch: on at once', watch(true), { type: 'ended' }, probe('watch', 0)],
    [
      'the server ended it before a frame came: that is a failure',
      watch(false, 2),
      { type: 'ended' },
      probe('watch', 3),
    ],
  ])('%s', (_, state, outcome, expected) => {
    expect(nextState(state, outcome)).toEqual(expected);
  });

  it('starts with a probe where a version is known, and with a list where none is', () => {
    expect(firstState('50')).toEqual(probe('exact'));
    expect(firstState()).toEqual(blank('initial'));
  });

  const version = fc.integer({ min: 1, max: 100 }).map(String);
  const outcome: fc.Arbitrary<WatchOutcome> = fc.oneof(
    fc.record({ type: fc.constantFrom('probed', 'listed', 'heard'), version }),
    fc.constantFrom<WatchOutcome>({ type: 'ended' }, failed(gone), failed(reset)),
  );

  it('a watch is only ever opened after a probe or a list since the last failure', () => {
    fc.assert(
      fc.property(fc.array(outcome), (outcomes) => {
        let state = firstState('50');
        for (const one of outcomes) {
          const before = state;
          state = nextState(state, one);
          if (state.step === 'watch' && before.step !== 'watch') expect(['probed', 'listed']).toContain(one.type);
          if (one.type === 'failed' || one.type === 'ended')
            expect(state.step === 'watch' && before.step === 'watch').toBe(false);
        }
      }),
    );
  });

  it('a version is given up only for a server that is older', () => {
    fc.assert(
      fc.property(fc.array(outcome), (outcomes) => {
        let state = firstState('50');
        for (const one of outcomes) {
          const before = state;
          state = nextState(state, one);
          if ('version' in before && !('version' in state)) {
            expect(one).toMatchObject({ type: 'probed' });
            expect(state).toMatchObject({ mode: 'restored' });
          }
        }
      }),
    );
  });
});

describe('the wait', () => {
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
  ])('after %d failures, %s, random %d: %d s', (failures, error, random, expected) => {
    expect(backoffSeconds(failures, error, random)).toBeCloseTo(expected, 1);
  });
});
