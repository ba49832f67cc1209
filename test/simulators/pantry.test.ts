// Only the pantry: goods are moved once for each key, and the faults. Over HTTP.

import { type PantrySimulator, startPantry } from '@outrigger/cli/simulators/pantry';
import { afterEach, beforeEach, expect, it } from 'vitest';

let pantry: PantrySimulator;
beforeEach(async () => {
  pantry = await startPantry({ initialStock: 100 });
});
afterEach(async () => await pantry.close());

async function post(verb: string, body: unknown): Promise<{ status: number; body: unknown }> {
  const response = await fetch(`${pantry.url}/${verb}`, { method: 'POST', body: JSON.stringify(body) });
  return { status: response.status, body: await response.json() };
}
const salt = (amount: number, key = 'u/1') => ({ holder: 'u', key, item: 'salt', amount, unit: 'tbsp' });
const holderKey = (key = 'u/1') => ({ holder: 'u', key });
const reserveAndMeasure = async (amount: number, key = 'u/1') => {
  await post('reserve', salt(amount, key));
  return await post('measure', holderKey(key));
};

it('the pantry puts a reserved portion on the counter, once for repeated requests with the same key', async () => {
  expect((await post('reserve', salt(2))).body).toMatchObject({
    location: 'Pantry',
    reserved: { amount: 2, unit: 'tbsp' },
  });
  expect((await post('measure', holderKey())).body).toMatchObject({
    location: 'Counter',
    measured: { amount: 2, unit: 'tbsp' },
  });
  expect(pantry.stock('salt', 'tbsp')).toBe(98);
  const { moves } = pantry.calls();
  expect((await reserveAndMeasure(2)).status).toBe(200);
  await post('reserve', salt(2));
  expect(pantry.calls().moves).toBe(moves);
  expect(pantry.stock('salt', 'tbsp')).toBe(98);
});

it('the pantry takes the old portion back in the step that measures the new one', async () => {
  await reserveAndMeasure(1);
  await reserveAndMeasure(3, 'u/2');
  expect(pantry.holding('u')).toMatchObject({ key: 'u/2', measured: { amount: 3 } });
  expect(pantry.stock('salt', 'tbsp')).toBe(97);
});

it('the pantry has its whole stock after a return, and a second return changes nothing', async () => {
  await reserveAndMeasure(2);
  await post('return', holderKey());
  expect((await post('return', holderKey())).body).toEqual({ holder: 'u', location: 'Unknown' });
  expect(pantry.stock('salt', 'tbsp')).toBe(100);
});

it('the pantry measures a portion again under the same key after it was taken away', async () => {
  await reserveAndMeasure(2);
  await post('take-away', { holder: 'u' });
  expect(pantry.holding('u').location).toBe('Unknown');
  await reserveAndMeasure(2);
  expect(pantry.holding('u').location).toBe('Counter');
  expect(pantry.stock('salt', 'tbsp')).toBe(96);
});

it('the pantry rejects a measure without a reservation with 404', async () => {
  expect((await post('measure', holderKey())).status).toBe(404);
});

it('the pantry rejects a reservation beyond its stock with 409', async () => {
  expect(await post('reserve', salt(101))).toMatchObject({
    status: 409,
    body: { error: expect.stringContaining('out of salt') },
  });
  await post('reserve', salt(60));
  // An older reservation of the same holder counts as stock.
  expect((await post('reserve', salt(90, 'u/2'))).status).toBe(200);
});

it('the pantry keeps butter in the fridge', async () => {
  const { body } = await post('reserve', { holder: 'b', key: 'b/1', item: 'butter', amount: 1, unit: 'g' });
  expect(body).toMatchObject({ location: 'Fridge' });
});

it.each([
  ['reserve', { ...salt(0) }],
  ['reserve', { ...salt(1), unit: '' }],
  ['measure', { holder: 'u' }],
])('the pantry rejects a malformed %s with 400 and names the field', async (verb, body) => {
  expect(await post(verb, body)).toMatchObject({
    status: 400,
    body: { error: expect.stringMatching(/amount|unit|key/) },
  });
});

it('a fault of one item does not affect other items of the pantry', async () => {
  pantry.setFaults({ items: { saffron: 'error', pepper: 'out-of-stock' } });
  expect((await post('reserve', { ...salt(1), item: 'saffron' })).status).toBe(500);
  expect((await post('reserve', { ...salt(1), item: 'pepper' })).status).toBe(409);
  expect((await post('reserve', salt(1))).status).toBe(200);
});

it('a pantry that is down cuts every connection', async () => {
  pantry.setFaults({ down: true });
  await expect(post('reserve', salt(1))).rejects.toThrow('fetch failed');
  await fetch(`${pantry.url}/faults`, { method: 'PUT', body: '{}' });
  expect((await post('reserve', salt(1))).status).toBe(200);
});
