// Only the content of a status. Applying it is in reconcile.test.ts.
import { expect, it } from 'vitest';
import { NotOwnedError } from '../../../src/core/errors.ts';
import {
  isStalled,
  statusAfterFailure,
  statusAfterResult,
  statusWhileFinalizing,
} from '../../../src/reconciling/status/status.ts';
import { conditionOf, conditionsBefore, inputWith, nowSeconds, then } from './statuses.ts';

const declared = ['AtLevel', 'SensorReachable'];
const yes = { status: 'True', reason: 'Ok' } as const;
const no = { status: 'False', reason: 'SensorError', message: 'no response' } as const;

const currentStatus = (generation: number, statuses: Readonly<Record<string, string>>): Record<string, unknown> => ({
  ...{ observedLevel: 40, observedGeneration: generation, conditions: conditionsBefore(generation, statuses) },
});
const inputOf = inputWith(declared);
const result = { status: { observedLevel: 41 }, conditions: { AtLevel: yes, SensorReachable: yes } };

it('Ready is True exactly when every declared condition is', () => {
  expect(conditionOf(statusAfterResult(result, inputOf({}, 3)), 'Ready')).toMatchObject({ status: 'True' });
  const bad = { ...result, conditions: { AtLevel: yes, SensorReachable: no } };
  const ready = conditionOf(statusAfterResult(bad, inputOf({}, 3)), 'Ready');
  expect(ready).toMatchObject({ status: 'False', reason: 'SensorError', message: 'SensorReachable: no response' });
});

it('a transition time moves only when the status of its condition does', () => {
  const owned = currentStatus(2, { AtLevel: 'True', SensorReachable: 'False', Ready: 'False' });
  const status = statusAfterResult(result, inputOf(owned, 3));
  expect(conditionOf(status, 'AtLevel')?.lastTransitionTime).toBe(then);
  expect(conditionOf(status, 'SensorReachable')?.lastTransitionTime).toBe(nowSeconds);
  expect(conditionOf(status, 'AtLevel')?.observedGeneration).toBe(3);
});

it('Reconciling and Stalled are removed after a success', () => {
  const owned = currentStatus(3, { Reconciling: 'True', Stalled: 'True' });
  expect(statusAfterResult(result, inputOf(owned, 3)).conditions.map(({ type }) => type)).toEqual([
    'AtLevel',
    'Ready',
    'SensorReachable',
  ]);
});

it('a result with an error has the given status and Reconciling', () => {
  const status = statusAfterResult({ ...result, error: new Error('later') }, inputOf({}, 3));
  expect(conditionOf(status, 'Reconciling')).toMatchObject({ status: 'True', reason: 'Retrying', message: 'later' });
  expect(status.observedLevel).toBe(41);
});

it('all owned fields are kept after a failure', () => {
  const owned = currentStatus(3, { AtLevel: 'True', SensorReachable: 'True', Ready: 'True' });
  const status = statusAfterFailure(new Error('boom'), 'retrying', inputOf(owned, 3));
  expect(status.observedLevel).toBe(40);
  expect(conditionOf(status, 'AtLevel')).toMatchObject({ status: 'True', reason: 'Before' });
  expect(conditionOf(status, 'Reconciling')).toMatchObject({ status: 'True', message: 'boom' });
});

it.each([
  ['of the current generation', 3],
  ['of a generation that was not reconciled', 4],
])('V14: Ready %s is Unknown from the first failed attempt, with the reason and the error', (_, generation) => {
  const owned = currentStatus(3, { AtLevel: 'True', Ready: 'True' });
  const status = statusAfterFailure(new Error('boom'), 'retrying', inputOf(owned, generation));
  expect(conditionOf(status, 'Ready')).toMatchObject({
    ...{ status: 'Unknown', reason: 'Retrying', message: 'boom', observedGeneration: generation },
  });
});

it('V14: Ready is not True while a result has an error, even if the author’s conditions are all True', () => {
  const result = { status: {}, conditions: { AtLevel: { status: 'True', reason: 'In' } }, error: new Error('boom') };
  const input = { ...inputOf({}, 1), declared: ['AtLevel'] };
  expect(conditionOf(statusAfterResult(result as never, input), 'Ready')).toMatchObject({ status: 'Unknown' });
  expect(conditionOf(statusAfterResult(result as never, input, 'terminal'), 'Ready')).toMatchObject({
    ...{ status: 'False', reason: 'TerminalError', message: 'boom' },
  });
});

it('a first reconcile that throws sets Ready and Reconciling', () => {
  const status = statusAfterFailure(new Error('boom'), 'retrying', inputOf({}, 1));
  expect(status.conditions.map(({ type }) => type)).toEqual(['Ready', 'Reconciling']);
});

it.each([
  'retries-exhausted',
  'terminal',
  'invalid-spec',
] as const)('after a failure with %s Ready is False and Stalled is True', (retryState) => {
  const status = statusAfterFailure(new Error('boom'), retryState, inputOf(currentStatus(3, { Ready: 'True' }), 3));
  expect(conditionOf(status, 'Ready')?.status).toBe('False');
  expect(conditionOf(status, 'Stalled')).toMatchObject({ status: 'True', message: 'boom' });
  expect(conditionOf(status, 'Reconciling')).toBeUndefined();
  expect(isStalled({ ...status }, 3)).toBe(true);
  expect(isStalled({ ...status }, 4)).toBe(false);
});

it('a foreign object with a child’s name sets the reason NotOwned', () => {
  const status = statusAfterFailure(new NotOwnedError(['Service default/x']), 'retrying', inputOf({}, 1));
  expect(conditionOf(status, 'Ready')).toMatchObject({ status: 'False', reason: 'NotOwned' });
});

it('a failure’s message has no credential', () => {
  const error = new Error('GET https://user:hunter2@db failed: Authorization: Bearer abcdefghijkl password=hunter2');
  const text = JSON.stringify(statusAfterFailure(error, 'retrying', inputOf({}, 1)));
  expect(text).not.toContain('hunter2');
  expect(text).not.toContain('abcdefghijkl');
});

it('an author’s message is kept except for credentials, also in Ready', () => {
  const message = `line one\nline two ${'x'.repeat(600)}`;
  const long = { status: 'False', reason: 'Long', message } as const;
  const leaky = { status: 'False', reason: 'Leaky', message: 'GET https://user:hunter2@plant failed' } as const;
  const given = { ...result, conditions: { AtLevel: leaky, SensorReachable: long } };
  const status = statusAfterResult(given, inputOf({}, 1));
  expect(JSON.stringify(status)).not.toContain('hunter2');
  expect(conditionOf(status, 'SensorReachable')?.message).toBe(message);
});

it('a finalizing status has Finalized and Ready False, with the reason', () => {
  const owned = currentStatus(3, { Ready: 'True', AtLevel: 'True' });
  const status = statusWhileFinalizing({ status: 'False', reason: 'ValvesOpen' }, inputOf(owned, 4));
  expect(conditionOf(status, 'Finalized')).toMatchObject({ status: 'False', reason: 'ValvesOpen' });
  expect(conditionOf(status, 'Ready')?.status).toBe('False');
  expect(conditionOf(status, 'AtLevel')?.status).toBe('True');
});
