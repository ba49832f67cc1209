// Only what a status should be; applying it is reconcile.test.ts.
import { describe, expect, it } from 'vitest';
import { NotOwnedError } from '../../../src/core/errors.ts';
import {
  type Basis,
  isStalled,
  type OwnedStatus,
  statusAfterFailure,
  statusAfterResult,
  statusWhileFinalizing,
} from '../../../src/runtime/status.ts';

const then = '2026-01-01T00:00:00Z';
const now = new Date('2026-01-02T03:04:05.678Z');
const declared = ['AtLevel', 'SensorReachable'];
const yes = { status: 'True', reason: 'Ok' } as const;
const no = { status: 'False', reason: 'SensorError', message: 'no answer' } as const;

function standing(generation: number, statuses: Record<string, string>): Record<string, unknown> {
  const conditions = Object.entries(statuses).map(([type, status]) => ({
    type,
    status,
    reason: 'Before',
    message: '',
    observedGeneration: generation,
    lastTransitionTime: then,
  }));
  return { observedLevel: 40, observedGeneration: generation, conditions };
}
const basis = (owned: Record<string, unknown>, generation: number): Basis => ({ owned, generation, now, declared });
const condition = (status: OwnedStatus, type: string) => status.conditions.find((one) => one.type === type);
const result = { status: { observedLevel: 41 }, conditions: { AtLevel: yes, SensorReachable: yes } };

describe('after a result', () => {
  it('Ready is True exactly when every declared condition is', () => {
    expect(condition(statusAfterResult(result, basis({}, 3)), 'Ready')).toMatchObject({ status: 'True' });
    const bad = { ...result, conditions: { AtLevel: yes, SensorReachable: no } };
    const ready = condition(statusAfterResult(bad, basis({}, 3)), 'Ready');
    expect(ready).toMatchObject({ status: 'False', reason: 'SensorError', message: 'SensorReachable: no answer' });
  });

  it('a False beats an Unknown', () => {
    const mixed = {
      ...result,
      conditions: { AtLevel: { status: 'Unknown', reason: 'X' }, SensorReachable: no },
    } as const;
    expect(condition(statusAfterResult(mixed, basis({}, 1)), 'Ready')?.status).toBe('False');
  });

  it('a transition time moves only when the status of its condition does', () => {
    const owned = standing(2, { AtLevel: 'True', SensorReachable: 'False', Ready: 'False' });
    const status = statusAfterResult(result, basis(owned, 3));
    expect(condition(status, 'AtLevel')?.lastTransitionTime).toBe(then);
    expect(condition(status, 'SensorReachable')?.lastTransitionTime).toBe('2026-01-02T03:04:05Z');
    expect(condition(status, 'AtLevel')?.observedGeneration).toBe(3);
  });

  it('what was wrong before is gone', () => {
    const owned = standing(3, { Reconciling: 'True', Stalled: 'True' });
    expect(statusAfterResult(result, basis(owned, 3)).conditions.map(({ type }) => type)).toEqual([
      'AtLevel',
      'Ready',
      'SensorReachable',
    ]);
  });

  it('an error to retry for is said beside the given status', () => {
    const status = statusAfterResult({ ...result, retry: new Error('later') }, basis({}, 3));
    expect(condition(status, 'Reconciling')).toMatchObject({ status: 'True', reason: 'Retrying', message: 'later' });
    expect(status.observedLevel).toBe(41);
  });
});

describe('after a failure', () => {
  it('everything that we own is kept', () => {
    const owned = standing(3, { AtLevel: 'True', SensorReachable: 'True', Ready: 'True' });
    const status = statusAfterFailure(new Error('boom'), 'retrying', basis(owned, 3));
    expect(status.observedLevel).toBe(40);
    expect(condition(status, 'AtLevel')).toMatchObject({ status: 'True', reason: 'Before' });
    expect(condition(status, 'Ready')?.status).toBe('True');
    expect(condition(status, 'Reconciling')).toMatchObject({ status: 'True', message: 'boom' });
  });

  it('Ready is never left True for a generation that nobody has reconciled', () => {
    const owned = standing(3, { Ready: 'True' });
    const status = statusAfterFailure(new Error('boom'), 'retrying', basis(owned, 4));
    expect(condition(status, 'Ready')).toMatchObject({ status: 'Unknown', reason: 'Retrying', observedGeneration: 4 });
  });

  it('a first reconcile that throws can say so', () => {
    const status = statusAfterFailure(new Error('boom'), 'retrying', basis({}, 1));
    expect(status.conditions.map(({ type }) => type)).toEqual(['Ready', 'Reconciling']);
  });

  it.each(['gave-up', 'terminal', 'invalid-spec'] as const)('%s: Ready is False and Stalled True', (prospect) => {
    const status = statusAfterFailure(new Error('boom'), prospect, basis(standing(3, { Ready: 'True' }), 3));
    expect(condition(status, 'Ready')?.status).toBe('False');
    expect(condition(status, 'Stalled')).toMatchObject({ status: 'True', message: 'boom' });
    expect(condition(status, 'Reconciling')).toBeUndefined();
    expect(isStalled({ ...status }, 3)).toBe(true);
    expect(isStalled({ ...status }, 4)).toBe(false);
  });

  it('a name that is taken is said as NotOwned', () => {
    const status = statusAfterFailure(new NotOwnedError(['Service default/x']), 'retrying', basis({}, 1));
    expect(condition(status, 'Ready')).toMatchObject({ status: 'False', reason: 'NotOwned' });
  });

  it('no credential is in the message', () => {
    const error = new Error('GET https://user:hunter2@db failed: Authorization: Bearer abcdefghijkl password=hunter2');
    const text = JSON.stringify(statusAfterFailure(error, 'retrying', basis({}, 1)));
    expect(text).not.toContain('hunter2');
    expect(text).not.toContain('abcdefghijkl');
  });
});

describe('what an author says of a condition', () => {
  it('is kept as it was worded, except for credentials, also where Ready repeats it', () => {
    const message = `line one\nline two ${'x'.repeat(600)}`;
    const wordy = { status: 'False', reason: 'Wordy', message } as const;
    const leaky = { status: 'False', reason: 'Leaky', message: 'GET https://user:hunter2@plant failed' } as const;
    const said = { ...result, conditions: { AtLevel: leaky, SensorReachable: wordy } };
    const status = statusAfterResult(said, basis({}, 1));
    expect(JSON.stringify(status)).not.toContain('hunter2');
    expect(condition(status, 'SensorReachable')?.message).toBe(message);
  });
});

describe('while finalizing', () => {
  it('Finalized is False with the reason, and Ready is False', () => {
    const owned = standing(3, { Ready: 'True', AtLevel: 'True' });
    const status = statusWhileFinalizing({ status: 'False', reason: 'ValvesOpen' }, basis(owned, 4));
    expect(condition(status, 'Finalized')).toMatchObject({ status: 'False', reason: 'ValvesOpen' });
    expect(condition(status, 'Ready')?.status).toBe('False');
    expect(condition(status, 'AtLevel')?.status).toBe('True');
  });
});
