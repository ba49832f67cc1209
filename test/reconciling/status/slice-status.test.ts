// Only the content of a status slice, and its observed generation. Applying it is in status-slice.test.ts.
import { expect, it } from 'vitest';
import { observedGenerationOf } from '../../../src/api/status-slice.ts';
import { NotOwnedError } from '../../../src/core/errors.ts';
import {
  isSliceStalled,
  sliceAfterFailure,
  sliceAfterResult,
  sliceWhileFinalizing,
} from '../../../src/reconciling/status/slice-status.ts';
import type { OwnedStatus, RetryState } from '../../../src/reconciling/status/status.ts';
import { conditionOf, conditionsBefore, inputWith, nowSeconds, then } from './statuses.ts';

const declared = ['Connected', 'Funded'];
const yes = { status: 'True', reason: 'Ok' } as const;
const no = { status: 'False', reason: 'NoRoute', message: 'no way there' } as const;
const unknown = { status: 'Unknown', reason: 'NoResponse' } as const;

const currentStatus = (...given: Parameters<typeof conditionsBefore>): Record<string, unknown> => ({
  ...{ nodes: ['a'], conditions: conditionsBefore(...given) },
});
const inputOf = inputWith(declared);
const types = (status: OwnedStatus) => status.conditions.map(({ type }) => type);
type Given = typeof yes | typeof no | typeof unknown;
const result = (Connected: Given, Funded: Given) => ({ status: { nodes: ['b'] }, conditions: { Connected, Funded } });
const exhausted = 'False RetriesExhausted';
const error = new Error('GET https://user:hunter2@node failed');

it('a slice has only its own fields and conditions, with the reconciled generation', () => {
  const owned = currentStatus(2, { Connected: 'True', Funded: 'True' });
  const status = sliceAfterResult(result(yes, no), inputOf(owned, 3));
  expect(status).toEqual({
    nodes: ['b'],
    conditions: [
      { type: 'Connected', ...yes, message: '', observedGeneration: 3, lastTransitionTime: then },
      { type: 'Funded', ...no, observedGeneration: 3, lastTransitionTime: nowSeconds },
    ],
  });
});

it('a condition that the slice no longer declares is removed', () => {
  const input = inputOf(currentStatus(3, { Old: 'True' }), 3);
  expect(types(sliceAfterResult(result(yes, yes), input))).toEqual(declared);
  expect(types(sliceAfterFailure(error, 'retrying', input))).toEqual(declared);
});

it.each<[string, ReturnType<typeof result>, RetryState, string, string]>([
  ['stay while the error is retried', result(yes, no), 'retrying', 'True Ok', 'False NoRoute'],
  ['stay if one is Unknown', result(unknown, yes), 'retrying', 'Unknown NoResponse', 'True Ok'],
  ['become Unknown if all are True', result(yes, yes), 'retrying', 'Unknown Retrying', 'Unknown Retrying'],
  ['report exhausted retries if not True', result(yes, no), 'retries-exhausted', 'True Ok', exhausted],
  ['report exhausted retries if all are True', result(yes, yes), 'retries-exhausted', exhausted, exhausted],
  ['report a TerminalError if not True', result(unknown, yes), 'terminal', 'False TerminalError', 'True Ok'],
])('the conditions of a result with an error %s', (_, given, retryState, connected, funded) => {
  const status = sliceAfterResult({ ...given, error }, inputOf({}, 3), retryState);
  const short = (type: string) => `${conditionOf(status, type)?.status} ${conditionOf(status, type)?.reason}`;
  expect([short('Connected'), short('Funded')]).toEqual([connected, funded]);
  expect(status.nodes).toEqual(['b']);
  expect(isSliceStalled({ ...status }, 3)).toBe(retryState !== 'retrying');
  expect(JSON.stringify(status)).not.toContain('hunter2');
});

it.each([
  'RetriesExhausted',
  'TerminalError',
  'InvalidSpec',
])('a copied reason %s of a child does not stall the slice', (reason) => {
  const copied = { status: {}, conditions: { Connected: { status: 'False', reason } as const, Funded: yes } };
  const status = sliceAfterResult(copied, inputOf({}, 3));
  expect(conditionOf(status, 'Connected')).toMatchObject({ status: 'False', reason: `Reported${reason}` });
  expect(isSliceStalled({ ...status }, 3)).toBe(false);
  const finalizing = sliceWhileFinalizing({ status: 'False', reason }, inputOf({}, 3));
  expect(isSliceStalled({ ...finalizing }, 3)).toBe(false);
});

it.each<[RetryState, string, string]>([
  ['retrying', 'Unknown', 'Retrying'],
  ['child-namespace-terminating', 'Unknown', 'NamespaceTerminating'],
  ['retries-exhausted', 'False', 'RetriesExhausted'],
  ['terminal', 'False', 'TerminalError'],
  ['invalid-spec', 'False', 'InvalidSpec'],
])('after a failure with %s every condition of the slice is %s/%s', (retryState, conditionStatus, reason) => {
  const owned = currentStatus(2, { Connected: 'True', Funded: 'False' });
  const status = sliceAfterFailure(error, retryState, inputOf(owned, 3));
  expect(status).toMatchObject({ nodes: ['a'] });
  expect(types(status)).toEqual(declared);
  for (const one of status.conditions) {
    expect(one).toMatchObject({ status: conditionStatus, reason, observedGeneration: 3 });
    expect(one.message).toBe('GET https://[redacted]@node failed');
  }
  expect(isSliceStalled({ ...status }, 3)).toBe(conditionStatus === 'False');
  expect(isSliceStalled({ ...status }, 4)).toBe(false);
});

it('a failure is reported if there is no status yet', () => {
  expect(sliceAfterFailure(error, 'retrying', inputOf({}, 1))).toEqual({ conditions: expect.any(Array) });
});

it('a repeated failure results in the same status at any time', () => {
  const first = sliceAfterFailure(error, 'retrying', inputOf({}, 1));
  const later = { ...inputOf({ ...first }, 1), now: new Date('2026-05-05T00:00:00Z') };
  expect(sliceAfterFailure(error, 'retrying', later)).toEqual(first);
});

it('a foreign object with a child’s name is NotOwned while it is retried, and then stalled', () => {
  const notOwned = new NotOwnedError(['Service default/x']);
  const retrying = sliceAfterFailure(notOwned, 'retrying', inputOf({}, 1));
  expect(conditionOf(retrying, 'Connected')).toMatchObject({ status: 'False', reason: 'NotOwned' });
  expect(isSliceStalled({ ...retrying }, 1)).toBe(false);
  const exhausted = sliceAfterFailure(notOwned, 'retries-exhausted', inputOf({}, 1));
  expect(conditionOf(exhausted, 'Connected')?.message).toContain('Service default/x');
  expect(isSliceStalled({ ...exhausted }, 1)).toBe(true);
});

it.each<[string, RetryState | undefined, string, boolean]>([
  ['finalize is not done yet', undefined, 'Draining', false],
  ['finalize is retried', 'retrying', 'Draining', false],
  ['finalize waits for a Namespace', 'child-namespace-terminating', 'Draining', false],
  ['its retries are exhausted', 'retries-exhausted', 'RetriesExhausted', true],
  ['the spec is invalid', 'invalid-spec', 'InvalidSpec', true],
])('the conditions of a finalizing slice are False with the reason if %s', (_, retryState, reason, stalled) => {
  const owned = currentStatus(3, { Connected: 'True', Funded: 'True' });
  const draining = { status: 'False', reason: 'Draining', message: 'm' } as const;
  const status = sliceWhileFinalizing(draining, inputOf(owned, 4), retryState);
  expect(types(status)).toEqual(declared);
  expect(status).toMatchObject({ nodes: ['a'] });
  for (const one of status.conditions) expect(one).toMatchObject({ status: 'False', reason, message: 'm' });
  expect(isSliceStalled({ ...status }, 4)).toBe(stalled);
});

const slice = { status: ['nodes'], conditions: declared };
const mixed = { ...currentStatus(3, { Connected: 'True' }), observedGeneration: 9 };
const both = [
  { type: 'Connected', observedGeneration: 5 },
  { type: 'Funded', observedGeneration: 4 },
  { type: 'Ready', observedGeneration: 1 },
];
it.each<[string, unknown, number | undefined, number | undefined]>([
  ['no status', undefined, undefined, undefined],
  ['a status without conditions', { observedGeneration: 2 }, 2, undefined],
  ['a missing condition of the slice', mixed, 9, undefined],
  ['every condition of the slice', { conditions: both, observedGeneration: 9 }, 9, 4],
  ['a condition without a generation', { conditions: [both[0], { type: 'Funded' }] }, undefined, undefined],
  ['conditions that are not a list', { conditions: 'x' }, undefined, undefined],
])('the observed generation of %s is found', (_, status, first, second) => {
  expect(observedGenerationOf(status)).toBe(first);
  expect(observedGenerationOf(status, slice)).toBe(second);
});
