// From readiness of children and workloads to one condition: the rules V1 to V8, as tables. That a status is then written is the
// business of the statements and of the runtime's own tests.
import { expect, it } from 'vitest';
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

const child = (more: Partial<Dependent>): Dependent => ({ metadata: { name: 'salt', generation: 2 }, ...more });
const ready = (observedGeneration: number, status: DeclaredCondition['status'] = 'True') => [
  { type: 'Located', status: 'False', reason: 'Lost' } as const,
  { type: 'Ready', status, reason: 'Ready', message: 'fine', observedGeneration },
];

const outOfDate = { status: 'Unknown', reason: 'OutOfDate' } as const;

const bare = { type: 'Ready', status: 'True', reason: 'Ready' } as const;
const broken = { status: 'False', reason: 'Ready', message: 'salt: fine' } as const;
const named = { status: 'True', message: 'salt' } as const;
const observed = { observedGeneration: 2 };
it.each<[string, string, Partial<Dependent>, Partial<DeclaredCondition>]>([
  ['V1', 'a current Ready is its status', { conditions: ready(2), ...observed }, yes],
  ['V2', 'a False has its reason, and the name of the child', { conditions: ready(2, 'False'), ...observed }, broken],
  ['V2', 'a Ready without a message is the name', { conditions: [{ ...bare, message: '' }], ...observed }, named],
  ['V4', 'a Ready of an older generation is OutOfDate', { conditions: ready(1), observedGeneration: 1 }, outOfDate],
  ['V4', 'a Ready without any generation is OutOfDate', { conditions: [bare] }, outOfDate],
  ['V5', 'no conditions is Unknown', observed, { status: 'Unknown' }],
  ['V5', 'conditions without a Ready is Unknown', { conditions: [], ...observed }, { status: 'Unknown' }],
])('%s: readyCondition of %s', (_, _of, of, is) => {
  expect(readyCondition(child(of))).toMatchObject(is);
});

it('V5: readyCondition of an object that does not exist is Unknown', () => {
  expect(readyCondition(undefined)).toMatchObject({ status: 'Unknown', reason: 'NotReported' });
});

const metadata = { name: 'db', generation: 2 };
const of = (replicas: number | undefined, status?: object) => ({
  metadata,
  ...(replicas === undefined ? {} : { spec: { replicas } }),
  ...(status === undefined ? {} : { status }),
});
const oneMissing = { status: 'False', message: 'db: 0 of 1 replicas are ready' } as const;
const twoReady = { status: 'True', message: 'db: 2 of 2 replicas are ready' } as const;
it.each<[string, Parameters<typeof statefulSetReady>[0], Partial<DeclaredCondition>]>([
  ['without a StatefulSet is Unknown', undefined, { status: 'Unknown', reason: 'NotReported' }],
  ['of no replicas that no controller has observed is Unknown', of(0), { status: 'Unknown' }],
  ['of a new one is False', of(3), { status: 'False', reason: 'NotAllReady' }],
  ['of an older generation is Unknown', of(undefined, { observedGeneration: 1, readyReplicas: 1 }), outOfDate],
  ['without replicas in the spec expects one', of(undefined, { observedGeneration: 2 }), oneMissing],
  ['of a report without a generation is that of the present spec', of(3, { readyReplicas: 3 }), { status: 'True' }],
  ['with all replicas ready is True', of(2, { observedGeneration: 2, readyReplicas: 2 }), twoReady],
])('statefulSetReady %s', (_, set, is) => {
  expect(statefulSetReady(set)).toMatchObject(is);
});

const workload = { name: 'web', generation: 3 };
const saying = (status: string, more: object = {}): Workload => ({
  metadata: workload,
  status: { observedGeneration: 3, conditions: [{ type: 'Available', status, reason: 'Because' }], ...more },
});

it.each<[string, string, string, string, Workload?]>([
  ['V6', 'is not there yet', 'Unknown', 'NotReported'],
  ['V5', 'has no status', 'Unknown', 'NotReported', { metadata: workload }],
  ['V5', 'reports no generation', 'Unknown', 'NotReported', saying('True', { observedGeneration: undefined })],
  ['V4', 'reports an older generation', 'Unknown', 'OutOfDate', saying('True', { observedGeneration: 2 })],
  ['V5', 'has no condition', 'Unknown', 'NotReported', saying('True', { conditions: [] })],
  ['V3', 'has an Unknown condition', 'Unknown', 'Because', saying('Unknown')],
  ['V1', 'is available', 'True', 'Because', saying('True')],
  ['V2', 'is not available', 'False', 'Because', saying('False')],
])('%s: the availability of a workload that %s is %s/%s', (_, _that, status, reason, of) => {
  expect(deploymentAvailable(of)).toMatchObject({ status, reason });
});

it('the availability of a workload that is being deleted is Unknown', () => {
  const deleting = { ...saying('True'), metadata: { ...workload, deletionTimestamp: '2026-01-01T00:00:00Z' } };
  expect(deploymentAvailable(deleting)).toMatchObject({ status: 'Unknown', reason: 'Deleting' });
});

it('V4: the availability of a workload is current as soon as it is of this generation, or of a newer one than was read', () => {
  expect([2, 3, 4].map((observedGeneration) => isCurrent(saying('True', { observedGeneration })))).toEqual([
    false,
    true,
    true,
  ]);
});

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
