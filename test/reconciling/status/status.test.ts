// Only the content of a status, of a kind's first controller and of a slice, and its observed generation. Applying it
// is in written.test.ts and ../status-slice.test.ts.
import { expect, it } from 'vitest';
import * as z from 'zod';
import { defineKind } from '../../../src/api/custom-kind.ts';
import type { DeclaredCondition } from '../../../src/api/result.ts';
import { observedGenerationOf } from '../../../src/api/status-slice.ts';
import { NotOwnedError } from '../../../src/core/errors.ts';
import type { Failure } from '../../../src/reconciling/status/status.ts';
import {
  createStatusWriter,
  type OwnedStatus,
  type StatusInput,
} from '../../../src/reconciling/status/status-writer.ts';

const conditions = { first: ['AtLevel', 'SensorOk'], slice: ['Connected', 'Funded'] } as const;
const resource = defineKind({
  group: 'plant.example.com',
  version: 'v1',
  kind: 'Tank',
  spec: z.object({}),
  status: z.object({ level: z.number().optional(), nodes: z.array(z.string()).optional() }),
  conditions: conditions.first,
});
const statusSlice = { status: ['nodes'], conditions: conditions.slice };
const writers = { first: createStatusWriter({ resource }), slice: createStatusWriter({ resource, statusSlice }) };
const { first, slice } = writers;
type Which = keyof typeof writers;

const [then, nowSeconds] = ['2026-01-01T00:00:00Z', '2026-01-02T03:04:05Z'];
/** The input of a status at a generation, after one at another generation with conditions of these statuses. */
const inputOf = (generation: number, before = generation, statuses: Readonly<Record<string, string>> = {}) => {
  const one = { reason: 'Before', message: '', observedGeneration: before, lastTransitionTime: then };
  const conditions = Object.entries(statuses).map(([type, status]) => ({ type, status, ...one }));
  const owned = { level: 40, nodes: ['a'], conditions };
  return { owned, generation, now: new Date('2026-01-02T03:04:05.678Z') } satisfies StatusInput;
};
const boom = new Error('GET https://user:hunter2@node failed: Authorization: Bearer abcdefghijkl');
const failure = (reason = 'Retrying', error: Error = boom): Failure => ({
  error,
  reason,
  isRetried: reason === 'Retrying' || reason === 'NamespaceTerminating',
});
const notOwned = new NotOwnedError(['Service default/x']);
const shown = (status: OwnedStatus) => status.conditions.map((one) => `${one.type} ${one.status} ${one.reason}`);
const conditionOf = (status: OwnedStatus, type: string) => status.conditions.find((one) => one.type === type);

const yes = { status: 'True', reason: 'Ok' } as const;
const no = { status: 'False', reason: 'NoRoute', message: 'no way there' } as const;
const unknown = { status: 'Unknown', reason: 'NoResponse' } as const;
const resultOf = (which: Which, ...given: readonly DeclaredCondition[]) => ({
  status: { level: 41, nodes: ['b'] },
  conditions: Object.fromEntries(given.map((one, index) => [conditions[which][index], one])),
});

/** The end of retries, and a spec that is wrong. */
const [end, spec] = ['RetriesExhausted', 'InvalidSpec'];
it.each<[string, Which, readonly DeclaredCondition[], Failure | undefined, string]>([
  ['Ready is True if all are', 'first', [yes, yes], undefined, 'AtLevel True Ok, Ready True Ready, SensorOk True Ok'],
  ['Ready is False if one is', 'first', [unknown, no], undefined, 'Ready False NoRoute'],
  ['a missing one is Unknown', 'first', [yes], undefined, 'Ready Unknown NotReported, SensorOk Unknown NotReported'],
  ['V14: Ready is not True', 'first', [yes, yes], failure(), 'Ready Unknown Retrying, Reconciling True Retrying'],
  ['V14: Ready is False', 'first', [yes, yes], failure(end), `Ready False ${end}, Stalled True ${end}`],
  ['Ready stays False', 'first', [yes, no], failure(), 'Ready False NoRoute, Reconciling True Retrying'],
  ['a slice has its own', 'slice', [yes, no], undefined, 'Connected True Ok, Funded False NoRoute'],
  ['they stay during retries', 'slice', [yes, no], failure(), 'Connected True Ok, Funded False NoRoute'],
  ['they stay if one is Unknown', 'slice', [unknown, yes], failure(), 'Connected Unknown NoResponse, Funded True Ok'],
  ['all True become Unknown', 'slice', [yes, yes], failure(), 'Connected Unknown Retrying, Funded Unknown Retrying'],
  ['one that is not True reports the end', 'slice', [yes, no], failure(end), `Connected True Ok, Funded False ${end}`],
  ['all True report the end', 'slice', [yes, yes], failure(end), `Connected False ${end}, Funded False ${end}`],
  ['a copied reason is renamed', 'slice', [{ ...no, reason: spec }, yes], undefined, `Connected False Reported${spec}`],
])('after a result: %s', (_, which, given, error, expected) => {
  const writer = writers[which];
  const status = writer.afterResult(resultOf(which, ...given), inputOf(3), error);
  expect(shown(status)).toEqual(expect.arrayContaining(expected.split(', ')));
  expect(status).toMatchObject({ level: 41, nodes: ['b'] });
  expect(writer.isStalled(status, 3)).toBe(error?.isRetried === false);
});

/** Conditions of an earlier status. */
const earlier = {
  first: { AtLevel: 'True', Ready: 'True', Stalled: 'True' },
  slice: { Connected: 'True', Old: 'True' },
};

it.each<[Which, Failure, string]>([
  ['first', failure(), 'AtLevel True Before, Ready Unknown Retrying, Reconciling True Retrying'],
  ['first', failure(end), `AtLevel True Before, Ready False ${end}, Stalled True ${end}`],
  ['first', failure('Retrying', notOwned), 'AtLevel True Before, Ready False NotOwned, Reconciling True NotOwned'],
  ['slice', failure(), 'Connected Unknown Retrying, Funded Unknown Retrying'],
  ['slice', failure(spec), `Connected False ${spec}, Funded False ${spec}`],
  ['slice', failure('Retrying', notOwned), 'Connected False NotOwned, Funded False NotOwned'],
  ['slice', failure(end, notOwned), `Connected False ${end}, Funded False ${end}`],
])('V14: after an error, a status of the %s controller (row %#)', (which, error, expected) => {
  const writer = writers[which];
  const status = writer.afterFailure(error, inputOf(3, 2, earlier[which]));
  expect(shown(status).join(', ')).toBe(expected);
  expect(status).toMatchObject({ level: 40, nodes: ['a'] });
  expect([writer.isStalled(status, 3), writer.isStalled(status, 4)]).toEqual([!error.isRetried, false]);
  expect(status.conditions).toContainEqual(
    expect.objectContaining({
      message: expect.stringMatching(error.error === notOwned ? /Service default\/x$/ : /^GET https:.*@node failed/),
      observedGeneration: 3,
    }),
  );
  expect(JSON.stringify(status)).not.toMatch(/hunter2|abcdefghijkl/);
  const again = { ...inputOf(3), owned: { ...status }, now: new Date('2026-05-05T00:00:00Z') };
  expect(writer.afterFailure(error, again)).toEqual(status);
});

it.each<[Which, Failure | undefined, string]>([
  ['first', undefined, 'AtLevel True Before, Finalized False Leaks, Ready False Finalizing'],
  ['first', failure(), 'AtLevel True Before, Finalized False Leaks, Ready False Finalizing, Reconciling True Retrying'],
  ['slice', undefined, 'Connected False Leaks, Funded False Leaks'],
  ['slice', failure('NamespaceTerminating'), 'Connected False Leaks, Funded False Leaks'],
  ['slice', failure(end), `Connected False ${end}, Funded False ${end}`],
])('while the finalizer stays, a status of the %s controller (row %#)', (which, error, expected) => {
  const writer = writers[which];
  const leaks = { status: 'False', reason: 'Leaks', message: 'https://me:hunter2@tap' } as const;
  const status = writer.whileFinalizing(leaks, inputOf(4, 3, earlier[which]), error);
  expect(shown(status).join(', ')).toBe(expected);
  expect(status).toMatchObject({ level: 40, nodes: ['a'] });
  expect(JSON.stringify(status)).not.toContain('hunter2');
  expect(writer.isStalled(status, 4)).toBe(error?.isRetried === false);
});

it('only the first controller’s status has a generation of its own, and conditions of others or of former ones go', () => {
  const statuses = { AtLevel: 'True', SensorOk: 'False', Old: 'True', Reconciling: 'True', Stalled: 'True' };
  const status = first.afterResult(resultOf('first', yes, yes), inputOf(3, 2, statuses));
  expect(status.observedGeneration).toBe(3);
  expect(status.conditions.map(({ type }) => type)).toEqual(['AtLevel', 'Ready', 'SensorOk']);
  expect(slice.afterResult(resultOf('slice', yes, no), inputOf(3, 2, { Connected: 'True', Funded: 'True' }))).toEqual({
    level: 41,
    nodes: ['b'],
    conditions: [
      { type: 'Connected', ...yes, message: '', observedGeneration: 3, lastTransitionTime: then },
      { type: 'Funded', ...no, observedGeneration: 3, lastTransitionTime: nowSeconds },
    ],
  });
});

it('an author’s message is kept except for credentials, also in Ready', () => {
  const message = `line one\nline two ${'x'.repeat(600)}`;
  const leaky = { status: 'False', reason: 'Leaky', message: 'GET https://user:hunter2@plant failed' } as const;
  const status = first.afterResult(resultOf('first', leaky, { ...no, message }), inputOf(1));
  expect(JSON.stringify(status)).not.toContain('hunter2');
  expect(conditionOf(status, 'SensorOk')?.message).toBe(message);
  expect(conditionOf(status, 'Ready')?.message).toMatch(/^AtLevel: GET/);
});

const mixed = { observedGeneration: 9, conditions: inputOf(3, 3, { Connected: 'True' }).owned.conditions };
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
])('the observed generation of %s is found', (_, status, ofFirst, ofSlice) => {
  expect(observedGenerationOf(status)).toBe(ofFirst);
  expect(observedGenerationOf(status, statusSlice)).toBe(ofSlice);
});
