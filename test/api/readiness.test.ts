// From readiness of children to one condition: the rules V1 to V8, as tables. That a status is then written is the
// business of the statements and of the runtime's own tests.
import { describe, expect, it } from 'vitest';
import {
  aggregate,
  type Dependent,
  readinessOf,
  type Settled,
  settleChildren,
  warnOfRefusals,
} from '../../src/core/aggregate.ts';
import { NotOwnedError } from '../../src/core/errors.ts';
import { existingKind } from '../../src/core/kind.ts';
import type { Condition, StandingCondition } from '../../src/core/result.ts';

const yes: Condition = { status: 'True', reason: 'Ready' };
const no: Condition = { status: 'False', reason: 'Broken', message: 'it fell' };
const otherNo: Condition = { status: 'False', reason: 'Lost' };
const maybe: Condition = { status: 'Unknown', reason: 'Waiting' };

describe('aggregate', () => {
  it.each<{ rule: string; parts: Condition[]; is: Partial<Condition> }>([
    { rule: 'V1: all True is True', parts: [yes, yes], is: { status: 'True' } },
    { rule: 'V2: one False is False, with its reason and message', parts: [yes, no], is: no },
    { rule: 'V2: a False beats an Unknown before it', parts: [maybe, no], is: no },
    { rule: 'V2: the first False speaks', parts: [no, otherNo], is: no },
    { rule: 'V3: one Unknown and no False is Unknown', parts: [yes, maybe, yes], is: maybe },
    { rule: 'V6: no child at all is Unknown', parts: [], is: { status: 'Unknown' } },
  ])('$rule', ({ parts, is }) => {
    expect(aggregate(parts)).toMatchObject(is);
  });
});

const child = (more: Partial<Dependent>): Dependent => ({ metadata: { name: 'salt', generation: 2 }, ...more });
const ready = (observedGeneration: number, status: Condition['status'] = 'True') => [
  { type: 'Located', status: 'False', reason: 'Lost' } as const,
  { type: 'Ready', status, reason: 'Ready', message: 'fine', observedGeneration },
];

describe('readinessOf', () => {
  it.each<{ rule: string; of: Dependent; is: Partial<Condition> }>([
    { rule: 'V1: a current Ready counts', of: child({ conditions: ready(2), observedGeneration: 2 }), is: yes },
    {
      rule: 'V2: a False keeps its reason and message, after the name of the child',
      of: child({ conditions: ready(2, 'False'), observedGeneration: 2 }),
      is: { status: 'False', reason: 'Ready', message: 'salt: fine' },
    },
    {
      rule: 'V4: a Ready of an older generation is OutOfDate, even if True',
      of: child({ conditions: ready(1), observedGeneration: 1 }),
      is: { status: 'Unknown', reason: 'OutOfDate' },
    },
    {
      rule: 'V4: a Ready without any generation is OutOfDate',
      of: child({ conditions: [{ type: 'Ready', status: 'True', reason: 'Ready' }] }),
      is: { status: 'Unknown', reason: 'OutOfDate' },
    },
    { rule: 'V5: no conditions is Unknown', of: child({ observedGeneration: 2 }), is: { status: 'Unknown' } },
    {
      rule: 'V5: no Ready is Unknown',
      of: child({ conditions: [], observedGeneration: 2 }),
      is: { status: 'Unknown' },
    },
  ])('$rule', ({ of, is }) => {
    expect(readinessOf(of)).toMatchObject(is);
  });
});

describe('settleChildren', () => {
  type Part = { readonly metadata: { readonly name: string } };
  const part = existingKind<Part>({ group: '', version: 'v1', kind: 'ConfigMap' });
  const salt: Part = { metadata: { name: 'salt' } };

  it('passes on the whole set when nothing was wrong', async () => {
    expect(await settleChildren(part, Promise.resolve([salt]))).toEqual({ live: [salt] });
  });

  it('V7: a name that is taken is False/NotOwned, and the other children are still known', async () => {
    const error = new NotOwnedError(['ConfigMap ns/pepper'], [salt]);
    const settled = await settleChildren(part, Promise.reject(error));
    expect(settled).toMatchObject({
      live: [salt],
      problem: { condition: { status: 'False', reason: 'NotOwned' }, error },
    });
    expect(settled.problem?.condition.message).toContain('ConfigMap ns/pepper');
  });

  it('V8: a refused child is False with what the API server said, without credentials', async () => {
    const error = new Error('configmaps "salt" is forbidden, token=abcdefghijkl');
    const settled = await settleChildren(part, Promise.reject(error));
    expect(settled.live).toBeUndefined();
    expect(settled.problem).toMatchObject({ condition: { status: 'False', reason: 'ChildRefused' }, error });
    expect(settled.problem?.condition.message).toContain('configmaps "salt" is forbidden');
    expect(settled.problem?.condition.message).not.toContain('abcdefghijkl');
  });
});

describe('warnOfRefusals', () => {
  const refused = (reason: string, message: string): Settled<object> => ({
    problem: { condition: { status: 'False', reason, message }, error: new Error(message) },
  });
  const warnings = (standing: readonly StandingCondition[], settled: Readonly<Record<string, Settled<object>>>) => {
    const told: string[] = [];
    warnOfRefusals((_, reason, message) => void told.push(`${reason}: ${message}`), standing, settled);
    return told;
  };

  it('warns of a name that is taken and of what the API server refused, and of nothing else', () => {
    const settled = { A: refused('NotOwned', 'Service a'), B: refused('ChildRefused', 'quota'), C: { live: [] } };
    expect(warnings([], settled)).toEqual(['ErrResourceExists: Service a', 'ErrChildRefused: quota']);
  });

  it('does not warn again while the condition says the same', () => {
    const standing: StandingCondition[] = [{ type: 'A', status: 'False', reason: 'NotOwned', message: 'Service a' }];
    expect(warnings(standing, { A: refused('NotOwned', 'Service a') })).toEqual([]);
    expect(warnings(standing, { A: refused('NotOwned', 'Service b') })).toEqual(['ErrResourceExists: Service b']);
    expect(warnings(standing, { A: refused('ChildRefused', 'Service a') })).toEqual(['ErrChildRefused: Service a']);
    expect(warnings(standing, { B: refused('NotOwned', 'Service a') })).toEqual(['ErrResourceExists: Service a']);
  });
});
