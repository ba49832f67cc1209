// Only the pure rules of conditions: what is merged, what is summed up.
import { expect, it } from 'vitest';
import { mergeConditions, readyOf } from '../../src/api/conditions.ts';
import type { Condition } from '../../src/api/result.ts';

const now = new Date('2026-01-02T03:04:05.678Z');
const standing: Condition = {
  type: 'AtLevel',
  status: 'True',
  reason: 'InBand',
  message: '',
  observedGeneration: 1,
  lastTransitionTime: '2025-01-01T00:00:00Z',
};

it('V1: merged conditions keep their transition time while their status is the same, whatever else is said', () => {
  const said = { AtLevel: { status: 'True', reason: 'Other', message: 'm' } } as const;
  expect(mergeConditions([standing], said, { generation: 2, now })).toEqual([
    { ...standing, reason: 'Other', message: 'm', observedGeneration: 2 },
  ]);
});

it('V1: merged conditions whose status changed, or that are new, have the time of now in whole seconds', () => {
  const said = { AtLevel: { status: 'False', reason: 'Low' }, Ready: { status: 'False', reason: 'Low' } } as const;
  const times = mergeConditions([standing], said, { generation: 2, now }).map((one) => one.lastTransitionTime);
  expect(times).toEqual(['2026-01-02T03:04:05Z', '2026-01-02T03:04:05Z']);
});

it('merged conditions keep those that are not mentioned, which may be another controller’s', () => {
  const merged = mergeConditions([standing], { Ready: { status: 'True', reason: 'Ready' } }, { generation: 9, now });
  expect(merged).toContainEqual(standing);
});

it('conditions keep their order independent of their writers, so that no write is needed', () => {
  const b = { B: { status: 'True', reason: 'r' } } as const;
  const a = { A: { status: 'True', reason: 'r' } } as const;
  const order = (said: Parameters<typeof mergeConditions>[1]) =>
    mergeConditions([], said, { generation: 1, now }).map(({ type }) => type);
  expect(order({ ...b, ...a })).toEqual(order({ ...a, ...b }));
});

it('a message that is longer than the API server accepts is cut, and stays text', () => {
  const of = (end: string) => ({ A: { status: 'True', reason: 'R', message: `${'x'.repeat(32_767)}${end}` } }) as const;
  const [merged] = mergeConditions([], of('😀'), { generation: 1, now });
  expect(merged?.message).toBe(of('\ufffd').A.message);
});

const of = (status: 'True' | 'False' | 'Unknown', reason: string) => ({ status, reason });
it.each([
  ['all True', { A: of('True', 'a'), B: of('True', 'b') }, { status: 'True', reason: 'Ready' }],
  ['one Unknown', { A: of('True', 'a'), B: of('Unknown', 'b') }, { status: 'Unknown', reason: 'b' }],
  ['a False after an Unknown', { A: of('Unknown', 'a'), B: of('False', 'b') }, { status: 'False', reason: 'b' }],
  ['two False', { A: of('False', 'a'), B: of('False', 'b') }, { status: 'False', reason: 'a' }],
  ['one that was not reported', { A: of('True', 'a') }, { status: 'Unknown' }],
] as const)('the sum of conditions is of %s: %j', (_, said, expected) => {
  expect(readyOf(['A', 'B'], said)).toMatchObject(expected);
});
