// The state machine of a watch: its transitions as a table, and its invariants for any order of outcomes. Excluded: the
// requests of each step (watch.test.ts).
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ApiError, ConnectError, IdleError } from '../../../src/kube/client/errors.ts';
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
const [expired, lost, idle] = [failed(gone), failed(reset), failed(new IdleError('idle'))];
const probed = (version: string): WatchOutcome => ({ type: 'probed', version });
const listed = (version: string): WatchOutcome => ({ type: 'listed', version });
const received = (version: string): WatchOutcome => ({ type: 'received', version });
const [ended, restored, stalled] = [{ type: 'ended' }, { type: 'restored' }, { type: 'stalled' }] as const;
// The last two numbers are the failures, and how many of them were a 410.
const probe = (next: 'watch' | 'exact' | 'expired' | 'relist' | 'stalled', failures = 0, gone = 0): WatchState => ({
  step: 'probe',
  version: '50',
  next,
  failures,
  gone,
});
const watch = (received: boolean, failures = 0, gone = 0, version = '50'): WatchState => ({
  step: 'watch',
  version,
  received,
  failures,
  gone,
});
const list = (mode: 'exact' | 'expired' | 'relist', failures = 0, gone = 0): WatchState => ({
  step: 'list',
  mode,
  version: '50',
  failures,
  gone,
});
const listNow = (mode: 'initial' | 'restored', failures = 0, gone = 0): WatchState => ({
  step: 'list',
  mode,
  failures,
  gone,
});

it.each<[string, WatchState, WatchOutcome, WatchState]>([
  ['a probe of the same version opens the watch', probe('watch', 2), probed('50'), watch(false, 2)],
  ['a probe of a newer version lists as of the start version', probe('exact'), probed('51'), list('exact')],
  ['a probe of an older version lists the restored server', probe('exact'), probed('49'), listNow('restored')],
  ['a probe of fewer digits lists the restored server', probe('watch'), probed('9'), listNow('restored')],
  ['a probe of an incomparable version opens the watch', probe('watch'), probed('abc'), watch(false)],
  ['a failed probe is repeated', probe('relist', 1), lost, probe('relist', 2)],
  ['an exact list with 410 probes, for the newest version', list('exact'), expired, probe('expired', 1, 1)],
  ['an exact list that fails otherwise probes and starts over', list('exact'), lost, probe('exact', 1)],
  ['a relist whose token expired probes and starts over', list('relist', 3), expired, probe('relist', 4, 1)],
  ['a failed initial list is repeated', listNow('initial'), lost, listNow('initial', 1)],
  ['a restore that is reported lists the restored server', probe('watch'), restored, listNow('restored')],
  ['a failed list of a restored server is repeated', listNow('restored', 1), expired, listNow('restored', 2, 1)],
  ['a stalled watch is followed by a list', probe('watch', 1), stalled, probe('stalled', 1)],
  ['a stalled watch that has expired is listed as such', probe('relist', 1), stalled, probe('relist', 1)],
  ['an idle watch counts as the first failure', watch(false, 5), idle, probe('watch', 1)],
  ['a probe that succeeds keeps the failures', probe('relist', 3, 1), probed('51'), list('relist', 3, 1)],
  ['a list that succeeds keeps the failures', list('relist', 3, 1), listed('60'), watch(false, 3, 1, '60')],
  ['a restore keeps the failures', probe('watch', 3, 1), restored, listNow('restored', 3, 1)],
  ['a watch with 410 after an outage counts its first 410', watch(false, 4), expired, probe('relist', 5, 1)],
  ['a connection lost after a 410 keeps the count of 410s', watch(false, 1, 1), lost, probe('watch', 2, 1)],
  ['a completed list opens the watch at its version', listNow('initial', 1), listed('60'), watch(false, 1, 0, '60')],
  ['an event sets the version and resets the failures', watch(false, 5, 2), received('61'), watch(true, 0, 0, '61')],
  ['a watch with 410 probes and then relists', watch(true), expired, probe('relist', 1, 1)],
  ['a lost watch probes and resumes at the last version', watch(true), lost, probe('watch', 1)],
  ['a watch that ends after an event resumes without a failure', watch(true), ended, probe('watch', 0)],
  ['a watch that ends before an event counts as a failure', watch(false, 2), ended, probe('watch', 3)],
])('nextState: %s', (_, state, outcome, expected) => {
  expect(nextState(state, outcome)).toEqual(expected);
});

const version = fc.integer({ min: 1, max: 100 }).map(String);
const outcome: fc.Arbitrary<WatchOutcome> = fc.oneof(
  fc.record({ type: fc.constantFrom('probed', 'listed', 'received'), version }),
  fc.constantFrom<WatchOutcome>({ type: 'ended' }, failed(gone), failed(reset)),
);

/** Checks each step of any outcomes. */
const always = (check: (before: WatchState, next: WatchOutcome, state: WatchState) => void) =>
  fc.assert(
    fc.property(fc.array(outcome), (outcomes) => {
      let state = firstState('50');
      for (const next of outcomes) {
        const before = state;
        state = nextState(state, next);
        check(before, next, state);
      }
    }),
  );

it('nextState opens a watch only after a probe or a list since the last failure', () => {
  always((before, next, state) => {
    if (state.step === 'watch' && before.step !== 'watch') expect(['probed', 'listed']).toContain(next.type);
    if (next.type === 'failed' || next.type === 'ended')
      expect(state.step === 'watch' && before.step === 'watch').toBe(false);
  });
});

it('nextState drops the version only for a server with an older version', () => {
  always((before, next, state) => {
    if (!('version' in before) || 'version' in state) return;
    expect(next).toMatchObject({ type: 'probed' });
    expect(state).toMatchObject({ mode: 'restored' });
  });
});

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
  expect(watchBackoffSeconds({ failures, gone: 0 }, error, random)).toBeCloseTo(expected, 1);
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
