// A controller that maps a change of an object to the others of its kind: names that are unique in a namespace.
import { expect, it } from 'vitest';
import * as z from 'zod';
import { defineKind, notOk, ok, type ResultOf } from '../../src/outrigger.ts';
import { startSystem } from '../../src/testing.ts';

const Claim = defineKind({
  group: 'unique.example.com',
  version: 'v1',
  kind: 'Claim',
  conditions: ['Unique'],
  spec: z.object({ host: z.string() }),
  status: z.object({ holder: z.string() }),
});
const claim = Claim.controller('claim', {
  reads: [Claim],
  watches: [
    { kind: Claim, mapToKeys: async (_, { list }) => (await list(Claim)).map(({ metadata: { name } }) => ({ name })) },
  ],
  async reconcile({ metadata: { name }, spec }, { list }): Promise<ResultOf<typeof Claim>> {
    const claims = (await list(Claim)).filter((one) => one.spec.host === spec.host);
    const [holder = name] = claims.map(({ metadata }) => metadata.name).sort();
    return { status: { holder }, conditions: { Unique: holder === name ? ok('First') : notOk('Taken') } };
  },
});
const aClaim = (name: string, host: string, namespace = 'default') => ({
  apiVersion: Claim.apiVersion,
  kind: 'Claim',
  metadata: { name, namespace },
  spec: { host },
});

it('a change and a deletion reconcile the others of the kind in the namespace once each, and end', async () => {
  const objects = [aClaim('a', 'x'), aClaim('b', 'x'), aClaim('c', 'y'), aClaim('far', 'x', 'kube-public')];
  await using system = await startSystem({ controllers: [claim], objects });
  const holders = async () => (await system.cluster.list(Claim)).map(({ status }) => status?.holder);
  /** The objects that are reconciled, and which change is behind it. */
  const reconciledAfter = async (act: () => Promise<void>) => {
    const before = system.reconciles.length;
    await act();
    await system.settled();
    return system.reconciles.slice(before).map(({ object, causedBy }) => [object, causedBy]);
  };
  await system.settled();
  expect(await holders()).toEqual(['a', 'a', 'c', 'far']);

  const byA = 'claims.unique.example.com/default/a';
  expect(await reconciledAfter(async () => await system.cluster.apply(aClaim('a', 'y')))).toEqual([
    ['default/a', undefined],
    ['default/b', byA],
    ['default/c', byA],
  ]);
  expect(await holders()).toEqual(['a', 'b', 'a', 'far']);

  const deletion = async () => await system.cluster.delete(Claim, { name: 'a', namespace: 'default' });
  const gone = `${byA} (deleted or no longer selected)`;
  const after = await reconciledAfter(deletion);
  expect(after.filter(([object]) => object !== 'default/a')).toEqual([
    ['default/b', gone],
    ['default/c', gone],
  ]);
  expect(await holders()).toEqual(['b', 'c', 'far']);
  expect(system.mappings.at(-1)).toMatchObject({ kind: 'Claim', object: 'default/a', outcome: 'done' });
  expect(system.deadLetters('claim')).toEqual([]);
});

it('a system in which nothing changes maps nothing', async () => {
  await using system = await startSystem({ controllers: [claim], objects: [aClaim('a', 'x'), aClaim('b', 'x')] });
  await system.settled();
  const mapped = system.mappings.length;
  await system.advance(60);
  expect(system.mappings.slice(mapped)).toEqual([]);
});
