// Two kinds of the same name in different groups (X19), in the whole system.
import { expect, it } from 'vitest';
import * as z from 'zod';
import { defineKind } from '../../src/api/custom-kind.ts';
import { startSystem } from '../../src/testing.ts';

const twin = (name: string) => {
  const kind = defineKind({
    group: `${name}.example.com`,
    version: 'v1',
    kind: 'Twin',
    conditions: [],
    spec: z.object({ text: z.string() }),
    status: z.object({ text: z.string() }),
  });
  const controller = kind.controller(name, {
    reconcile: async ({ spec: { text } }) => ({ status: { text }, conditions: {} }),
  });
  return { kind, controller };
};
const key = { namespace: 'default', name: 'a' };

it('X19: kinds of the same name in two groups have keys of their own, and each controller reads and is woken by its own', async () => {
  const [left, right] = [twin('left'), twin('right')];
  await using system = await startSystem({ controllers: [left.controller, right.controller] });
  const apply = async ({ kind }: typeof left, text: string) => {
    await system.cluster.apply({ apiVersion: kind.apiVersion, kind: 'Twin', metadata: key, spec: { text } });
    await system.settled();
  };
  const texts = async () =>
    await Promise.all([left, right].map(async ({ kind }) => (await system.cluster.get(kind, key))?.status?.text));
  await apply(left, '1');
  await apply(right, '2');
  expect(await texts()).toEqual(['1', '2']);
  const before = system.reconciles.length;
  await apply(left, '3');
  expect(await texts()).toEqual(['3', '2']);
  expect(new Set(system.reconciles.slice(before).map(({ controller }) => controller))).toEqual(new Set(['left']));
  await system.cluster.delete(right.kind, key);
  await system.settled();
  expect(await texts()).toEqual(['3', undefined]);
});
