// The ingredient's reconciler, called by hand against a pantry that answers over HTTP. Statuses in the cluster, finalizers
// and retries are the statements' business.

import { type PantrySimulator, startPantry } from '@outrigger/cli/simulators/pantry';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createPantryClient, type Holding } from '../../src/controllers/clients/pantry.ts';
import { Ingredient, ingredient } from '../../src/controllers/ingredient.ts';
import { testContext } from '../../src/testing/test-context.ts';

const salt = Ingredient.object('salt', { item: 'salt', amount: 1, unit: 'tbsp' });
const moreSalt = { metadata: { ...salt.metadata, generation: 2 }, spec: { ...salt.spec, amount: 2 } };

let pantry: PantrySimulator;
beforeEach(async () => {
  pantry = await startPantry({ initialStock: 10 });
});
afterEach(() => pantry.close());
const context = () => testContext(ingredient, { clients: createPantryClient(pantry.url) });

describe('the reconcile of an ingredient', () => {
  it('I3: an ingredient is measured again where a restored cluster gives the same generation to another amount', async () => {
    const { status } = await ingredient.reconcile(salt, context());
    const result = await ingredient.reconcile({ ...salt, spec: moreSalt.spec, status }, context());
    expect(result.status.measured).toEqual({ amount: 2, unit: 'tbsp' });
    expect(pantry.stock('salt', 'tbsp')).toBe(8);
  });

  it('I3: an ingredient of which there is not enough claims what is laid out, not what is wanted', async () => {
    const { status } = await ingredient.reconcile(salt, context());
    const tooMuch = { metadata: moreSalt.metadata, spec: { ...salt.spec, amount: 11 }, status };
    const result = await ingredient.reconcile(tooMuch, context());
    expect(result.status.measured).toEqual({ amount: 1, unit: 'tbsp' });
    expect(result.conditions.Measured).toMatchObject({ status: 'False', reason: 'OutOfStock' });
    expect(result).toHaveProperty('error', expect.any(Error));
  });

  it('I1: an ingredient that is out of stock has no measured amount, and is retried', async () => {
    pantry.setFaults({ items: { salt: 'out-of-stock' } });
    const result = await ingredient.reconcile(salt, context());
    expect(result.status).toEqual({ location: 'Unknown' });
    expect(result.conditions.Located).toMatchObject({ status: 'False', reason: 'OutOfStock' });
    expect(result).toHaveProperty('error', expect.any(Error));
  });

  it('I1: the status of an ingredient has what the pantry has measured, not what was asked for', async () => {
    const clients = createPantryClient(pantry.url);
    const nearly: Holding = { location: 'Counter', measured: { amount: 0.9, unit: 'tbsp' } };
    const imprecise = { ...clients, measure: async () => nearly };
    const { status } = await ingredient.reconcile(salt, testContext(ingredient, { clients: imprecise }));
    expect(status).toEqual(nearly);
  });

  it('I2: an ingredient whose portion is laid out asks for no requeue', async () => {
    expect(await ingredient.reconcile(salt, context())).not.toHaveProperty('requeueAfterSeconds');
  });
});

it('I11: the finalizer of an ingredient is not done while the pantry does not have the portion back', async () => {
  await ingredient.reconcile(salt, context());
  const still: Holding = { location: 'Counter', measured: { amount: 1, unit: 'tbsp' } };
  const clients = { ...createPantryClient(pantry.url), giveBack: async () => still };
  const finalized = await ingredient.finalize?.(salt, testContext(ingredient, { clients }));
  expect(finalized).toMatchObject({ reason: 'NotReturned', requeueAfterSeconds: expect.any(Number) });
});
