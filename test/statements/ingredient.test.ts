// What is asked of Ingredient (I1 to I3, I5, I9, I11, I13), as cases for any API server. What its schema refuses is bad-input.test.ts,
// what a Dinner makes of it dinner.test.ts, that no status reports an amount too early (I3) generation.test.ts, one of several that
// fails (I14) poison.test.ts, and what holds for every controller generation.test.ts and
// every-controller.test.ts.
import { describe, expect, it } from 'vitest';
import { Ingredient as ingredients } from '../../src/controllers/ingredient.ts';
import { useApiServer } from '../harness/api-server.ts';
import { useSystem } from './harness.ts';
import { conditionOf } from './user.ts';

const finalizer = 'outrigger.dev/ingredient';
const salt = (amount: number) => ({ item: 'salt', amount, unit: 'tbsp' });

const { connect } = await useApiServer();
const system = useSystem(connect);

/** One tablespoon of salt, laid out. */
async function laidOut(metadata: object = {}): Promise<string> {
  const { metadata: made } = await system.apply(ingredients, 'salt', salt(1), metadata);
  await system.reconcile(ingredients, 'salt');
  return made.uid ?? '';
}
const read = async () => await system.read(ingredients, 'salt');
const stock = () => system.pantry.stock('salt', 'tbsp');

describe('Ingredient', () => {
  it('I1: one tablespoon of salt is located, measured once, and on the counter', async () => {
    await laidOut();
    const after = await read();
    expect(after.status).toMatchObject({
      location: 'Counter',
      measured: { amount: 1, unit: 'tbsp' },
      observedGeneration: 1,
    });
    for (const type of ['Located', 'Measured', 'Ready']) expect(conditionOf(after, type)?.status).toBe('True');
    expect(system.pantry.calls()).toMatchObject({ reserve: 1, measure: 1 });
    expect(stock()).toBe(999);
    // A converged object costs nothing: there is no requeue.
    expect(system.waiting()).toEqual([]);
  });

  it('I2: a duplicate neither moves goods nor writes, and a lost status is rebuilt without measuring twice', async () => {
    await laidOut();
    const before = await read();
    system.requests.length = 0;
    await system.reconcile(ingredients, 'salt', 'salt');
    expect(system.requests.filter((request) => !request.startsWith('GET '))).toEqual([]);
    expect((await read()).metadata.resourceVersion).toBe(before.metadata.resourceVersion);
    await system.replaceStatus(ingredients, 'salt', {});
    expect((await read()).status).toEqual({});
    await system.reconcile(ingredients, 'salt');
    expect((await read()).status).toMatchObject({ location: 'Counter', measured: { amount: 1, unit: 'tbsp' } });
    expect(conditionOf(await read(), 'Ready')?.status).toBe('True');
    expect(system.pantry.calls()).toMatchObject({ reserve: 1, measure: 1 });
    expect(stock()).toBe(999);
  });

  it('I3: a doubled amount is measured again, once, and the old portion is returned, although a function dies in between', async () => {
    await laidOut();
    await system.apply(ingredients, 'salt', salt(2));
    // It crashes in between as well: after the pantry call, before the status write.
    system.dieAt(({ method, path }) => method === 'PATCH' && path.endsWith('/status'));
    await system.reconcile(ingredients, 'salt');
    system.revive();
    await system.reconcile(ingredients, 'salt');
    expect((await read()).status).toMatchObject({ measured: { amount: 2, unit: 'tbsp' }, observedGeneration: 2 });
    expect(system.pantry.calls()).toMatchObject({ reserve: 2, measure: 2 });
    expect(stock()).toBe(998);
  });

  it('I5: the resync finds removed salt, reports it, and replaces it', async () => {
    const uid = await laidOut();
    system.pantry.takeAway(uid);
    await system.tick();
    const turns: string[] = [];
    for (let minute = 0; minute < 600 && turns.at(-1) !== 'True Ready'; minute += 1) {
      await system.pass(1);
      const ready = conditionOf(await read(), 'Ready');
      const turn = `${ready?.status} ${ready?.reason}`;
      if (turn === 'False TakenAway' || turns.length > 0) turns.push(turn);
    }
    expect(turns[0]).toBe('False TakenAway');
    expect(turns.at(-1)).toBe('True Ready');
    expect((await read()).status).toMatchObject({ location: 'Counter', measured: { amount: 1 } });
    expect(system.pantry.holding(uid).location).toBe('Counter');
  });

  it('I9: its reconciler neither reads nor writes anything but itself', async () => {
    const uid = await laidOut({ labels: { 'outrigger.dev/controller': 'dinner' } });
    system.pantry.takeAway(uid);
    await system.reconcile(ingredients, 'salt');
    await system.delete(ingredients, 'salt');
    await system.reconcile(ingredients, 'salt');
    const own = `/apis/kitchen.example.com/v1/namespaces/${system.namespace}/ingredients/salt`;
    expect(system.requests.length).toBeGreaterThan(4);
    // Beside itself there are only the Events that it records.
    const others = system.requests.filter((request) => !request.split(' ')[1]?.startsWith(own));
    expect(others.filter((request) => !/^(POST|PATCH) .*\/events(\/|$)/.test(request))).toEqual([]);
  });

  it('I11: a deleted ingredient stays until its goods are back, once, even if two finalize it at the same time', async () => {
    await laidOut();
    expect((await read()).metadata.finalizers).toEqual([finalizer]);
    await system.patch(ingredients, 'salt', { metadata: { finalizers: ['example.com/other', finalizer] } });
    const { moves } = system.pantry.calls();
    system.pantry.setFaults({ down: true });
    await system.delete(ingredients, 'salt');
    await system.reconcile(ingredients, 'salt');
    const held = await read();
    expect(held.metadata.deletionTimestamp).toBeDefined();
    expect(held.metadata.finalizers).toContain(finalizer);
    expect(conditionOf(held, 'Finalized')).toMatchObject({ status: 'False' });
    expect(system.waiting().some((body) => body.includes('"type":"retry"'))).toBe(true);

    system.pantry.setFaults({});
    await system.reconcileAtOnce(ingredients, 'salt', 2);
    expect(system.pantry.calls().moves - moves).toBe(1);
    expect(stock()).toBe(1000);
    expect((await read()).metadata.finalizers).toEqual(['example.com/other']);
    await system.patch(ingredients, 'salt', { metadata: { finalizers: [] } }).catch(() => undefined);
    expect(await system.get(ingredients, 'salt')).toBeUndefined();
  });

  it('I13: a function that dies while it persists the finalizer has reserved nothing; deleted before the next one, the ingredient is gone', async () => {
    await system.apply(ingredients, 'salt', salt(1));
    system.dieAt(({ method }) => method === 'PATCH');
    await system.reconcile(ingredients, 'salt');
    system.revive();
    expect(system.pantry.calls()).toMatchObject({ reserve: 0, moves: 0 });
    expect((await read()).metadata.finalizers).toBeUndefined();
    await system.enqueue(ingredients, 'salt');
    await system.delete(ingredients, 'salt');
    expect(await system.deliver()).toBe(1);
    expect(await system.get(ingredients, 'salt')).toBeUndefined();
    expect(system.pantry.calls()).toMatchObject({ reserve: 0, moves: 0 });
  });
});
