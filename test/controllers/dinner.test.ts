// The dinner's reconciler, called by hand over objects in memory. Ownership on a real API server, and wake-ups, are
// the statements' business.
import { expect, it } from 'vitest';
import { Dinner, dinner } from '../../src/controllers/dinner.ts';
import { Ingredient } from '../../src/controllers/ingredient.ts';
import { testContext } from '../../src/testing/test-context.ts';

const portion = { amount: 1, unit: 'tbsp' } as const;
const soup = Dinner.object('soup', {
  ingredients: [
    { name: 'salt', item: 'salt', ...portion },
    { name: 'leek', item: 'leek', ...portion },
  ],
});
const { apiVersion, kind } = Ingredient;
const context = (objects: readonly object[] = []) => testContext(dinner, { owner: soup, objects });
const named = (name: string) => ({ apiVersion, kind, metadata: { name, namespace: 'default' } });
const reported = (name: string, status: 'True' | 'False', reason: string, observedGeneration = 1) => ({
  ...named(name),
  status: { observedGeneration, conditions: [{ type: 'Ready', status, reason, observedGeneration }] },
});

it('I6, V6: makes one ingredient for each line, and waits for them', async () => {
  const kitchen = context();
  const result = await dinner.reconcile(soup, kitchen);
  expect(result.status).toEqual({ ingredientsTotal: 2, ingredientsReady: 0 });
  expect(result.conditions.IngredientsReady).toMatchObject({ status: 'Unknown', reason: 'NotReported' });
  const made = await kitchen.list(Ingredient);
  expect(made.map(({ metadata, spec }) => [metadata.name, spec])).toEqual([
    ['soup-salt', { item: 'salt', ...portion }],
    ['soup-leek', { item: 'leek', ...portion }],
  ]);
});

it('I7, V2: counts what its children say, and says what the worst of them says', async () => {
  const kitchen = context();
  await dinner.reconcile(soup, kitchen);
  kitchen.put(reported('soup-salt', 'True', 'Ready'));
  kitchen.put(reported('soup-leek', 'False', 'OutOfStock'));
  const result = await dinner.reconcile(soup, kitchen);
  expect(result.status).toEqual({ ingredientsTotal: 2, ingredientsReady: 1 });
  expect(result.conditions.IngredientsReady).toMatchObject({ status: 'False', reason: 'OutOfStock' });
  kitchen.put(reported('soup-leek', 'True', 'Ready'));
  const ready = await dinner.reconcile(soup, kitchen);
  expect(ready.conditions.IngredientsReady.status).toBe('True');
  expect(ready).not.toHaveProperty('requeueAfterSeconds');
});

it('V4: ignores the status of a child for an older generation', async () => {
  const kitchen = context();
  await dinner.reconcile(soup, kitchen);
  kitchen.put(reported('soup-salt', 'True', 'Ready'));
  kitchen.put(reported('soup-leek', 'True', 'Ready', 0));
  const { status, conditions } = await dinner.reconcile(soup, kitchen);
  expect(status.ingredientsReady).toBe(1);
  expect(conditions.IngredientsReady).toMatchObject({ status: 'Unknown', reason: 'OutOfDate' });
});

it('I10: drops the child that it no longer lists', async () => {
  const kitchen = context();
  await dinner.reconcile(soup, kitchen);
  const [salt] = soup.spec.ingredients;
  await dinner.reconcile({ ...soup, spec: { ingredients: salt === undefined ? [] : [salt] } }, kitchen);
  expect((await kitchen.list(Ingredient)).map(({ metadata }) => metadata.name)).toEqual(['soup-salt']);
});

it('V7: leaves foreign objects alone, reports NotOwned, and creates the others', async () => {
  const stranger = { ...reported('soup-leek', 'True', 'Ready'), spec: { item: 'tulip', amount: 3, unit: 'piece' } };
  const kitchen = context([stranger]);
  const result = await dinner.reconcile(soup, kitchen);
  expect(result.conditions.IngredientsReady).toMatchObject({ status: 'False', reason: 'NotOwned' });
  expect(result.status).toEqual({ ingredientsTotal: 2, ingredientsReady: 0 });
  expect(result).toHaveProperty('error', expect.any(Error));
  expect((await kitchen.get(Ingredient, { name: 'soup-leek' }))?.spec.item).toBe('tulip');
  expect(await kitchen.get(Ingredient, { name: 'soup-salt' })).toBeDefined();
});
