// Only what counts as ready, and the tables made of it.
import { describe, expect, it } from 'vitest';
import { formatNotReady, formatTable, readinessOf } from '../../src/dev/readiness.ts';

const object = (status: unknown) => ({ metadata: { name: 'a', generation: 2 }, status });
const ready = (status: string) => [{ type: 'Ready', status, reason: 'R', message: 'm' }];

describe('an object', () => {
  it.each([
    ['that is not there', undefined, false, 'NotFound'],
    ['without a status', object(undefined), false, 'NotReconciled'],
    [
      'that is Ready of an older generation',
      object({ observedGeneration: 1, conditions: ready('True') }),
      false,
      'NotObserved',
    ],
    ['that says it is not', object({ observedGeneration: 2, conditions: ready('False') }), false, 'R'],
    ['that is Ready now', object({ observedGeneration: 2, conditions: ready('True') }), true, 'R'],
  ])('%s', (_, given, expected, reason) => {
    expect(readinessOf(given)).toMatchObject({ ready: expected, reason });
  });
});

describe('an object of a kind with a second controller', () => {
  const whole = (...more: readonly object[]) =>
    object({ observedGeneration: 2, conditions: [...ready('True'), ...more] });
  const connected = (status: string, observedGeneration: number) => ({
    ...{ type: 'Connected', status, observedGeneration, reason: 'NoRoute', message: 'n' },
  });
  it.each([
    ['of which only the first has spoken', whole(), false, 'NotObserved'],
    ['whose part is of an older generation', whole(connected('True', 1)), false, 'NotObserved'],
    ['whose part says that something is wrong', whole(connected('False', 2)), false, 'NoRoute'],
    ['of which both say that all is well', whole(connected('True', 2)), true, 'R'],
    ['of which only the part has spoken', object({ conditions: [connected('True', 2)] }), false, 'NotReconciled'],
  ])('%s', (_, given, expected, reason) => {
    expect(readinessOf(given, ['Connected'])).toMatchObject({ ready: expected, reason });
  });
});

describe('the table', () => {
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
  it('has aligned columns and ages in seconds', () => {
    expect(formatTable(rows, new Date('2026-01-01T00:00:09Z'))).toBe(
      [
        'KIND       OBJECT         READY  REASON    AGE',
        'WaterTank  default/north  True   Ready     9 s',
        'Dinner     default/d      False  Retrying',
      ].join('\n'),
    );
  });
  it('says of those that are not ready why', () => {
    expect(formatNotReady(rows)).toBe('not ready: Dinner default/d: Retrying: the pantry is down');
  });
});
