// Only what a second controller's part of a status should be, and what has been observed; applying it is part-cases.ts.
import { describe, expect, it } from 'vitest';
import { NotOwnedError } from '../../src/core/errors.ts';
import { observedGenerationOf } from '../../src/runtime/observed.ts';
import {
  isPartStalled,
  partAfterFailure,
  partAfterResult,
  partWhileFinalizing,
} from '../../src/runtime/part-status.ts';
import type { Basis, OwnedStatus, Prospect } from '../../src/runtime/status.ts';

const then = '2026-01-01T00:00:00Z';
const now = new Date('2026-01-02T03:04:05.678Z');
const declared = ['Connected', 'Funded'];
const yes = { status: 'True', reason: 'Ok' } as const;
const no = { status: 'False', reason: 'NoRoute', message: 'no way there' } as const;
const unknown = { status: 'Unknown', reason: 'NoAnswer' } as const;

function standing(generation: number, statuses: Record<string, string>, reason = 'Before'): Record<string, unknown> {
  const conditions = Object.entries(statuses).map(([type, status]) => ({
    ...{ type, status, reason, message: '' },
    observedGeneration: generation,
    lastTransitionTime: then,
  }));
  return { nodes: ['a'], conditions };
}
const basis = (owned: Record<string, unknown>, generation: number): Basis => ({ owned, generation, now, declared });
const condition = (status: OwnedStatus, type: string) => status.conditions.find((one) => one.type === type);
const types = (status: OwnedStatus) => status.conditions.map(({ type }) => type);
const result = (
  Connected: typeof yes | typeof no | typeof unknown,
  Funded: typeof yes | typeof no | typeof unknown,
) => ({
  status: { nodes: ['b'] },
  conditions: { Connected, Funded },
});
const boom = new Error('GET https://user:hunter2@node failed');

describe('after a result', () => {
  it('the part is its fields and its conditions, of the generation that was reconciled, and nothing else', () => {
    const status = partAfterResult(result(yes, no), basis(standing(2, { Connected: 'True', Funded: 'True' }), 3));
    expect(status).toEqual({
      nodes: ['b'],
      conditions: [
        { type: 'Connected', ...yes, message: '', observedGeneration: 3, lastTransitionTime: then },
        { type: 'Funded', ...no, observedGeneration: 3, lastTransitionTime: '2026-01-02T03:04:05Z' },
      ],
    });
  });

  it('a condition that the part no longer declares is gone', () => {
    expect(types(partAfterResult(result(yes, yes), basis(standing(3, { Old: 'True' }), 3)))).toEqual(declared);
    expect(types(partAfterFailure(boom, 'retrying', basis(standing(3, { Old: 'True' }), 3)))).toEqual(declared);
  });

  it.each<[string, ReturnType<typeof result>, Prospect, string, string]>([
    ['stands while it is tried again', result(yes, no), 'retrying', 'True Ok', 'False NoRoute'],
    ['stands where it is not known', result(unknown, yes), 'retrying', 'Unknown NoAnswer', 'True Ok'],
    [
      'does not stand where it says that all is well',
      result(yes, yes),
      'retrying',
      'Unknown Retrying',
      'Unknown Retrying',
    ],
    ['says in what is wrong that it is given up', result(yes, no), 'gave-up', 'True Ok', 'False GaveUp'],
    [
      'says everywhere that it is given up, where all is well',
      result(yes, yes),
      'gave-up',
      'False GaveUp',
      'False GaveUp',
    ],
    ['is given up by a TerminalError too', result(unknown, yes), 'terminal', 'False TerminalError', 'True Ok'],
  ])('with an error to retry for, what is said %s', (_, said, prospect, connected, funded) => {
    const status = partAfterResult({ ...said, retry: boom }, basis({}, 3), prospect);
    const short = (type: string) => `${condition(status, type)?.status} ${condition(status, type)?.reason}`;
    expect([short('Connected'), short('Funded')]).toEqual([connected, funded]);
    expect(status.nodes).toEqual(['b']);
    expect(isPartStalled({ ...status }, 3)).toBe(prospect !== 'retrying');
    expect(JSON.stringify(status)).not.toContain('hunter2');
  });

  it.each([
    'GaveUp',
    'TerminalError',
    'InvalidSpec',
  ])('a child’s %s that is handed on does not make the part stalled', (reason) => {
    const said = { status: {}, conditions: { Connected: { status: 'False', reason } as const, Funded: yes } };
    const status = partAfterResult(said, basis({}, 3));
    expect(condition(status, 'Connected')).toMatchObject({ status: 'False', reason: `Reported${reason}` });
    expect(isPartStalled({ ...status }, 3)).toBe(false);
    const finalizing = partWhileFinalizing({ status: 'False', reason }, basis({}, 3));
    expect(isPartStalled({ ...finalizing }, 3)).toBe(false);
  });
});

describe('after a failure', () => {
  it.each<[Prospect, string, string]>([
    ['retrying', 'Unknown', 'Retrying'],
    ['gave-up', 'False', 'GaveUp'],
    ['terminal', 'False', 'TerminalError'],
    ['invalid-spec', 'False', 'InvalidSpec'],
  ])('%s: every condition of the part is %s/%s, and its fields are kept', (prospect, is, reason) => {
    const owned = standing(2, { Connected: 'True', Funded: 'False' });
    const status = partAfterFailure(boom, prospect, basis(owned, 3));
    expect(status).toMatchObject({ nodes: ['a'] });
    expect(types(status)).toEqual(declared);
    for (const one of status.conditions) {
      expect(one).toMatchObject({ status: is, reason, observedGeneration: 3 });
      expect(one.message).toBe('GET https://[redacted]@node failed');
    }
    expect(isPartStalled({ ...status }, 3)).toBe(prospect !== 'retrying');
    expect(isPartStalled({ ...status }, 4)).toBe(false);
  });

  it('before there is any status says so all the same', () => {
    expect(partAfterFailure(boom, 'retrying', basis({}, 1))).toEqual({ conditions: expect.any(Array) });
  });

  it('the same failure again is the same status, whenever it comes', () => {
    const first = partAfterFailure(boom, 'retrying', basis({}, 1));
    const later = { ...basis({ ...first }, 1), now: new Date('2026-05-05T00:00:00Z') };
    expect(partAfterFailure(boom, 'retrying', later)).toEqual(first);
  });

  it('a name that is taken is NotOwned while it is tried again, and given up in the end', () => {
    const taken = new NotOwnedError(['Service default/x']);
    const trying = partAfterFailure(taken, 'retrying', basis({}, 1));
    expect(condition(trying, 'Connected')).toMatchObject({ status: 'False', reason: 'NotOwned' });
    expect(isPartStalled({ ...trying }, 1)).toBe(false);
    const over = partAfterFailure(taken, 'gave-up', basis({}, 1));
    expect(condition(over, 'Connected')?.message).toContain('Service default/x');
    expect(isPartStalled({ ...over }, 1)).toBe(true);
  });
});

describe('while the part’s finalizer stays', () => {
  it.each<[string, Prospect | undefined, string, boolean]>([
    ['it is not done yet', undefined, 'Draining', false],
    ['it is tried again', 'retrying', 'Draining', false],
    ['it is given up', 'gave-up', 'GaveUp', true],
    ['the spec cannot be read', 'invalid-spec', 'InvalidSpec', true],
  ])('because %s, its conditions are False and say why', (_, prospect, reason, stalled) => {
    const owned = standing(3, { Connected: 'True', Funded: 'True' });
    const status = partWhileFinalizing(
      { status: 'False', reason: 'Draining', message: 'm' },
      basis(owned, 4),
      prospect,
    );
    expect(types(status)).toEqual(declared);
    expect(status).toMatchObject({ nodes: ['a'] });
    for (const one of status.conditions) expect(one).toMatchObject({ status: 'False', reason, message: 'm' });
    expect(isPartStalled({ ...status }, 4)).toBe(stalled);
  });
});

describe('the observed generation', () => {
  const part = { status: ['nodes'], conditions: declared };
  const mixed = { ...standing(3, { Connected: 'True' }), observedGeneration: 9 };
  const both = [
    { type: 'Connected', observedGeneration: 5 },
    { type: 'Funded', observedGeneration: 4 },
    { type: 'Ready', observedGeneration: 1 },
  ];
  it.each<[string, unknown, number | undefined, number | undefined]>([
    ['no status', undefined, undefined, undefined],
    ['a status without conditions', { observedGeneration: 2 }, 2, undefined],
    ['a condition of the part that is missing', mixed, 9, undefined],
    ['every condition of the part', { conditions: both, observedGeneration: 9 }, 9, 4],
    ['a condition without a generation', { conditions: [both[0], { type: 'Funded' }] }, undefined, undefined],
    ['conditions that are no list', { conditions: 'x' }, undefined, undefined],
  ])('with %s', (_, status, first, second) => {
    expect(observedGenerationOf(status)).toBe(first);
    expect(observedGenerationOf(status, part)).toBe(second);
  });
});
