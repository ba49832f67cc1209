// The journeys of a change, from an object in the API to its status and its external system: whole processes and real queues on
// the embedded parts. On a real control plane: test/cluster/uninstall.test.ts and watcher-restart.test.ts.

import { objectReadiness } from '@outrigger/cli/dev/readiness';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { Dinner } from '../../src/controllers/dinner.ts';
import { Ingredient } from '../../src/controllers/ingredient.ts';
import { WaterTank } from '../../src/controllers/water-tank.ts';
import { functionUserAgent } from '../../src/core/names.ts';
import { applyObject } from '../../src/kube/apply/apply.ts';
import { createClient, type KubeClient } from '../../src/kube/client/client.ts';
import { caseSeconds, useLocalSystem } from './local-system.ts';

const crowd = 200;

describe('on one machine', { timeout: caseSeconds * 1000 }, () => {
  let namespace = '';
  let cases = 0;
  // Without the schedule: every key comes from the watcher, and no resync hides a loss.
  const { apply, dev, gone, ready, remove } = useLocalSystem(
    () => ({ resync: false }),
    () => namespace,
  );
  beforeEach(async () => {
    cases += 1;
    namespace = `journey-${cases}-${process.pid}`;
    const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } };
    const resource = { group: '', version: 'v1', plural: 'namespaces', namespaced: false };
    await applyObject(dev().client, resource, object, { fieldManager: 'journey' });
  });

  it('a tank fills without any event of its water level', async () => {
    const object = await apply(WaterTank, 'a', { targetLevel: 8, capacity: 100, tolerance: 4 });
    await ready(WaterTank, 'a');
    const { level, inlet, outlet } = dev().simulators.plant.tank(object.metadata.uid ?? '');
    expect(level).toBeGreaterThanOrEqual(4);
    expect([inlet.open, outlet.open]).toEqual([false, false]);
  });

  it('a dinner gets its ingredients, deletes those it no longer lists, and leaves nothing when it is deleted', async () => {
    const line = (name: string) => ({ name, item: `${name}-of-${namespace}`, amount: 3, unit: 'g' });
    await apply(Dinner, 'd', { ingredients: [line('rice'), line('butter'), line('saffron')] });
    expect((await ready(Dinner, 'd')).status).toMatchObject({ ingredientsTotal: 3, ingredientsReady: 3 });
    await apply(Dinner, 'd', { ingredients: [line('rice'), line('butter')] });
    await gone(Ingredient, 'd-saffron');
    expect(dev().simulators.pantry.stock(line('saffron').item, 'g')).toBe(1000);
    await ready(Dinner, 'd', 2);
    await remove(Dinner, 'd');
    await Promise.all([gone(Dinner, 'd'), gone(Ingredient, 'd-rice'), gone(Ingredient, 'd-butter')]);
    expect(dev().simulators.pantry.stock(line('rice').item, 'g')).toBe(1000);
  });

  it('K14: a function is refused what its generated policy does not permit, and a person is not', async () => {
    const resource = { group: Ingredient.group, version: 'v1', plural: Ingredient.plural, namespaced: true };
    const { apiVersion, kind } = Ingredient;
    const item = { apiVersion, kind, metadata: { namespace, name: 'i' }, spec: { item: 'rice', amount: 1, unit: 'g' } };
    const server = new URL(dev().state().apiServer);
    const client = createClient({ server }, { userAgent: functionUserAgent('dinner') });
    onTestFinished(() => client.close());
    const apply = async (by: KubeClient) => await applyObject(by, resource, item, { fieldManager: 'journey' });
    await expect(apply(client)).rejects.toThrow('denied request: dinner may only write its own children');
    await expect(apply(dev().client)).resolves.toBeDefined();
  });

  it('a watcher killed in the middle of 200 creates loses none of them', async () => {
    const names = Array.from({ length: crowd }, (_, index) => `i-${index}`);
    const half = crowd / 2;
    const create = (name: string) => apply(Ingredient, name, { item: 'rice', amount: 1, unit: 'g' });
    await Promise.all(names.slice(0, half - 10).map(create));
    const [pid = 0] = dev().watchers.pids();
    const middle = names.slice(half - 10, half + 10).map(create);
    process.kill(pid, 'SIGKILL');
    await Promise.all([...middle, ...names.slice(half + 10).map(create)]);
    await dev().view.until(
      (view) => {
        const here = view.list(Ingredient).filter(({ metadata }) => metadata.namespace === namespace);
        return here.length === crowd && here.every((object) => objectReadiness(object).ready) ? true : undefined;
      },
      AbortSignal.timeout((caseSeconds - 5) * 1000),
    );
    expect(dev().watchers.pids()).not.toContain(pid);
    expect(dev().watchers.pids()).toHaveLength(1);
  });
});
