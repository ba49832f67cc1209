// The behaviour of Dinner (I6, I7, I10, and V4 and V8 of the aggregation), as cases for any API server. I8, the wake-ups, is
// where the watcher is: wake.test.ts. What its schema refuses is bad-input.test.ts,
// the rules of the aggregation (V1 to V7) are test/api, what holds for every controller is every-controller.test.ts.
import { describe, expect, it } from 'vitest';
import { Dinner as dinners } from '../../src/controllers/dinner.ts';
import { Ingredient as ingredients } from '../../src/controllers/ingredient.ts';
import { useApiServer } from '../harness/api-server.ts';
import { useSystem } from './harness.ts';
import { conditionOf } from './user.ts';

const line = (name: string) => ({ name, item: name, amount: 1, unit: 'piece' });
const menu = (...names: readonly string[]) => ({ ingredients: names.map(line) });

const { connect } = await useApiServer();
const system = useSystem(connect);

const names = async () => (await system.list(ingredients)).map(({ metadata }) => metadata.name).sort();
const soup = async () => await system.read(dinners, 'soup');
/** A dinner with everything laid out. */
async function served(...list: readonly string[]): Promise<void> {
  await system.apply(dinners, 'soup', menu(...list));
  await system.reconcile(dinners, 'soup');
  await system.reconcile(ingredients, ...list.map((name) => `soup-${name}`));
  await system.reconcile(dinners, 'soup');
}

describe('Dinner', () => {
  it('I6: three lines make exactly three ingredients that it controls, and only those are counted', async () => {
    const { metadata } = await system.apply(dinners, 'soup', menu('leek', 'salt', 'water'));
    await system.reconcile(dinners, 'soup');
    expect(await names()).toEqual(['soup-leek', 'soup-salt', 'soup-water']);
    const leek = await system.read(ingredients, 'soup-leek');
    expect(leek.metadata.ownerReferences).toEqual([
      {
        apiVersion: 'kitchen.example.com/v1',
        kind: 'Dinner',
        name: 'soup',
        uid: metadata.uid,
        controller: true,
        blockOwnerDeletion: true,
      },
    ]);
    // A stray one, Ready, with everything that can be copied: labels and annotations.
    const { labels, annotations } = leek.metadata;
    await system.apply(ingredients, 'stray', { item: 'leek', amount: 1, unit: 'piece' }, { labels, annotations });
    await system.reconcile(ingredients, 'stray', 'soup-leek');
    await system.reconcile(dinners, 'soup');
    expect((await soup()).status).toMatchObject({ ingredientsTotal: 3, ingredientsReady: 1, observedGeneration: 1 });
    expect(conditionOf(await soup(), 'Ready')?.status).toBe('Unknown');
    await system.reconcile(ingredients, 'soup-salt', 'soup-water');
    await system.reconcile(dinners, 'soup');
    expect((await soup()).status).toMatchObject({ ingredientsTotal: 3, ingredientsReady: 3 });
    expect(conditionOf(await soup(), 'IngredientsReady')?.status).toBe('True');
    expect(conditionOf(await soup(), 'Ready')?.status).toBe('True');
    expect(await names()).toContain('stray');
  });

  it('I7, V9, V11: a reconcile asks the pantry nothing, reads no other kind, and writes nothing when it has converged', async () => {
    await served('leek', 'salt');
    const calls = system.pantry.calls();
    const before = await soup();
    system.requests.length = 0;
    await system.reconcile(dinners, 'soup');
    const place = `GET /apis/kitchen.example.com/v1/namespaces/${system.namespace}`;
    expect(system.requests).toEqual([`${place}/dinners/soup`, `${place}/ingredients`]);
    expect(system.pantry.calls()).toEqual(calls);
    expect((await soup()).metadata.resourceVersion).toBe(before.metadata.resourceVersion);
  });

  it('V4: what a child said of an older generation makes it OutOfDate, even if that was Ready', async () => {
    await served('leek', 'salt');
    expect(conditionOf(await soup(), 'Ready')?.status).toBe('True');
    await system.apply(dinners, 'soup', { ingredients: [{ ...line('leek'), amount: 2 }, line('salt')] });
    await system.reconcile(dinners, 'soup');
    expect(conditionOf(await system.read(ingredients, 'soup-leek'), 'Ready')?.status).toBe('True');
    expect((await soup()).status).toMatchObject({ ingredientsReady: 1, observedGeneration: 2 });
    expect(conditionOf(await soup(), 'IngredientsReady')).toMatchObject({ status: 'Unknown', reason: 'OutOfDate' });
    await system.reconcile(ingredients, 'soup-leek');
    await system.reconcile(dinners, 'soup');
    expect(conditionOf(await soup(), 'Ready')?.status).toBe('True');
  });

  it('V8: a child that may not be made is False with what the API server said, written, and tried again', async () => {
    await system.apply(dinners, 'soup', menu('salt', 'leek'));
    system.forbid(({ method, path }) => method === 'PATCH' && path.includes('/ingredients/'));
    await system.reconcile(dinners, 'soup');
    const held = conditionOf(await soup(), 'IngredientsReady');
    expect(held).toMatchObject({ status: 'False', reason: 'ChildRefused' });
    expect(held?.message).toContain('you may not do that');
    expect(conditionOf(await soup(), 'Reconciling')?.status).toBe('True');
    system.revive();
    await system.pass(60);
    expect(await names()).toEqual(['soup-leek', 'soup-salt']);
    expect(conditionOf(await soup(), 'Reconciling')).toBeUndefined();
  });

  it('I10: an ingredient that is dropped from the list gives its goods back before it vanishes', async () => {
    await served('leek', 'salt');
    const { metadata } = await system.read(ingredients, 'soup-salt');
    await system.apply(dinners, 'soup', menu('leek'));
    await system.reconcile(dinners, 'soup');
    const dropped = await system.read(ingredients, 'soup-salt');
    expect(dropped.metadata.deletionTimestamp).toBeDefined();
    expect(system.pantry.holding(metadata.uid ?? '').location).toBe('Counter');
    await system.reconcile(ingredients, 'soup-salt');
    expect(await names()).toEqual(['soup-leek']);
    expect(system.pantry.holding(metadata.uid ?? '').location).toBe('Unknown');
    expect(system.pantry.stock('salt', 'piece')).toBe(1000);
    expect((await soup()).status).toMatchObject({ ingredientsTotal: 1, ingredientsReady: 1 });
  });
});
