// Only when an object is ready, and the tables.

import { formatNotReady, formatTable, objectReadiness, showsReadiness } from '@outrigger/cli/dev/readiness';
import { describe, expect, it } from 'vitest';
import { Namespace } from '../../src/kubernetes.ts';
import { ok } from '../../src/outrigger.ts';

const object = (status: unknown) => ({ metadata: { name: 'a', generation: 2 }, status });
const observed = (observedGeneration: number, conditions: readonly object[]) =>
  object({ observedGeneration, conditions });
const ready = (status: string) => [{ type: 'Ready', status, reason: 'R', message: 'm' }];

it.each([
  ['a missing object', undefined, false, 'NotFound'],
  ['an object without a status', object(undefined), false, 'NotReconciled'],
  ['an object that was Ready in an older generation', observed(1, ready('True')), false, 'NotObserved'],
  ['an object that is not Ready', observed(2, ready('False')), false, 'R'],
  ['an object that is Ready', observed(2, ready('True')), true, 'R'],
])('objectReadiness of %s', (_, given, expected, reason) => {
  expect(objectReadiness(given)).toMatchObject({ ready: expected, reason });
});

describe('objectReadiness of a kind with a status slice', () => {
  const whole = (...more: readonly object[]) => observed(2, [...ready('True'), ...more]);
  const connected = (status: string, observedGeneration: number) => ({
    type: 'Connected',
    status,
    observedGeneration,
    reason: 'NoRoute',
    message: 'n',
  });
  it.each([
    ['an object without the condition of the slice', whole(), false, 'NotObserved'],
    ['an object whose slice observed an older generation', whole(connected('True', 1)), false, 'NotObserved'],
    ['an object whose slice has a False condition', whole(connected('False', 2)), false, 'NoRoute'],
    ['an object whose Ready and slice are True', whole(connected('True', 2)), true, 'R'],
    ['an object without Ready', object({ conditions: [connected('True', 2)] }), false, 'NotReconciled'],
  ])('objectReadiness with a status slice of %s', (_, given, expected, reason) => {
    expect(objectReadiness(given, ['Connected'])).toMatchObject({ ready: expected, reason });
  });
});

describe('readiness of a foreign kind', () => {
  const owned = (status: string) => ({ type: 'a.example.com/Owned', status, reason: 'NoTeam', message: 'n' });
  it.each([
    ['without the condition of the controller', ready('True'), false, 'NotObserved'],
    ['whose condition is False', [owned('False')], false, 'NoTeam'],
    [
      'whose condition is True, without observed generations, and whose Ready is False',
      [...ready('False'), owned('True')],
      true,
      'Ready',
    ],
  ])('an object %s', (_, conditions, expected, reason) => {
    const given = object({ conditions });
    expect(objectReadiness(given, ['a.example.com/Owned'], true)).toMatchObject({ ready: expected, reason });
  });

  it('only a controller that writes conditions shows it', () => {
    const reconcile = async () => ({ conditions: { 'a.example.com/Owned': ok('Owned') } });
    const owner = Namespace.statusSlice({ conditions: ['a.example.com/Owned'] }).controller('owner', { reconcile });
    const labels = Namespace.controller('labels', { reconcile: async () => {} });
    expect([owner, labels].map((one) => showsReadiness([one], Namespace))).toEqual([true, false]);
  });
});

describe('formatTable and formatNotReady', () => {
  const rows = [
    {
      kind: 'WaterTank',
      object: 'default/north',
      ready: true,
      reason: 'Ready',
      message: '',
      createdAt: '2026-01-01T00:00:00Z',
    },
    { kind: 'Dinner', object: 'default/d', ready: false, reason: 'Retrying', message: 'the pantry is down' },
  ];
  it('formatTable aligns columns and shows ages in seconds', () => {
    expect(formatTable(rows, new Date('2026-01-01T00:00:09Z'))).toBe(
      [
        'KIND       OBJECT         READY  REASON    AGE',
        'WaterTank  default/north  True   Ready     9 s',
        'Dinner     default/d      False  Retrying',
      ].join('\n'),
    );
  });
  it('formatNotReady shows reason and message of objects that are not ready', () => {
    expect(formatNotReady(rows)).toBe('not ready: Dinner default/d: Retrying: the pantry is down');
  });
});
