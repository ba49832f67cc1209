// Only the pantry: that goods move once however often it is asked, and how it fails when told to. Over HTTP.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Pantry, startPantry } from '../../src/local/worlds/pantry.ts';

let pantry: Pantry;
beforeEach(async () => {
  pantry = await startPantry({ initialStock: 100 });
});
afterEach(async () => await pantry.close());

async function post(verb: string, body: unknown): Promise<{ status: number; body: unknown }> {
  const response = await fetch(`${pantry.url}/${verb}`, { method: 'POST', body: JSON.stringify(body) });
  return { status: response.status, body: await response.json() };
}
const salt = (amount: number, key = 'u/1') => ({ holder: 'u', key, item: 'salt', amount, unit: 'tbsp' });
const claim = (key = 'u/1') => ({ holder: 'u', key });
const lay = async (amount: number, key = 'u/1') => {
  await post('reserve', salt(amount, key));
  return await post('measure', claim(key));
};

describe('the pantry', () => {
  it('lays out what was reserved', async () => {
    expect((await post('reserve', salt(2))).body).toMatchObject({
      location: 'Pantry',
      reserved: { amount: 2, unit: 'tbsp' },
    });
    expect((await post('measure', claim())).body).toMatchObject({
      location: 'Counter',
      measured: { amount: 2, unit: 'tbsp' },
    });
    expect(pantry.stock('salt', 'tbsp')).toBe(98);
  });

  it('moves goods once, however often the same key asks', async () => {
    await lay(2);
    const { moves } = pantry.calls();
    await lay(2);
    await post('reserve', salt(2));
    expect(pantry.calls().moves).toBe(moves);
    expect(pantry.stock('salt', 'tbsp')).toBe(98);
  });

  it('takes the old portion back in the step that lays out the new one', async () => {
    await lay(1);
    await lay(3, 'u/2');
    expect(pantry.holding('u')).toMatchObject({ key: 'u/2', measured: { amount: 3 } });
    expect(pantry.stock('salt', 'tbsp')).toBe(97);
  });

  it('has everything back after a return, also the second time', async () => {
    await lay(2);
    await post('return', claim());
    expect((await post('return', claim())).body).toEqual({ holder: 'u', location: 'Unknown' });
    expect(pantry.stock('salt', 'tbsp')).toBe(100);
  });

  it('knows that somebody walked off with it, and lays it out again under the same key', async () => {
    await lay(2);
    await post('take-away', { holder: 'u' });
    expect(pantry.holding('u').location).toBe('Unknown');
    await lay(2);
    expect(pantry.holding('u').location).toBe('Counter');
    expect(pantry.stock('salt', 'tbsp')).toBe(96);
  });

  it('measures nothing that was not reserved', async () => {
    expect((await post('measure', claim())).status).toBe(404);
  });

  it('gives no more than it has', async () => {
    expect(await post('reserve', salt(101))).toMatchObject({
      status: 409,
      body: { error: expect.stringContaining('out of salt') },
    });
    await post('reserve', salt(60));
    // The same holder's older reservation counts as there.
    expect((await post('reserve', salt(90, 'u/2'))).status).toBe(200);
  });

  it('keeps butter in the fridge', async () => {
    const { body } = await post('reserve', { holder: 'b', key: 'b/1', item: 'butter', amount: 1, unit: 'g' });
    expect(body).toMatchObject({ location: 'Fridge' });
  });

  it.each([
    ['reserve', { ...salt(0) }],
    ['reserve', { ...salt(1), unit: '' }],
    ['measure', { holder: 'u' }],
  ])('refuses a malformed %s, naming the field', async (verb, body) => {
    expect(await post(verb, body)).toMatchObject({
      status: 400,
      body: { error: expect.stringMatching(/amount|unit|key/) },
    });
  });

  it('fails for one item and not for the others', async () => {
    pantry.setFaults({ items: { saffron: 'error', pepper: 'out-of-stock' } });
    expect((await post('reserve', { ...salt(1), item: 'saffron' })).status).toBe(500);
    expect((await post('reserve', { ...salt(1), item: 'pepper' })).status).toBe(409);
    expect((await post('reserve', salt(1))).status).toBe(200);
  });

  it('cuts every connection when it is down', async () => {
    pantry.setFaults({ down: true });
    await expect(post('reserve', salt(1))).rejects.toThrow('fetch failed');
    await fetch(`${pantry.url}/faults`, { method: 'PUT', body: '{}' });
    expect((await post('reserve', salt(1))).status).toBe(200);
  });
});
