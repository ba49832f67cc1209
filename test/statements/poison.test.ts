// One object whose every reconcile throws, in one batch with nine good ones (X9), as cases for any API server. What dies instead of
// throwing is tools/chaos.
import { beforeEach, describe, expect, it } from 'vitest';
import { Ingredient as ingredients } from '../../src/controllers/ingredient.ts';
import { useApiServer } from '../harness/api-server.ts';
import { useSystem } from './harness.ts';
import { conditionOf } from './user.ts';

const good = Array.from({ length: 9 }, (_, index) => `good-${index}`);
const poison = 'poison';
/** Longer than ten attempts take, the waits between them doubling up to 15 min. */
const manyHours = 4 * 3_600;

const { connect } = await useApiServer();
const system = useSystem(connect);

const readyOf = async (name: string) => conditionOf(await system.read(ingredients, name), 'Ready')?.status;
const retries = () => system.sent.filter(({ queue, body }) => queue === 'timers' && body.includes('"type":"retry"'));

describe('a poison object', () => {
  beforeEach(async () => {
    for (const name of good) await system.apply(ingredients, name, { item: 'salt', amount: 1, unit: 'tbsp' });
    await system.apply(ingredients, poison, { item: 'rotten', amount: 1, unit: 'tbsp' });
    system.pantry.setFaults({ items: { rotten: 'error' } });
    await system.reconcile(ingredients, poison, ...good);
  });

  it('X9, I14: the others of its batch are done at once, and it reports the pantry’s error and is retried', async () => {
    for (const name of good) expect(await readyOf(name)).toBe('True');
    const poisoned = await system.read(ingredients, poison);
    expect(conditionOf(poisoned, 'Ready')?.status).not.toBe('True');
    // That the jar cannot be opened does not say that there is none.
    expect(conditionOf(poisoned, 'Located')?.reason).not.toBe('OutOfStock');
    expect(conditionOf(poisoned, 'Reconciling')?.message).toContain('the rotten jar cannot be opened');
    expect(system.waiting()).toHaveLength(1);
    system.pantry.setFaults({});
    await system.pass(60);
    expect(await readyOf(poison)).toBe('True');
    expect(await system.deadLetters('ingredient')).toEqual([]);
  });

  it('X9: it is tried ten times, ever more seldom, is then one dead letter with nothing under way, and heals by its own change', async () => {
    await system.pass(manyHours);
    // What is not due yet is put back by the timers, as it was.
    const dueTimes = [...new Set(retries().map(({ body }) => Number(JSON.parse(body).cause.dueAt)))];
    expect(dueTimes).toHaveLength(9);
    const waits = dueTimes.slice(1).map((due, index) => due - (dueTimes[index] ?? 0));
    expect(Math.max(...waits.slice(0, 4))).toBeLessThan(Math.min(...waits.slice(5)));
    expect(await system.deadLetters('ingredient')).toHaveLength(1);
    expect(system.waiting()).toEqual([]);
    expect(conditionOf(await system.read(ingredients, poison), 'Stalled')?.status).toBe('True');
    // The dead letter is taken.
    await system.patch(ingredients, poison, { spec: { item: 'salt' } });
    await system.reconcile(ingredients, poison);
    expect(await readyOf(poison)).toBe('True');
    expect(conditionOf(await system.read(ingredients, poison), 'Stalled')).toBeUndefined();
    expect(await system.deadLetters('ingredient')).toEqual([]);
  });
});
