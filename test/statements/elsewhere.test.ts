// A controller of a namespaced kind whose children are in other namespaces, in the whole system: they are copies of a
// Secret that its Reflection names.

import { checkRegistry } from '@outrigger/cli/project/check-registry';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { defineKind } from '../../src/api/custom-kind.ts';
import { ClusterRole, Secret } from '../../src/kubernetes.ts';
import { inAnyNamespace } from '../../src/outrigger.ts';
import { battery, startSystem, testContext } from '../../src/testing.ts';

const Reflection = defineKind({
  group: 'example.com',
  version: 'v1',
  kind: 'Reflection',
  conditions: [],
  spec: z.object({ value: z.string(), namespaces: z.array(z.string()) }),
  status: z.object({}),
});
const Copies = inAnyNamespace(Secret);
const reflector = Reflection.controller('reflector', {
  owns: [Copies],
  async reconcile({ metadata: { name }, spec: { value, namespaces } }, { applyAll }) {
    const copies = namespaces.map((namespace) => ({ metadata: { name, namespace }, stringData: { value } }));
    await applyAll(Copies, copies);
    return { status: {}, conditions: {} };
  },
  finalize: async () => 'done',
});
const namespace = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
const objects = ['blue', 'green', 'red'].map(namespace);
const reflection = (value: string, ...namespaces: readonly string[]) => ({
  apiVersion: Reflection.apiVersion,
  kind: 'Reflection',
  metadata: { name: 'cert', namespace: 'default' },
  spec: { value, namespaces },
});

describe('copies in other namespaces', () => {
  const started = async () => {
    const system = await startSystem({ controllers: [reflector], objects });
    const key = (place: string) => ({ namespace: place, name: 'cert' });
    const copies = async () => {
      const found = await Promise.all(
        ['blue', 'green', 'red', 'default'].map(
          async (place) => [place, await system.cluster.get(Secret, key(place))] as const,
        ),
      );
      const text = (data: object | undefined) => Buffer.from(Object(data).value ?? '', 'base64').toString();
      return Object.fromEntries(found.flatMap(([place, one]) => (one === undefined ? [] : [[place, text(one.data)]])));
    };
    await system.cluster.apply(reflection('1', 'blue', 'green', 'default'));
    await system.settled();
    return { system, copies, key };
  };

  it('are made, follow the object, and end with it by its finalizer', async () => {
    const { system, copies, key } = await started();
    await using _ = system;
    expect(await copies()).toEqual({ blue: '1', green: '1', default: '1' });
    await system.cluster.apply(reflection('2', 'blue', 'red'));
    await system.settled();
    expect(await copies()).toEqual({ blue: '2', red: '2' });
    await system.cluster.delete(Reflection, key('default'));
    await system.settled();
    expect([await copies(), await system.cluster.get(Reflection, key('default'))]).toEqual([{}, undefined]);
    expect(system.deadLetters('reflector')).toEqual([]);
  });

  it('that others change, delete or take the labels of have the object reconciled', async () => {
    const { system, copies, key } = await started();
    await using _ = system;
    const value = Buffer.from('theirs').toString('base64');
    await system.cluster.patch(Secret, key('blue'), { data: { value } });
    await system.cluster.delete(Secret, key('green'));
    await system.settled();
    expect(await copies()).toEqual({ blue: '1', green: '1', default: '1' });
    const labels = { 'outrigger.dev/controller': null };
    await system.cluster.patch(Secret, key('blue'), { metadata: { labels }, data: { value } });
    await system.settled();
    expect(await copies()).toEqual({ blue: '1', green: '1', default: '1' });
  });

  it('in a namespace that is missing wait for it, and the others are written', async () => {
    const { system, copies } = await started();
    await using _ = system;
    await system.cluster.apply(reflection('2', 'missing', 'green'));
    await system.settled();
    expect(await copies()).toMatchObject({ green: '2' });
    await system.cluster.apply(namespace('missing'));
    await system.advance(30);
    const late = await system.cluster.get(Secret, { namespace: 'missing', name: 'cert' });
    expect(late?.metadata.labels).toMatchObject({ 'outrigger.dev/controller': 'reflector' });
  });
});

const samples = [reflection('1', 'blue', 'green'), reflection('2', 'green', 'red')];
// The second sample is there for the change between the two.
for (const { name, run } of battery(reflector, { samples, objects }))
  if (!name.endsWith('(sample 2)')) it(`battery: ${name}`, run);

it('a copy that a controller makes once and never again is found by the battery', async () => {
  const lazy = Reflection.controller('lazy', {
    owns: [Copies],
    async reconcile({ metadata: { name, generation }, spec: { value, namespaces } }, { applyAll, list }) {
      const [there] = await list(Copies, {}, { namespace: '*' });
      if (there !== undefined && generation === 1) return { status: {}, conditions: {} };
      await applyAll(
        Copies,
        namespaces.map((one) => ({ metadata: { name, namespace: one }, stringData: { value } })),
      );
      return { status: {}, conditions: {} };
    },
    finalize: async () => 'done',
  });
  const checks = battery(lazy, { samples: samples.slice(0, 1), objects });
  const missed = checks.find(({ name }) => name === 'a child whose change was missed is corrected');
  await expect(missed?.run()).rejects.toThrow('after another client changed Secret cert');
});

it('needs a finalizer, and permissions in all namespaces', () => {
  const { reconcile } = reflector;
  const unfinished = Reflection.controller('unfinished', { owns: [Copies], reconcile });
  expect(() => checkRegistry([unfinished])).toThrow(
    'inAnyNamespace(Secret) in owns needs a finalizer, which waits for these children: add finalize',
  );
  expect(() => checkRegistry([reflector], undefined, ['blue'])).toThrow(
    'children are in any namespace, so its secrets are listed in all namespaces',
  );
});

it('a test context has the children in their namespaces, and adopts what nobody controls', async () => {
  const owner = Reflection.object('cert', { value: '1', namespaces: ['blue'] });
  const theirs = { apiVersion: 'v1', kind: 'Secret', metadata: { namespace: 'blue', name: 'cert' }, data: {} };
  const context = testContext(reflector, { owner, objects: [theirs] });
  await expect(reflector.reconcile(owner, context)).rejects.toThrow('already exists and is not controlled');
  const desired = { metadata: { namespace: 'blue', name: 'cert' }, stringData: { value: '1' } };
  expect(await context.apply(Copies, desired, { adopt: true })).not.toHaveProperty('metadata.ownerReferences');
  await reflector.reconcile(owner, context);
  expect(await context.list(Copies, {}, { namespace: '*' })).toMatchObject([{ data: { value: 'MQ==' } }]);
});

it('a child names its namespace, and only a kind with namespaces can be in any', () => {
  // @ts-expect-error: a ClusterRole has no namespace
  inAnyNamespace(ClusterRole);
  Reflection.controller('typed', {
    owns: [Copies],
    async reconcile(_, { apply }) {
      // @ts-expect-error: the namespace is missing
      await apply(Copies, { metadata: { name: 'a' } });
      // @ts-expect-error: only Copies may be in any namespace
      await apply(Secret, { metadata: { name: 'a', namespace: 'b' } });
      return { status: {}, conditions: {} };
    },
    finalize: async () => 'done',
  });
});
