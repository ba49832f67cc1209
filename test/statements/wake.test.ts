// Wake-ups (I4, I8): the behaviours that need the watcher. Its own guarantees (restarts, gaps, 410) are tested
// where it is.

import { describe, expect, it } from 'vitest';
import { Dinner as dinners } from '../../src/controllers/dinner.ts';
import { Ingredient as ingredients } from '../../src/controllers/ingredient.ts';
import type { KubeObject } from '../../src/kube/client/object.ts';
import { parseMessage } from '../../src/sqs/message.ts';
import { useApiServer } from '../harness/api-server.ts';
import { conditionOf } from './user.ts';
import { useWatchedSystem } from './watch.ts';

const portion = (item: string, amount = 1) => ({ item, amount, unit: 'g' });

const { connect } = await useApiServer();
const { system, until: untilHolds, watch } = useWatchedSystem(connect);
const until = async (read: () => Promise<KubeObject | undefined>, holds: (object: KubeObject | undefined) => boolean) =>
  await untilHolds(async () => holds(await read()));
const isReady = (object: KubeObject | undefined) => conditionOf(object, 'Ready')?.status === 'True';
const forwarded = (from = 0) =>
  watch()
    .forwarded.slice(from)
    .map((body) => {
      const { controller, name } = parseMessage(body);
      return `${controller} ${name}`;
    });

describe('the watcher and the samples', () => {
  it('I8: an ingredient that becomes Ready wakes its dinner, until the dinner is Ready', async () => {
    await system.apply(dinners, 'soup', { ingredients: [{ name: 'leek', ...portion('leek') }] });
    await until(() => system.get(dinners, 'soup'), isReady);
    expect((await system.read(dinners, 'soup')).status).toMatchObject({ ingredientsReady: 1 });
    // First itself, then its new child for the child's controller and for it, then the child's status for it alone.
    expect(forwarded()[0]).toBe('dinner soup');
    expect(forwarded()).toContain('ingredient soup-leek');
    expect(forwarded().filter((key) => key === 'dinner soup').length).toBeGreaterThan(1);
    expect(forwarded().filter((key) => key === 'ingredient soup').length).toBe(0);
    // Its status alone is enough.
    await watch().flush();
    const before = watch().forwarded.length;
    await system.replaceStatus(ingredients, 'soup-leek', {});
    while (watch().forwarded.length === before) await watch().next();
    expect(forwarded(before)).toEqual(['dinner soup']);
  });

  it('I10: a child that is deleted behind its back wakes the dinner, which makes it again', async () => {
    await system.apply(dinners, 'soup', { ingredients: [{ name: 'leek', ...portion('leek') }] });
    await until(() => system.get(dinners, 'soup'), isReady);
    const { uid } = (await system.read(ingredients, 'soup-leek')).metadata;
    await system.delete(ingredients, 'soup-leek');
    await until(
      () => system.get(ingredients, 'soup-leek'),
      (leek) => leek !== undefined && leek.metadata.uid !== uid && isReady(leek),
    );
    expect(system.pantry.stock('leek', 'g')).toBe(999);
  });

  it('I4: what changes in annotations, labels or status wakes no controller of the object itself', async () => {
    await system.apply(ingredients, 'salt', portion('salt'));
    await until(() => system.get(ingredients, 'salt'), isReady);
    await watch().flush();
    const before = watch().forwarded.length;
    const calls = system.pantry.calls();
    await system.patch(ingredients, 'salt', { metadata: { annotations: { brand: 'x' }, labels: { cost: '9' } } });
    // Events of one kind come in order: when pepper is through, salt has been seen.
    await system.apply(ingredients, 'pepper', portion('pepper'));
    await until(() => system.get(ingredients, 'pepper'), isReady);
    await watch().flush();
    expect(new Set(forwarded(before))).toEqual(new Set(['ingredient pepper']));
    expect(system.pantry.calls()).toMatchObject({ look: calls.look + 1, reserve: calls.reserve + 1 });
    expect((await system.read(ingredients, 'salt')).metadata.generation).toBe(1);
  });
});
