// From readiness of children and workloads to one condition: the rules V1 to V8, as tables. That a status is then written is the
// business of the statements and of the runtime's own tests.
import { describe, expect, it } from 'vitest';
import type { Applied } from '../../src/api/apply.ts';
import { typeContext, type UntypedContext } from '../../src/api/context.ts';
import {
  type Dependent,
  deploymentAvailable,
  isCurrent,
  readyCondition,
  recordApplyFailures,
  statefulSetReady,
  summarize,
  type Workload,
} from '../../src/api/readiness.ts';
import type { Condition, DeclaredCondition } from '../../src/api/result.ts';
import { NotOwnedError } from '../../src/core/errors.ts';
import { ConfigMap } from '../../src/kubernetes.ts';

const yes: DeclaredCondition = { status: 'True', reason: 'Ready' };
const no: DeclaredCondition = { status: 'False', reason: 'Broken', message: 'it fell' };
const otherNo: DeclaredCondition = { status: 'False', reason: 'Lost' };
const maybe: DeclaredCondition = { status: 'Unknown', reason: 'Waiting' };

describe('summarize', () => {
  it.each<{ rule: string; parts: DeclaredCondition[]; is: Partial<DeclaredCondition> }>([
    { rule: 'V1: summarize of all True is True', parts: [yes, yes], is: { status: 'True' } },
    { rule: 'V2: summarize with one False is False, with its reason and message', parts: [yes, no], is: no },
    { rule: 'V2: summarize prefers a False to an Unknown before it', parts: [maybe, no], is: no },
    { rule: 'V2: summarize of two False has the reason of the first', parts: [no, otherNo], is: no },
    { rule: 'V3: summarize with one Unknown and no False is Unknown', parts: [yes, maybe, yes], is: maybe },
    { rule: 'V6: summarize of no child at all is Unknown', parts: [], is: { status: 'Unknown' } },
  ])('$rule', ({ parts, is }) => {
    expect(summarize(parts)).toMatchObject(is);
  });
});

const child = (more: Partial<Dependent>): Dependent => ({ metadata: { name: 'salt', generation: 2 }, ...more });
const ready = (observedGeneration: number, status: DeclaredCondition['status'] = 'True') => [
  { type: 'Located', status: 'False', reason: 'Lost' } as const,
  { type: 'Ready', status, reason: 'Ready', message: 'fine', observedGeneration },
];

describe('readyCondition', () => {
  it.each<{ rule: string; of: Dependent; is: Partial<DeclaredCondition> }>([
    {
      rule: 'V1: readyCondition of a current Ready is its status',
      of: child({ conditions: ready(2), observedGeneration: 2 }),
      is: yes,
    },
    {
      rule: 'V2: readyCondition of a False keeps its reason and message, after the name of the child',
      of: child({ conditions: ready(2, 'False'), observedGeneration: 2 }),
      is: { status: 'False', reason: 'Ready', message: 'salt: fine' },
    },
    {
      rule: 'V2: readyCondition of a Ready without a message, such as that of a ready object, is the name alone',
      of: child({
        conditions: [{ type: 'Ready', status: 'True', reason: 'Ready', message: '' }],
        observedGeneration: 2,
      }),
      is: { status: 'True', message: 'salt' },
    },
    {
      rule: 'V4: readyCondition of a Ready of an older generation is OutOfDate, even if True',
      of: child({ conditions: ready(1), observedGeneration: 1 }),
      is: { status: 'Unknown', reason: 'OutOfDate' },
    },
    {
      rule: 'V4: readyCondition of a Ready without any generation is OutOfDate',
      of: child({ conditions: [{ type: 'Ready', status: 'True', reason: 'Ready' }] }),
      is: { status: 'Unknown', reason: 'OutOfDate' },
    },
    {
      rule: 'V5: readyCondition of no conditions is Unknown',
      of: child({ observedGeneration: 2 }),
      is: { status: 'Unknown' },
    },
    {
      rule: 'V5: readyCondition without a Ready is Unknown',
      of: child({ conditions: [], observedGeneration: 2 }),
      is: { status: 'Unknown' },
    },
  ])('$rule', ({ of, is }) => {
    expect(readyCondition(of)).toMatchObject(is);
  });
});

describe('statefulSetReady', () => {
  const metadata = { name: 'db', generation: 2 };
  it.each<[string, Parameters<typeof statefulSetReady>[0], Partial<DeclaredCondition>]>([
    ['without a StatefulSet is Unknown', undefined, { status: 'Unknown', reason: 'NotReported' }],
    [
      'of no replicas that no controller has observed is Unknown',
      { metadata, spec: { replicas: 0 } },
      { status: 'Unknown' },
    ],
    ['of a new one is False', { metadata, spec: { replicas: 3 } }, { status: 'False', reason: 'NotAllReady' }],
    [
      'of an older generation is Unknown',
      { metadata, status: { observedGeneration: 1, readyReplicas: 1 } },
      { status: 'Unknown', reason: 'OutOfDate' },
    ],
    [
      'without replicas in the spec expects one',
      { metadata, status: { observedGeneration: 2 } },
      { status: 'False', message: 'db: 0 of 1 replicas are ready' },
    ],
    [
      'of a report without a generation is that of the present spec',
      { metadata, spec: { replicas: 3 }, status: { readyReplicas: 3 } },
      { status: 'True' },
    ],
    [
      'with all replicas ready is True',
      { metadata, spec: { replicas: 2 }, status: { observedGeneration: 2, readyReplicas: 2 } },
      { status: 'True', message: 'db: 2 of 2 replicas are ready' },
    ],
  ])('statefulSetReady %s', (_, set, is) => {
    expect(statefulSetReady(set)).toMatchObject(is);
  });
});

const workload = { name: 'web', generation: 3 };
const saying = (status: string, more: object = {}): Workload => ({
  metadata: workload,
  status: { observedGeneration: 3, conditions: [{ type: 'Available', status, reason: 'Because' }], ...more },
});

describe('the availability of a workload', () => {
  it.each<[string, Workload | undefined, string, string]>([
    ['V6: the availability of a workload that is not there yet is Unknown', undefined, 'Unknown', 'NotReported'],
    [
      'V5: the availability of a workload that has no status is Unknown',
      { metadata: workload },
      'Unknown',
      'NotReported',
    ],
    [
      'V5: the availability of a workload whose status is of no generation is Unknown',
      saying('True', { observedGeneration: undefined }),
      'Unknown',
      'NotReported',
    ],
    [
      'V4: the availability of a workload whose status is of an older generation is Unknown',
      saying('True', { observedGeneration: 2 }),
      'Unknown',
      'OutOfDate',
    ],
    [
      'V5: the availability of a workload that has no condition is Unknown',
      saying('True', { conditions: [] }),
      'Unknown',
      'NotReported',
    ],
    [
      'V3: the availability of a workload whose condition is Unknown is Unknown',
      saying('Unknown'),
      'Unknown',
      'Because',
    ],
    ['V1: the availability of a workload that is available is True', saying('True'), 'True', 'Because'],
    ['V2: the availability of a workload that is not available is False', saying('False'), 'False', 'Because'],
    [
      'the availability of a workload that is being deleted is Unknown',
      { ...saying('True'), metadata: { ...workload, deletionTimestamp: '2026-01-01T00:00:00Z' } },
      'Unknown',
      'Deleting',
    ],
  ])('%s', (_, of, status, reason) => {
    expect(deploymentAvailable(of)).toMatchObject({ status, reason });
  });

  it('V4: the availability of a workload is current as soon as it is of this generation, or of a newer one than was read', () => {
    expect([2, 3, 4].map((observedGeneration) => isCurrent(saying('True', { observedGeneration })))).toEqual([
      false,
      true,
      true,
    ]);
  });
});

describe('tryApplyAll', () => {
  const salt = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'salt' } };
  /** A context in a cluster where applying a set ends so. */
  function tryApplyAll(applyAll: UntypedContext['applyAll']) {
    const cluster: Partial<UntypedContext> = { applyAll };
    const context = typeContext<{
      scope: 'Namespaced';
      owns: typeof ConfigMap;
      reads: never;
      clients: object;
      exec: never;
      sets: never;
    }>(cluster as UntypedContext, {}, { name: 'cook', owns: [ConfigMap] });
    return context.tryApplyAll(ConfigMap, [{ metadata: { name: 'salt' } }]);
  }

  it('tryApplyAll passes on the whole set when nothing was wrong', async () => {
    expect(await tryApplyAll(async () => [salt])).toEqual({ objects: [salt] });
  });

  it('V7: the condition of tryApplyAll for a name that is taken is False/NotOwned, and the other children are still known', async () => {
    const error = new NotOwnedError(['ConfigMap ns/pepper'], [salt]);
    const applied = await tryApplyAll(() => Promise.reject(error));
    expect(applied).toMatchObject({
      objects: [salt],
      failure: { condition: { status: 'False', reason: 'NotOwned' }, error },
    });
    expect(applied.failure?.condition.message).toContain('ConfigMap ns/pepper');
  });

  it('V8: the condition of tryApplyAll for a refused child is False with what the API server said, without credentials', async () => {
    const error = new Error('configmaps "salt" is forbidden, token=abcdefghijkl');
    const applied = await tryApplyAll(() => Promise.reject(error));
    expect(applied.objects).toEqual([]);
    expect(applied.failure).toMatchObject({ condition: { status: 'False', reason: 'ChildRefused' }, error });
    expect(applied.failure?.condition.message).toContain('configmaps "salt" is forbidden');
    expect(applied.failure?.condition.message).not.toContain('abcdefghijkl');
  });
});

describe('recordApplyFailures', () => {
  const refused = (reason: string, message: string): Applied<object> => ({
    objects: [],
    failure: { condition: { status: 'False', reason, message }, error: new Error(message) },
  });
  const warnings = (standing: readonly Condition[], settled: Readonly<Record<string, Applied<object>>>) => {
    const told: string[] = [];
    recordApplyFailures((_, reason, message) => void told.push(`${reason}: ${message}`), standing, settled);
    return told;
  };

  it('recordApplyFailures warns of a name that is taken and of what the API server refused, and of nothing else', () => {
    const settled = { A: refused('NotOwned', 'Service a'), B: refused('ChildRefused', 'quota'), C: { objects: [] } };
    expect(warnings([], settled)).toEqual(['ErrResourceExists: Service a', 'ErrChildRefused: quota']);
  });

  it('recordApplyFailures does not warn again while the condition is the same', () => {
    const standing: Condition[] = [{ type: 'A', status: 'False', reason: 'NotOwned', message: 'Service a' }];
    expect(warnings(standing, { A: refused('NotOwned', 'Service a') })).toEqual([]);
    expect(warnings(standing, { A: refused('NotOwned', 'Service b') })).toEqual(['ErrResourceExists: Service b']);
    expect(warnings(standing, { A: refused('ChildRefused', 'Service a') })).toEqual(['ErrChildRefused: Service a']);
    expect(warnings(standing, { B: refused('NotOwned', 'Service a') })).toEqual(['ErrResourceExists: Service a']);
  });
});
